/** What can go wrong in the control API, in the words of the one catalogue of faults. */
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod'
import { Fault } from '#core/fault/fault.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import { LedgerFilesUnreachable } from '#ports/lake.ts'
import { StoreBusy, StoreUnreachable } from '#ports/store.ts'
import { toFault } from '#http/faults.ts'

export function noToken(): Fault {
  return new Fault(
    'missing_api_key',
    'The control API needs a session or a token. Sign in at the console, or send `Authorization: Bearer <token>`. The admin token is TORANA_ADMIN_TOKEN, or the content of admin.token in the data folder.',
  )
}

export function wrongToken(): Fault {
  return new Fault(
    'invalid_api_key',
    'This is not the admin token of this node. Keys of callers do not work here.',
  )
}

export function tooManyWrongTokens(waitMs: number): Fault {
  return new Fault(
    'too_many_wrong_keys',
    `This is not the admin token of this node, and too many wrong ones came from this address. Correct the token, then retry in ${Math.ceil(waitMs / 1000)} s.`,
    { retryAfterMs: waitMs },
  )
}

export function notFound(message: string): Fault {
  return new Fault('not_found', message)
}

/** For what is so already, and for what is decided elsewhere. */
export function conflict(message: string): Fault {
  return new Fault('conflict', message)
}

export function invalidField(message: string, param: string): Fault {
  return new Fault('invalid_parameter', message, { param })
}

export function declared(what: string): Fault {
  return conflict(`${what} is declared in torana.yaml or by TORANA_BOOTSTRAP_KEY. Change it there.`)
}

/** The gateway accounts for its own probes under the project `system`. */
export function refuseReserved(project: string): void {
  if (project === 'system') throw conflict('system is the name of a built-in project. Choose another name.')
}

/** Methods of requests that change nothing. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])
/** Reports take a second at most, so there is room again soon. */
const READS_RETRY_MS = 2000

export function tooManyReads(cause?: Error): Fault {
  return new Fault(
    'too_many_reads',
    'This node reads the database for as many pages and reports as it may. Retry, and ask for fewer reports at a time.',
    { retryAfterMs: READS_RETRY_MS, cause },
  )
}

export function controlFault(error: unknown, method: string): Fault {
  if (error instanceof ChangeRefused)
    return error.reason === 'missing' ? notFound(error.message) : conflict(error.message)
  if (error instanceof LedgerFilesUnreachable)
    return new Fault(
      'store_unreachable',
      `These days of the ledger are in files, and Torana cannot read them from the bucket of ASSETS_URL (${error.message}). Check the bucket with \`torana doctor\`, then retry.`,
      { cause: error },
    )
  if (error instanceof StoreBusy && READS.has(method)) return tooManyReads(error)
  if (error instanceof StoreUnreachable)
    return new Fault(
      'store_unreachable',
      READS.has(method)
        ? 'The database did not answer. Nothing was changed. Try again.'
        : 'The database did not answer. The change may or may not have been made: list the objects, then retry.',
      { cause: error },
    )
  if (hasZodFastifySchemaValidationErrors(error)) {
    const [first] = error.validation
    const param = first?.instancePath.split('/').filter(Boolean).join('.') || undefined
    const where = param ?? `the ${error.validationContext ?? 'body'}`
    return new Fault('invalid_parameter', `${where}: ${first?.message ?? 'is not valid'}`, {
      param,
      cause: error,
    })
  }
  return toFault(error)
}
