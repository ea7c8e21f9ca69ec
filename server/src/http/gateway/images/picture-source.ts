/** The bytes of stored images, as they are written into answers. */
import { Fault } from '#core/fault/fault.ts'
import { pictureName, type AssetPlace, type KeptBytes, type KeptPicture } from '#core/image/delivery.ts'
import type { BlobStore } from '#ports/blobs.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { PicturesAtHand } from '#request/images/at-hand.ts'
import type { HeldBytes } from '#request/images/deliver.ts'

/** Bytes that take well under a millisecond to write as base64; a multiple of three, so that parts join. */
const PART_BYTES = 48 * 1024

/** Images that need not be read from the store. */
export interface InMemory {
  readonly held: HeldBytes
  readonly atHand?: PicturesAtHand | undefined
}

/** What the caller gets: the converted image where there is one. */
export function handedOut(picture: KeptPicture): KeptBytes {
  return picture.converted ?? picture
}

/** The image of an asset: as it was handed out, or the original. */
export function pictureOfAsset(picture: KeptPicture, place: AssetPlace | undefined): KeptBytes {
  return place?.isOriginal === true ? picture : handedOut(picture)
}

/** Opened before the answer begins, so that a failure can still be a fault. */
export async function openPicture(
  { sha256 }: KeptBytes,
  { held, atHand }: InMemory,
  blobs: BlobStore,
): Promise<AsyncIterable<Uint8Array>> {
  const inMemory = held.get(sha256) ?? atHand?.get(sha256)
  if (inMemory !== undefined) return partsOf(inMemory)
  try {
    const blob = await blobs.open(pictureName(sha256))
    if (blob !== undefined) return blob.bytes
  } catch (cause) {
    if (!(cause instanceof StoreUnreachable)) throw cause
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

async function* partsOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let start = 0; start < bytes.length; start += PART_BYTES)
    yield bytes.subarray(start, start + PART_BYTES)
}

/** Base64 text in small parts, one in each turn of the event loop, however many answers are being written. */
export async function* base64Parts(
  source: AsyncIterable<Uint8Array>,
  yieldLoop: () => Promise<unknown>,
): AsyncIterable<string> {
  let rest = Buffer.alloc(0)
  for await (const part of source) {
    let bytes =
      rest.length === 0 ? Buffer.from(part.buffer, part.byteOffset, part.length) : Buffer.concat([rest, part])
    const whole = bytes.length - (bytes.length % 3)
    for (let start = 0; start < whole; start += PART_BYTES) {
      await yieldLoop()
      yield bytes.toString('base64', start, Math.min(whole, start + PART_BYTES))
    }
    bytes = bytes.subarray(whole)
    rest = Buffer.from(bytes)
  }
  if (rest.length > 0) yield rest.toString('base64')
}
