/**
 * Passwords by argon2id, in the threads of libuv: the event loop never waits for one. What is stored can't be turned back into a
 * password.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { Semaphore } from '#core/structure/semaphore.ts'
import { PasswordsBusy } from '#ports/passwords.ts'

/** OWASP's first choice: 19 MiB, two passes, one lane. About 30 ms of a core. */
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1 } as const
const SALT_BYTES = 16
const TAG_BYTES = 32
/** Concurrent hashes: half of libuv's four threads. The others are for files and DNS. */
const AT_ONCE = 2
/** Queue limit: one second of hashing. */
const WAITING = 32

export type Passwords = ReturnType<typeof argon2Passwords>

export function argon2Passwords() {
  const places = new Semaphore(AT_ONCE)
  const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (places.waiting >= WAITING) throw new PasswordsBusy('too many passwords wait to be checked')
    return places.run(work)
  }
  /** A hash without a member, compared when there is no hash, so that the time does not reveal whether a member exists. */
  const absentHash = encoded(randomBytes(SALT_BYTES), randomBytes(TAG_BYTES))
  return {
    /** Rejects with `PasswordsBusy`. */
    hash: (password: string): Promise<string> =>
      inTurn(async () => {
        const salt = randomBytes(SALT_BYTES)
        return encoded(salt, await tagOf(password, salt, PARAMETERS, TAG_BYTES))
      }),
    /** Takes as long without a hash as with one. Rejects with `PasswordsBusy`. */
    isRight: (password: string, hash: string | undefined): Promise<boolean> =>
      inTurn(async () => {
        const { salt, tag, parameters } = decoded(hash ?? absentHash)
        const found = await tagOf(password, salt, parameters, tag.length)
        return timingSafeEqual(found, tag) && hash !== undefined
      }),
  }
}

type Parameters = { readonly [Name in keyof typeof PARAMETERS]: number }

function tagOf(password: string, salt: Buffer, parameters: Parameters, tagLength: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  // Normalised, because a keyboard decides which of two identical-looking forms is typed.
  const message = Buffer.from(password.normalize('NFKC'))
  argon2('argon2id', { message, nonce: salt, tagLength, ...parameters }, (error, tag) =>
    error ? reject(error) : resolve(tag),
  )
  return promise
}

/** The format that other programs write and read too. */
function encoded(salt: Buffer, tag: Buffer): string {
  const { memory, passes, parallelism } = PARAMETERS
  const text = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${text(salt)}$${text(tag)}`
}

function decoded(hash: string): { salt: Buffer; tag: Buffer; parameters: Parameters } {
  const parts = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(hash)
  if (parts === null) throw new Error('what is kept of a password is not argon2id')
  const [, memory, passes, parallelism, salt = '', tag = ''] = parts
  return {
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
    parameters: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
  }
}
