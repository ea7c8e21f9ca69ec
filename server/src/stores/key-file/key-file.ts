/** The packed keys of a machine in its data folder, and the log of changes beside them. */
import { constants, existsSync, mkdirSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type {
  DirectoryChanges,
  DirectoryPages,
  DirectoryState,
  HeldProject,
  KeyFile,
  OpenedKeys,
  PackedKeys,
} from '#ports/key-file.ts'
import type { KeyRecord } from '#ports/key-store.ts'
import { lockFile } from '../file-lock.ts'
import { appendTo, readLog } from './change-log.ts'
import { packAll, packChanged, type Write } from './packing.ts'
import { PackedKeyBytes } from './packed-keys.ts'
import { bytesInMemory, identityOf, openFile } from './readable-bytes.ts'

const PACKED_KEYS = 'keys.packed'
const CHANGES = 'keys.changes'
const DRAFT = 'keys.packed.draft'
/** In a folder that others write to, the draft may be a link to a file of this user: it is not followed. */
const DRAFT_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW
const LOCK = 'keys.lock'

/** Changes that each process holds in memory beside the packed file: about 10 MB. */
const MAX_CHANGES = 10_000
/** The log, which a start reads as a whole. Its records mostly say only that nothing changed. */
const MAX_LOG_BYTES = 16_777_216
/** The wait for another process whose draft does not grow: it sorts the rows of ten million keys in less. */
const MAX_STANDSTILL_MS = 300_000
const LOCK_LOOK_MS = 100
/** A record that says the same with an earlier time is recent enough: another process wrote it. */
const RECENT_MS = 60_000

export interface KeyFileParts {
  readonly folder: string
  /** The first one signs, all are accepted. */
  readonly keys: readonly Uint8Array[]
  /** Changes beside the packed file, after which they are packed. */
  readonly maxChanges?: number
  readonly maxStandstillMs?: number
  /** A file could not be used or written. */
  readonly onTrouble: (trouble: Error) => void
}

/** Whether a node has worked on this data folder, so that it knows stored keys without the store. */
export function hasKeyFile(folder: string): boolean {
  return existsSync(join(folder, PACKED_KEYS))
}

/** The disk, in contrast to the store that is read, could not do something. */
class DiskFailure extends Error {}

export class PackedKeyFile implements KeyFile {
  readonly #parts: KeyFileParts
  readonly #path: string
  readonly #draft: string
  readonly #log: string
  readonly #lock: string

  constructor(parts: KeyFileParts) {
    this.#parts = parts
    this.#lock = join(parts.folder, LOCK)
    this.#path = join(parts.folder, PACKED_KEYS)
    this.#draft = join(parts.folder, DRAFT)
    this.#log = join(parts.folder, CHANGES)
  }

  async open(): Promise<OpenedKeys | undefined> {
    const packed = await this.#openPacked()
    if (packed === undefined) return undefined
    try {
      const { keys, projects, state } = await readLog(this.#log, this.#parts.keys, packed.mac)
      // Another process packed the changes into a new file meanwhile.
      if (state === undefined && identityOf(this.#path) !== packed.bytes.identity) {
        packed.close()
        return await this.open()
      }
      const changes = { keys: keys.values(), projects: projects.values() }
      return { packed, state: state ?? packed.state, changes }
    } catch (error) {
      packed.close()
      throw error
    }
  }

  async pack(state: DirectoryState, pages: DirectoryPages): Promise<PackedKeys> {
    const packed = (write: Write, key: Uint8Array): Promise<void> => packAll(write, key, state, pages)
    try {
      const before = identityOf(this.#path)
      return await this.#whileLocked(async () => {
        const other = await this.#openOther(before)
        if (other !== undefined && isSameState(other.state, state)) return other
        other?.close()
        return this.#replace(packed)
      })
    } catch (error) {
      if (!(error instanceof DiskFailure)) throw error
      this.#parts.onTrouble(error)
      return this.#packInMemory(packed)
    }
  }

  async save(
    packed: PackedKeys,
    state: DirectoryState,
    changes: DirectoryChanges,
  ): Promise<PackedKeys | undefined> {
    if (!(packed instanceof PackedKeyBytes)) throw new TypeError('the keys were packed elsewhere')
    const lock = lockFile(this.#lock)
    // Another process is writing.
    if (lock === undefined) return undefined
    try {
      return await this.#saved(packed, state, { keys: [...changes.keys], projects: [...changes.projects] })
    } finally {
      lock.release()
    }
  }

  async #saved(
    packed: PackedKeyBytes,
    state: DirectoryState,
    changes: { readonly keys: readonly KeyRecord[]; readonly projects: readonly HeldProject[] },
  ): Promise<PackedKeys | undefined> {
    const { keys: signing, onTrouble, maxChanges = MAX_CHANGES } = this.#parts
    const packChanges = (): Promise<PackedKeys> =>
      this.#replace((write, key) => packChanged(write, key, state, { packed, changes }))
    if (identityOf(this.#path) !== packed.bytes.identity) {
      const other = await this.#openOther(packed.bytes.identity)
      if (other !== undefined && isBetween(other.state.version, packed.state.version, state.version))
        return other
      other?.close()
      return packChanges()
    }
    const log = await readLog(this.#log, signing, packed.mac).catch(onTrouble)
    const isLarge = changes.keys.length + changes.projects.length > maxChanges
    if (log === undefined || isLarge || log.endBytes > MAX_LOG_BYTES) return packChanges()
    const written = log.state ?? packed.state
    const isRecent = state.verifiedAtMs - written.verifiedAtMs < RECENT_MS
    if (written.version > state.version || (written.version === state.version && isRecent)) return undefined
    await appendTo(this.#log, signing[0] as Uint8Array, log, state, {
      keys: changes.keys.filter(({ version }) => version > written.version),
      projects: changes.projects.filter(({ version }) => version > written.version),
    })
    return undefined
  }

  /** The file, if it is another one than that. */
  async #openOther(identity: string | undefined): Promise<PackedKeyBytes | undefined> {
    if (identityOf(this.#path) === identity) return undefined
    return (await this.#openPacked().catch(this.#parts.onTrouble)) ?? undefined
  }

  async #openPacked(): Promise<PackedKeyBytes | undefined> {
    let bytes
    try {
      bytes = openFile(this.#path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
    try {
      return await PackedKeyBytes.open(bytes, this.#parts.keys, this.#path)
    } catch (error) {
      bytes.close()
      throw error
    }
  }

  /** Waits while another process makes progress: keys packed by each process for itself take as much memory as there are keys. */
  async #whileLocked<Result>(work: () => Promise<Result>): Promise<Result> {
    const { maxStandstillMs = MAX_STANDSTILL_MS } = this.#parts
    let [draft, sinceMs] = [identityOf(this.#draft), performance.now()]
    for (;;) {
      const lock = onDisk(() => lockFile(this.#lock))
      if (lock !== undefined) return work().finally(() => lock.release())
      await wait(LOCK_LOOK_MS)
      const now = identityOf(this.#draft)
      if (now !== draft) [draft, sinceMs] = [now, performance.now()]
      else if (performance.now() - sinceMs > maxStandstillMs)
        throw new DiskFailure('another process that packs the keys makes no progress')
    }
  }

  /** A crash leaves the old file or the new one. The lock is held, so the draft of one that crashed is written over. */
  async #replace(pack: (write: Write, key: Uint8Array) => Promise<void>): Promise<PackedKeyBytes> {
    onDisk(() => mkdirSync(this.#parts.folder, { recursive: true, mode: 0o700 }))
    const file = await open(this.#draft, DRAFT_FLAGS, 0o600).catch(failed)
    try {
      await pack((bytes) => file.writeFile(bytes).catch(failed), this.#parts.keys[0] as Uint8Array)
      await file.sync().catch(failed)
    } catch (error) {
      await rm(this.#draft, { force: true })
      throw error
    } finally {
      await file.close()
    }
    await rename(this.#draft, this.#path).catch(failed)
    await rm(this.#log, { force: true }).catch(failed)
    const bytes = onDisk(() => openFile(this.#path))
    return PackedKeyBytes.open(bytes, this.#parts.keys, this.#path)
  }

  async #packInMemory(pack: (write: Write, key: Uint8Array) => Promise<void>): Promise<PackedKeyBytes> {
    const key = this.#parts.keys[0] as Uint8Array
    const parts: Buffer[] = []
    await pack(async (bytes) => void parts.push(bytes), key)
    return PackedKeyBytes.open(bytesInMemory(parts), [key], 'the packed keys in memory')
  }
}

function isSameState(left: DirectoryState, right: DirectoryState): boolean {
  return left.version === right.version && left.mark === right.mark
}

function isBetween(version: bigint, least: bigint, most: bigint): boolean {
  return version >= least && version <= most
}

function onDisk<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    return failed(error)
  }
}

function failed(cause: unknown): never {
  throw new DiskFailure(`the key file can't be written: ${(cause as Error).message}`, { cause })
}
