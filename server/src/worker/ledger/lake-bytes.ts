/** Bytes of files in the lake. */
import type { BlobStore } from '#ports/blobs.ts'

export interface LakeHashing {
  /** In hex. */
  sha256(bytes: Uint8Array): string
  sha256OfParts(): { add(bytes: Uint8Array): void; digest(): string }
}

/** Undefined: there is no such file. */
export async function bytesOf(blobs: BlobStore, name: string): Promise<Uint8Array | undefined> {
  const blob = await blobs.open(name)
  if (blob === undefined) return undefined
  const bytes = new Uint8Array(blob.size)
  let at = 0
  for await (const part of blob.bytes) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** SHA-256 of a file, without holding it in memory. */
export async function hashOf(
  blobs: BlobStore,
  name: string,
  hashing: LakeHashing,
): Promise<string | undefined> {
  const blob = await blobs.open(name)
  if (blob === undefined) return undefined
  const hash = hashing.sha256OfParts()
  for await (const part of blob.bytes) hash.add(part)
  return hash.digest()
}
