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
import { ENDLESS_ROOM, type DiskRoom } from '#ports/disk-room.ts'
import { StoreAway } from '#ports/store.ts'
import { entriesIn, fileOf, walk } from './disk-names.ts'
import { checkListOptions, checkName, checkRange, type ByteRange, type ListOptions } from './names.ts'
import { reading } from './reading.ts'
import { SharedSyncs } from './shared-syncs.ts'

/** Its sign is none of a name's, so no blob can be called like it. */
const DRAFTS = '~drafts'
/** What a draft is called: what else lies there is none of ours. */
const DRAFT = /^[0-9a-f]{32}$/
/** No write takes that long: what is older was left by a process that died. */
const DRAFT_MAX_AGE_MS = 3_600_000
/** Bytes read at once: what a slow reader holds in memory. A multiple of three, so that base64 of the pieces joins. */
const PIECE_BYTES = 192 * 1024
/** How often a folder is made anew that a deletion took away as empty, just before a blob was to go in. */
const MAX_PLACINGS = 10

/** Trouble of the disk, or of the machine it is reached through; anything else is a mistake in the setup. */
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

/** Files below a folder. Several processes may share it; what others put there is left alone. */
export class DiskBlobs implements BlobStore {
  readonly #folder: string
  readonly #room: DiskRoom
  readonly #syncs = new SharedSyncs(syncFolder)

  private constructor(folder: string, room: DiskRoom) {
    this.#folder = folder
    this.#room = room
  }

  /** Makes the folder if there is none, and clears away what a process that died was writing. */
  static async open(folder: string, room: DiskRoom = ENDLESS_ROOM): Promise<DiskBlobs> {
    const root = resolve(folder)
    return away(root, async () => {
      const made = await mkdir(join(root, DRAFTS), { recursive: true, mode: 0o700 })
      const store = new DiskBlobs(root, room)
      if (made) await store.#syncFolders(root, dirname(made))
      await clearDrafts(join(root, DRAFTS), Date.now() - DRAFT_MAX_AGE_MS)
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
        // Undefined: deleted since its folder was read. No link is followed.
        const file = await unlessMissing(lstat(fileOf(this.#folder, name)))
        if (file) found.push({ name, size: file.size, modifiedMs: Math.floor(file.mtimeMs) })
        if (found.length === limit) break
      }
      if (found.length === 0) await this.#isThere()
      return found
    })
  }

  /** A volume that is not mounted looks like a folder without blobs: what is not found there may well exist. */
  async #isThere(): Promise<undefined> {
    await access(join(this.#folder, DRAFTS))
  }

  /** From a folder up to the one that holds it: another process may have made them and not have come so far yet. */
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
      // In one step, unlike `writeFile`; a disk that is full may take a part.
      for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at)).bytesWritten
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
    const piece = range && { start: range.first, end: range.last }
    const stream = handle.createReadStream({ highWaterMark: PIECE_BYTES, ...piece })
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
      // Of a folder that another just emptied, Node's `mkdir` may say either.
      const isGone = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
      if (!isGone || placing === MAX_PLACINGS) throw error
    }
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await unlessMissing(open(folder, 'r'))
  // Undefined: a deletion took the blob, and with it the folder.
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

/** A name that is a folder of others, or goes below another, is as good as not there. */
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

/** A folder that is gone is away too: whatever else may be missing has been dealt with before. */
function asAway(error: unknown, folder: string): unknown {
  const code = codeOf(error)
  if (code === undefined || !(AWAY.has(code) || code === 'ENOENT')) return error
  return new StoreAway(`${folder}: ${(error as Error).message}`, { cause: error })
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
