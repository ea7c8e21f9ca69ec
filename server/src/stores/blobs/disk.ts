import { randomBytes } from 'node:crypto'
import {
  access,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  unlink,
  type FileHandle,
} from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { BlobStore, ListedBlob, OpenBlob } from '#ports/blobs.ts'
import type { Clock } from '#ports/clock.ts'
import { ENDLESS_ROOM, type DiskRoom } from '#ports/disk-room.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { entriesIn, fileOf, walk } from './disk-names.ts'
import { checkListOptions, checkName, checkRange, type ByteRange, type ListOptions } from './names.ts'
import { reading } from './reading.ts'
import { SharedSyncs } from './shared-syncs.ts'

/** `~` is not allowed in names, so no blob can have this name. */
const DRAFTS = '~drafts'
/** The name of a draft: other files in the folder are ignored. */
const DRAFT = /^[0-9a-f]{32}$/
/** No write takes that long: an older draft was left by a process that died. */
const MAX_DRAFT_AGE_MS = 3_600_000
/** Bytes of one read, which a slow reader holds in memory. A multiple of three, so that the base64 of the parts joins. */
const PART_BYTES = 192 * 1024
/** Retries when a deletion removes the empty folder just before a blob is placed in it. */
const MAX_PLACINGS = 10

/** Errors of the disk or of the machine that serves it; any other error is a mistake in the setup. */
const AWAY = new Set([
  'ENOSPC',
  'EDQUOT',
  'EIO',
  'EROFS',
  'ESTALE',
  'ETIMEDOUT',
  'ENODEV',
  'EMFILE',
  'ENFILE',
])

/**
 * Files below a folder. Several processes may share it; foreign files are left alone. A file is as old as the node's clock says, which is
 * the store's: that of the machine may be wrong, and blobs are deleted by their age.
 */
export class DiskBlobs implements BlobStore {
  readonly #folder: string
  readonly #room: DiskRoom
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #syncs = new SharedSyncs(syncFolder)

  private constructor(folder: string, room: DiskRoom, clock: Pick<Clock, 'nowMs'>) {
    this.#folder = folder
    this.#room = room
    this.#clock = clock
  }

  /** Creates the folder if there is none, and removes the drafts of a process that died. */
  static async open(
    folder: string,
    room: DiskRoom = ENDLESS_ROOM,
    clock: Pick<Clock, 'nowMs'> = { nowMs: Date.now },
  ): Promise<DiskBlobs> {
    const root = resolve(folder)
    return away(root, async () => {
      const made = await mkdir(join(root, DRAFTS), { recursive: true, mode: 0o700 })
      const store = new DiskBlobs(root, room, clock)
      if (made) await store.#syncFolders(root, dirname(made))
      await clearDrafts(join(root, DRAFTS), clock.nowMs() - MAX_DRAFT_AGE_MS)
      return store
    })
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    checkName(name)
    const file = fileOf(this.#folder, name)
    using _ = await this.#room.take(bytes.length)
    await away(this.#folder, async () => {
      const draft = await this.#draft(bytes)
      try {
        await place(draft, file)
        await this.#syncFolders(dirname(file))
      } catch (error) {
        await rm(draft, { force: true })
        throw error
      }
    })
  }

  async open(name: string, range?: ByteRange): Promise<OpenBlob | undefined> {
    checkName(name)
    return away(this.#folder, async () => {
      const handle = await unlessMissing(open(fileOf(this.#folder, name), 'r'))
      return handle ? opened(handle, range, this.#folder) : this.#isThere()
    })
  }

  async delete(name: string): Promise<void> {
    checkName(name)
    const file = fileOf(this.#folder, name)
    await away(this.#folder, async () => {
      await unlessMissing(unlink(file))
      await removeEmptyFolders(dirname(file), this.#folder)
      await this.#isThere()
    })
  }

  async list(options: ListOptions): Promise<readonly ListedBlob[]> {
    checkListOptions(options)
    const { limit } = options
    return away(this.#folder, async () => {
      const found: ListedBlob[] = []
      if (limit === 0) return found
      for await (const name of walk(options, (folder) => entriesIn(join(this.#folder, folder)))) {
        // Undefined if the blob was deleted since its folder was read. Links are not followed.
        const file = await unlessMissing(lstat(fileOf(this.#folder, name)))
        if (file) found.push({ name, size: file.size, modifiedMs: Math.floor(file.mtimeMs) })
        if (found.length === limit) break
      }
      if (found.length === 0) await this.#isThere()
      return found
    })
  }

  /** A volume that is not mounted looks like a folder without blobs, although the blob may well exist. */
  async #isThere(): Promise<undefined> {
    await access(join(this.#folder, DRAFTS))
  }

  /** Syncs the folders from `from` up to `upTo`: another process may have created them and not have synced them yet. */
  async #syncFolders(from: string, upTo: string = this.#folder): Promise<void> {
    for (let folder = from; ; folder = dirname(folder)) {
      await this.#syncs.sync(folder)
      if (folder === upTo) return
    }
  }

  async #draft(bytes: Uint8Array): Promise<string> {
    const draft = join(this.#folder, DRAFTS, randomBytes(16).toString('hex'))
    const handle = await open(draft, 'wx', 0o600)
    try {
      // A loop, since a full disk may take only a part.
      for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at)).bytesWritten
      const nowSeconds = this.#clock.nowMs() / 1000
      await handle.utimes(nowSeconds, nowSeconds)
      await handle.sync()
      await handle.close()
      return draft
    } catch (error) {
      await handle.close()
      await rm(draft, { force: true })
      throw error
    }
  }
}

async function opened(
  handle: FileHandle,
  range: ByteRange | undefined,
  folder: string,
): Promise<OpenBlob | undefined> {
  try {
    const file = await handle.stat()
    if (!file.isFile()) {
      await handle.close()
      return undefined
    }
    const { size } = file
    if (range) checkRange(range, size)
    const part = range && { start: range.first, end: range.last }
    const stream = handle.createReadStream({ highWaterMark: PART_BYTES, ...part })
    return { size, bytes: reading(stream, (error) => asAway(error, folder)) }
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function place(draft: string, file: string): Promise<void> {
  for (let placing = 1; ; placing += 1) {
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      return await rename(draft, file)
    } catch (error) {
      // For a folder that another process just emptied, Node's `mkdir` may give either error.
      const isGone = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
      if (!isGone || placing === MAX_PLACINGS) throw error
    }
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await unlessMissing(open(folder, 'r'))
  // Undefined if a deletion removed the blob, and its folder with it.
  try {
    await handle?.sync()
  } finally {
    await handle?.close()
  }
}

async function removeEmptyFolders(from: string, root: string): Promise<void> {
  for (let folder = from; folder !== root; folder = dirname(folder)) {
    try {
      await rmdir(folder)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ENOTEMPTY' || code === 'EEXIST') return
      if (code !== 'ENOENT') throw error
    }
  }
}

async function clearDrafts(folder: string, beforeMs: number): Promise<void> {
  for (const entry of await readdir(folder)) {
    if (!DRAFT.test(entry)) continue
    const path = join(folder, entry)
    const draft = await unlessMissing(lstat(path))
    if (draft?.isFile() && draft.mtimeMs < beforeMs) await rm(path, { force: true })
  }
}

/** A name that is a folder of others, or lies below another name, counts as missing. */
async function unlessMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined
    throw error
  }
}

async function away<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw asAway(error, folder)
  }
}

/** A missing folder makes the store unreachable: all other missing files were handled before. */
function asAway(error: unknown, folder: string): unknown {
  const code = codeOf(error)
  if (code === undefined || !(AWAY.has(code) || code === 'ENOENT')) return error
  return new StoreUnreachable(`${folder}: ${(error as Error).message}`, { cause: error })
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
