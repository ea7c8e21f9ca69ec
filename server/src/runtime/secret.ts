/** The node's secret and the keys derived from it: one key per use, so that no two uses can be combined in an attack. */
import {
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { BoundedMap } from '#core/structure/bounded-map.ts'
import { keyFrom } from '#core/keys/key.ts'
import type { SealingKey, SealingKeys } from '#ports/credentials.ts'
import type { Pepper, Peppers } from '#ports/key-store.ts'

/** While the secret is being rotated, the previous one is still accepted. */
export interface NodeSecrets {
  readonly current: string
  readonly previous: string | undefined
}

/** The configured secret, or 32 random bytes kept in the data folder, readable by its owner only. */
export function loadSecret(configured: string | undefined, dataDir: string): string {
  return configured ?? keptIn(dataDir, 'secret', () => randomBytes(32).toString('hex'))
}

/** The key of a first start. Kept, so that a restart prints the same. */
export function loadDemoKey(dataDir: string): string {
  return keptIn(dataDir, 'demo.key', () => keyFrom(randomBytes(64)))
}

/**
 * The token that commands on the same machine present to the control API: every user who may read the data
 * folder is an admin.
 */
export function loadAdminToken(dataDir: string): string {
  return keptIn(dataDir, ADMIN_TOKEN_FILE, () => randomBytes(32).toString('hex'))
}

export const ADMIN_TOKEN_FILE = 'admin.token'

function keptIn(dataDir: string, name: string, make: () => string): string {
  const file = join(dataDir, name)
  if (!existsSync(file)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    try {
      writeFileSync(file, `${make()}\n`, { mode: 0o600, flag: 'wx' })
    } catch (error) {
      // Another process started at the same moment: its value counts.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  const value = readPrivate(file).trim()
  if (value === '') throw new Error(`${file} is empty. Remove it, and a new one is made.`)
  return value
}

/** Another user may read a secret, or may have chosen it. */
export class UnsafeSecret extends Error {}

/**
 * Reads a file that only its owner may know. Where the file is ours, access by others is removed; a file of
 * another user is refused, as OpenSSH does, because that user knows its content. Only root can read root's
 * files.
 */
function readPrivate(file: string): string {
  const handle = openSync(file, 'r')
  try {
    // Windows has neither user ids nor modes.
    const user = process.getuid?.()
    if (user === undefined) return readFileSync(handle, 'utf8')
    const { uid, mode } = fstatSync(handle)
    if (uid !== user && uid !== 0)
      throw new UnsafeSecret(
        `${file} belongs to another user (${uid}), who knows what is in it. Remove it, and a new one is made; or make it yours: chown ${user} ${file}`,
      )
    if ((mode & OTHERS) !== 0) {
      if (uid !== user)
        throw new UnsafeSecret(`${file} can be read or written by others. Take that away: chmod 600 ${file}`)
      fchmodSync(handle, 0o600)
    }
    return readFileSync(handle, 'utf8')
  } finally {
    closeSync(handle)
  }
}

/** Every right of the group and of others. */
const OTHERS = 0o077

/** Keys whose digests are cached, which would otherwise be computed for each request. Guesses take at most 4 MB. */
const REMEMBERED_KEYS = 10_000
/** A key of Torana has 48 characters; imported ones may have a few more. */
const REMEMBERED_LENGTH = 256

/** Keyed digests of API keys: a digest in memory or in the store can't be turned back into a key. */
export function keyHasher(secret: string): (apiKey: string) => string {
  const pepper = derived(secret, 'torana key pepper v1', 32)
  const digests = new BoundedMap<string, string>(REMEMBERED_KEYS)
  return (apiKey) => {
    const known = digests.get(apiKey)
    if (known !== undefined) return known
    const digest = createHmac('sha256', pepper).update(apiKey).digest('base64')
    if (apiKey.length <= REMEMBERED_LENGTH) digests.set(apiKey, digest)
    return digest
  }
}

export function peppersOf({ current, previous }: NodeSecrets): Peppers {
  const pepperOf = (secret: string): Pepper => ({
    id: derived(secret, 'torana key pepper id v1', 4).toString('hex'),
    digestOf: keyHasher(secret),
  })
  return { current: pepperOf(current), previous: previous === undefined ? undefined : pepperOf(previous) }
}

/** Fingerprints by which nodes compare their secrets. They reveal nothing of a secret. */
export function fingerprintsOf({ current, previous }: NodeSecrets): {
  readonly current: string
  readonly previous: string | undefined
} {
  const fingerprintOf = (secret: string): string =>
    derived(secret, 'torana secret fingerprint v1', 16).toString('hex')
  return {
    current: fingerprintOf(current),
    previous: previous === undefined ? undefined : fingerprintOf(previous),
  }
}

/** Keys that seal upstream credentials. */
export function sealingKeysOf(secrets: NodeSecrets): SealingKeys {
  return sealingKeysFor('credential', secrets)
}

/** Keys that seal the requests of image jobs. */
export function jobKeysOf(secrets: NodeSecrets): SealingKeys {
  return sealingKeysFor('image job', secrets)
}

/** Keys that seal the state a browser carries to the identity provider. */
export function signOnKeysOf(secrets: NodeSecrets): SealingKeys {
  return sealingKeysFor('sign-on trip', secrets)
}

/** Keys that sign entries of the audit. */
export function auditKeysOf(secrets: NodeSecrets): SealingKeys {
  return sealingKeysFor('audit', secrets)
}

/** Keys that sign manifests of the ledger. */
export function manifestKeysOf(secrets: NodeSecrets): SealingKeys {
  return sealingKeysFor('ledger manifest', secrets)
}

function sealingKeysFor(use: string, { current, previous }: NodeSecrets): SealingKeys {
  const keyOf = (secret: string): SealingKey => ({
    id: derived(secret, `torana ${use} key id v1`, 4).toString('hex'),
    key: derived(secret, `torana ${use} key v1`, 32),
  })
  return { current: keyOf(current), previous: previous === undefined ? undefined : keyOf(previous) }
}

/** The key of cache digests: a digest reveals nothing of a text. */
export function cacheKeyOf(secret: string): Uint8Array {
  return derived(secret, 'torana vector cache key v1', 32)
}

/** Keys that sign the packed keys on disk: the first writes, all read. */
export function snapshotKeysOf({ current, previous }: NodeSecrets): readonly Uint8Array[] {
  return [current, ...(previous === undefined ? [] : [previous])].map((secret) =>
    derived(secret, 'torana key snapshot v1', 32),
  )
}

/** Keys that sign links to assets: the first signs, all are accepted. */
export function assetKeysOf({ current, previous }: NodeSecrets): readonly Uint8Array[] {
  return [current, ...(previous === undefined ? [] : [previous])].map((secret) =>
    derived(secret, 'torana asset signature v1', 32),
  )
}

/** Identifies the owner of a token. A wrong token is refused in constant time. */
export function adminTokens(
  tokens: readonly { readonly actor: string; readonly token: string }[],
): (presented: string) => string | undefined {
  const known = tokens.map(({ actor, token }) => ({ actor, digest: sha256(token) }))
  return (presented) => {
    const digest = sha256(presented)
    return known.find((one) => timingSafeEqual(one.digest, digest))?.actor
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function derived(secret: string, use: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', use, bytes))
}
