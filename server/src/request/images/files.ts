/**
 * The files of one request, on the disk of the node that received them. A job that continues without its
 * client keeps a copy in the blob store, so that it can outlive its node.
 */
import { Fault } from '#core/fault/fault.ts'
import { givenIn, type GivenFile, type GivenPictures } from '#core/image/given.ts'
import type { BlobStore } from '#ports/blobs.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { Upload } from '#ports/uploads.ts'

export interface RequestFiles {
  /** Throws the fault `image_files_lost` when the file is not there. */
  open(sha256: string): AsyncIterable<Uint8Array>
  discard(): Promise<void>
}

/** The files of a request that has none. */
export const NO_FILES: RequestFiles = {
  open() {
    throw lost()
  },
  async discard() {},
}

export function uploadedFiles(uploads: readonly Upload[]): RequestFiles {
  const byDigest = new Map(uploads.map((upload) => [upload.sha256, upload]))
  return {
    open(sha256) {
      const upload = byDigest.get(sha256)
      if (upload === undefined) throw lost()
      return upload.open()
    },
    async discard() {
      await Promise.all(uploads.map((upload) => upload.discard()))
    },
  }
}

/** Bytes of a blob, and of the memory that copying a file takes: a store takes whole blobs. */
const PART_BYTES = 8 * 1024 * 1024
/** Blobs of a request: sixteen images of 50 MB take 112. */
const MAX_PARTS = 1000

/** Copies the files into the store, all of them or none. The copies stay until `forgetFiles`. */
export async function keepFiles(
  jobId: string,
  edit: GivenPictures,
  files: RequestFiles,
  blobs: BlobStore,
): Promise<void> {
  try {
    for (const { sha256 } of filesIn(edit)) {
      let number = 0
      for await (const part of partsOf(files.open(sha256))) {
        await blobs.put(partName(jobId, sha256, number), part)
        number += 1
      }
    }
  } catch (error) {
    await forgetFiles(jobId, blobs)
    throw error
  }
}

/** The copies that `keepFiles` made. Undefined when some are missing. */
export async function keptFiles(
  jobId: string,
  edit: GivenPictures,
  blobs: BlobStore,
): Promise<RequestFiles | undefined> {
  const listed = await blobs.list({ prefix: folderOf(jobId), limit: MAX_PARTS })
  const bytesOf = ({ sha256 }: GivenFile): number =>
    listed
      .filter(({ name }) => name.startsWith(`${folderOf(jobId)}${sha256}.`))
      .reduce((sum, { size }) => sum + size, 0)
  const files = filesIn(edit)
  if (files.some((file) => bytesOf(file) !== file.bytes)) return undefined
  const sizes = new Map(files.map(({ sha256, bytes }) => [sha256, bytes]))
  return {
    async *open(sha256) {
      const parts = Math.ceil((sizes.get(sha256) ?? 0) / PART_BYTES)
      for (let number = 0; number < parts; number += 1) {
        const part = await blobs.open(partName(jobId, sha256, number))
        if (part === undefined) throw lost()
        yield* part.bytes
      }
    },
    discard: () => forgetFiles(jobId, blobs),
  }
}

export async function forgetFiles(jobId: string, blobs: BlobStore): Promise<void> {
  // A copy that can't be deleted now is deleted at the end of the retention time.
  try {
    for (const { name } of await blobs.list({ prefix: folderOf(jobId), limit: MAX_PARTS }))
      await blobs.delete(name)
  } catch (error) {
    if (!(error instanceof StoreUnreachable)) throw error
  }
}

function filesIn(edit: GivenPictures): GivenFile[] {
  const files = givenIn(edit).filter((given) => given.kind === 'file')
  return [...new Map(files.map((file) => [file.sha256, file])).values()]
}

async function* partsOf(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let part = new Uint8Array(PART_BYTES)
  let filled = 0
  for await (const chunk of bytes) {
    for (let rest = chunk; rest.length > 0;) {
      const taken = rest.subarray(0, PART_BYTES - filled)
      part.set(taken, filled)
      filled += taken.length
      rest = rest.subarray(taken.length)
      if (filled < PART_BYTES) continue
      yield part
      part = new Uint8Array(PART_BYTES)
      filled = 0
    }
  }
  if (filled > 0) yield part.subarray(0, filled)
}

function folderOf(jobId: string): string {
  return `inputs/${jobId}/`
}

function partName(jobId: string, sha256: string, number: number): string {
  return `${folderOf(jobId)}${sha256}.${number}`
}

export function lost(): Fault {
  return new Fault(
    'image_files_lost',
    'The node with the files of this edit died before it called an upstream. Nothing was charged. Send the request again, with its files.',
  )
}
