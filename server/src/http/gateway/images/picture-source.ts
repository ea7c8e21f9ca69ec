/** The bytes of kept pictures, as they are written into answers. */
import { Fault } from '#core/fault/fault.ts'
import { pictureName, type AssetPlace, type KeptBytes, type KeptPicture } from '#core/image/delivery.ts'
import type { BlobStore } from '#ports/blobs.ts'
import { StoreAway } from '#ports/store.ts'
import type { PicturesAtHand } from '#request/images/at-hand.ts'
import type { HeldBytes } from '#request/images/deliver.ts'

/** A slice of base64 that takes well under a millisecond to write; a multiple of three bytes, so that slices join. */
const SLICE_BYTES = 48 * 1024

/** Pictures that need not be read from the store. */
export interface InMemory {
  readonly held: HeldBytes
  readonly atHand?: PicturesAtHand | undefined
}

/** What the caller gets: the converted picture where there is one. */
export function handedOut(picture: KeptPicture): KeptBytes {
  return picture.converted ?? picture
}

/** The picture of an asset: as it was handed out, or as it came. */
export function pictureOfAsset(picture: KeptPicture, place: AssetPlace | undefined): KeptBytes {
  return place?.isOriginal === true ? picture : handedOut(picture)
}

/** Opened before the answer begins, so that trouble can still be told in words. */
export async function openPicture(
  { sha256 }: KeptBytes,
  { held, atHand }: InMemory,
  blobs: BlobStore,
): Promise<AsyncIterable<Uint8Array>> {
  const inMemory = held.get(sha256) ?? atHand?.get(sha256)
  if (inMemory !== undefined) return slicesOf(inMemory)
  try {
    const blob = await blobs.open(pictureName(sha256))
    if (blob !== undefined) return blob.bytes
  } catch (cause) {
    if (!(cause instanceof StoreAway)) throw cause
    throw new Fault(
      'asset_store_unreachable',
      'The image is stored, but Torana cannot read it at the moment. Retry.',
      {
        cause,
      },
    )
  }
  throw new Fault('asset_gone', 'The image was deleted.')
}

async function* slicesOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let start = 0; start < bytes.length; start += SLICE_BYTES)
    yield bytes.subarray(start, start + SLICE_BYTES)
}

/** Base64 text in slices, each small enough to be written in a moment, and one in each round of the event loop, however many answers are written. */
export async function* base64Slices(
  source: AsyncIterable<Uint8Array>,
  yieldLoop: () => Promise<unknown>,
): AsyncIterable<string> {
  let rest = Buffer.alloc(0)
  for await (const chunk of source) {
    let bytes =
      rest.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
        : Buffer.concat([rest, chunk])
    const whole = bytes.length - (bytes.length % 3)
    for (let start = 0; start < whole; start += SLICE_BYTES) {
      await yieldLoop()
      yield bytes.toString('base64', start, Math.min(whole, start + SLICE_BYTES))
    }
    bytes = bytes.subarray(whole)
    rest = Buffer.from(bytes)
  }
  if (rest.length > 0) yield rest.toString('base64')
}
