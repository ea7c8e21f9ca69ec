/** Keeps the images of an upstream's answer under their digests, and converts them where the caller asked for it. */
import type { Delivery, KeptBytes, KeptPicture } from '#core/image/delivery.ts'
import { deliveryName, deliveryOf, deliveryText, pictureName } from '#core/image/delivery.ts'
import { pictureHeader, type PictureHeader } from '#core/image/header.ts'
import type { Conversion } from '#core/image/output.ts'
import { provenanceOf } from '#core/image/provenance.ts'
import type { Asker } from '#ports/asker.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { Hashing } from '#runtime/hashing.ts'
import { PictureUnreadable, type ImageCodec } from '#ports/image-codec.ts'
import type { MadePicture } from '#ports/image-upstream.ts'

export interface KeepingOutside {
  readonly blobs: BlobStore
  readonly codec: ImageCodec
  readonly hashing: Hashing
  /** Reports bytes that could not be stored, with the reason. */
  readonly unkept: (name: string, error: unknown) => void
}

/** Bytes that could not be stored anywhere, by digest. A client that still waits can get them from here. */
export type HeldBytes = Map<string, Uint8Array<ArrayBuffer>>

/** The pictures as they will be kept. */
export async function describePictures(
  made: readonly MadePicture[],
  { hashing }: KeepingOutside,
): Promise<KeptPicture[]> {
  const described: KeptPicture[] = []
  for (const { bytes, revisedPrompt } of made) {
    const header = pictureHeader(bytes)
    const { width, height } = header ?? { width: 0, height: 0 }
    described.push({
      ...(await describe(bytes, header, hashing)),
      width,
      height,
      ...(revisedPrompt === undefined ? {} : { revisedPrompt }),
    })
  }
  return described
}

/** Stores each picture as it came, before it is converted. From here on it can't be lost. */
export async function keepPictures(
  made: readonly MadePicture[],
  described: readonly KeptPicture[],
  held: HeldBytes,
  outside: KeepingOutside,
): Promise<void> {
  for (const [index, { bytes }] of made.entries())
    await keep((described[index] as KeptPicture).sha256, bytes, held, outside)
}

/**
 * The images in the format that the caller asked for; `conversionOf` says what each needs. Rejects when one of the first `asked` can't be
 * converted; the originals stay stored. An extra image that can't be converted affects no other.
 */
export async function convertPictures(
  kept: readonly KeptPicture[],
  made: readonly MadePicture[],
  conversionOf: (picture: KeptPicture) => Conversion | undefined,
  asked: number,
  held: HeldBytes,
  asker: Asker,
  outside: KeepingOutside,
): Promise<KeptPicture[]> {
  const converted: KeptPicture[] = []
  for (const [index, picture] of kept.entries()) {
    const { bytes } = made[index] as MadePicture
    const conversion = conversionOf(picture)
    if (conversion === undefined) {
      converted.push(picture)
      continue
    }
    const changed = await outside.codec.convert(bytes, conversion, asker).catch((error: unknown) => {
      if (index < asked || !(error instanceof PictureUnreadable)) throw error
      return undefined
    })
    if (changed === undefined) {
      converted.push(picture)
      continue
    }
    const described = await describe(changed, pictureHeader(changed), outside.hashing)
    await keep(described.sha256, changed, held, outside)
    converted.push({ ...picture, converted: described })
  }
  return converted
}

async function describe(
  bytes: Uint8Array<ArrayBuffer>,
  header: PictureHeader | undefined,
  hashing: Hashing,
): Promise<KeptBytes> {
  const sha256 = await hashing.sha256OfBytes(bytes)
  const provenance = provenanceOf(bytes, header?.format)
  return {
    sha256,
    bytes: bytes.length,
    format: header?.format ?? 'unknown',
    ...(provenance === undefined ? {} : { provenance }),
  }
}

async function keep(
  sha256: string,
  bytes: Uint8Array<ArrayBuffer>,
  held: HeldBytes,
  { blobs, unkept }: KeepingOutside,
): Promise<void> {
  try {
    await blobs.put(pictureName(sha256), bytes)
  } catch (error) {
    // For any reason: the image is paid for, and a client may wait for it.
    unkept(pictureName(sha256), error)
    held.set(sha256, bytes)
  }
}

/** Stores what a call delivered, for a node that may take over the job. */
export async function keepDelivery(
  jobId: string,
  delivery: Delivery,
  { blobs, unkept }: KeepingOutside,
): Promise<void> {
  const name = deliveryName(jobId, delivery.post.attempt)
  try {
    await blobs.put(name, new TextEncoder().encode(deliveryText(delivery)))
  } catch (error) {
    unkept(name, error)
  }
}

/** The stored delivery of a call. Its record may name images that were not stored. Undefined when nothing was stored. */
export async function keptDelivery(
  jobId: string,
  attempt: number,
  blobs: BlobStore,
): Promise<Delivery | undefined> {
  const record = await blobs.open(deliveryName(jobId, attempt))
  if (record === undefined) return undefined
  const delivery = deliveryOf(await textOf(record.bytes))
  const pictures: KeptPicture[] = []
  for (const { converted, ...original } of delivery.pictures) {
    if (!(await isKept(original, blobs))) continue
    const hasBoth = converted !== undefined && (await isKept(converted, blobs))
    pictures.push(hasBoth ? { ...original, converted } : original)
  }
  return pictures.length === 0 ? undefined : { ...delivery, pictures }
}

async function isKept({ sha256, bytes }: KeptBytes, blobs: BlobStore): Promise<boolean> {
  const blob = await blobs.open(pictureName(sha256), { first: 0, last: 0 })
  if (blob === undefined) return false
  // A blob that is not read to its end stays open.
  await textOf(blob.bytes)
  return blob.size === bytes
}

/** The whole original image in memory. */
export async function keptBytes({ sha256 }: KeptBytes, blobs: BlobStore): Promise<Uint8Array<ArrayBuffer>> {
  const blob = await blobs.open(pictureName(sha256))
  const bytes = new Uint8Array(blob?.size ?? 0)
  let at = 0
  for await (const chunk of blob?.bytes ?? []) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** A small blob as text. */
async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of bytes) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}
