/** Pictures that were made, for those who may see their project: as they are kept, or small. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { z } from 'zod'
import { Fault } from '#core/fault/fault.ts'
import {
  pictureName,
  placeOfAsset,
  thumbnailName,
  type KeptBytes,
  type KeptPicture,
} from '#core/image/delivery.ts'
import type { BlobStore } from '#ports/blobs.ts'
import { CodecBusy, PictureUnreadable, type ThumbnailMaker } from '#ports/image-codec.ts'
import { StoreAway } from '#ports/store.ts'
import { blobsOfBatch } from '#request/images/batch-blobs.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { deliveryFor, sendPicture } from '../../gateway/images/assets.ts'
import { pictureOfAsset } from '../../gateway/images/picture-source.ts'
import { callerIn, checkSeen, type Caller } from '../access/caller.ts'
import { notFound } from '../wire/faults.ts'
import type { Api } from '../wire/route.ts'

export interface AssetsDependencies {
  readonly blobs: BlobStore
  readonly codec: ThumbnailMaker
}

const assetPath = z.object({ id: z.string().max(80) })
const assetQuery = z.object({
  width: z
    .enum(['104', '208', '416'])
    .transform(Number)
    .optional()
    .describe('A WebP copy at most so wide, of at most 40 KB.'),
})

/** A picture larger than this is shown in full or not at all: its pixels would have to be decoded. */
const MOST_DECODED_BYTES = 64 * 1024 * 1024
/** What a page may wait for one. */
const THUMBNAIL_MS = 10_000

export function registerAssets(api: Api, { blobs, codec }: AssetsDependencies): void {
  api.get('/assets/:id/content', {
    config: { permission: 'assets.read' },
    schema: {
      operationId: 'assetContent',
      summary: 'The bytes of a picture that was made, or a small copy of it',
      params: assetPath,
      querystring: assetQuery,
      response: {
        200: z.string().describe('The picture.'),
        ...faultAnswers([401, 403, 404, 410, 503]),
      },
    },
    handler: async (request, reply) => {
      const { params, query, raw } = request
      const picture = await seenPicture(params.id, callerIn(request), blobs)
      const own = blobsOfBatch(placeOfAsset(params.id)?.batchId, blobs)
      if (query.width === undefined)
        await sendPicture(raw, reply.raw, pictureOfAsset(picture, placeOfAsset(params.id)), request.id, own)
      else
        await sendThumbnail(
          raw,
          reply.raw,
          request.id,
          await thumbnailOf(params.id, picture, query.width, { blobs: own, codec }),
        )
      // The answer is written: the framework has nothing more to do.
      reply.hijack()
    },
  })
}

async function seenPicture(assetId: string, caller: Caller, blobs: BlobStore): Promise<KeptPicture> {
  const delivery = await deliveryFor(assetId, { blobs })
  const picture = delivery?.pictures[placeOfAsset(assetId)?.index ?? -1]
  if (delivery === undefined || picture === undefined) throw notFound(`There is no picture ${assetId}.`)
  checkSeen(caller, delivery.project, `picture ${assetId}`)
  return picture
}

/** Made once, and kept beside what the call delivered, for as long. */
async function thumbnailOf(
  assetId: string,
  picture: KeptBytes,
  width: number,
  { blobs, codec }: AssetsDependencies,
): Promise<Uint8Array> {
  const place = placeOfAsset(assetId)
  if (place === undefined) throw notFound(`There is no picture ${assetId}.`)
  const name = thumbnailName(place, width)
  try {
    const kept = await blobs.open(name)
    if (kept !== undefined) return await buffer(kept.bytes)
    const whole = await blobs.open(pictureName(picture.sha256))
    if (whole === undefined) throw new Fault('asset_gone', 'The image was deleted.')
    if (whole.size > MOST_DECODED_BYTES) throw noThumbnail(assetId)
    const bytes = new Uint8Array(await buffer(whole.bytes))
    const small = await codec.thumbnail(bytes, width, { project: 'system', timeoutMs: THUMBNAIL_MS })
    // It can be made again: a store that does not take it loses nothing.
    await blobs.put(name, small).catch(() => {})
    return small
  } catch (error) {
    if (error instanceof PictureUnreadable) throw noThumbnail(assetId)
    if (error instanceof CodecBusy)
      throw new Fault('store_unreachable', 'Too many pictures are being made small at this moment. Retry.', {
        cause: error,
      })
    if (error instanceof StoreAway)
      throw new Fault('asset_store_unreachable', 'Torana cannot reach the store of images. Retry.', {
        cause: error,
      })
    throw error
  }
}

function noThumbnail(assetId: string): Fault {
  return notFound(
    `Picture ${assetId} is of a kind that Torana does not make small. Ask for it without a width.`,
  )
}

async function sendThumbnail(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  bytes: Uint8Array,
): Promise<void> {
  response.writeHead(200, {
    'x-request-id': requestId,
    'content-type': 'image/webp',
    'content-length': String(bytes.length),
    'cache-control': 'private, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  })
  response.end(request.method === 'HEAD' ? undefined : bytes)
}
