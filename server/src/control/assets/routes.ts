/** Images that were made, for callers who may see their project: as they are kept, or as a small copy. */
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
import { CodecBusy, PictureUnreadable } from '#ports/image-codec.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { blobsOfBatch } from '#request/images/batch-blobs.ts'
import { deliveryFor, sendPicture } from '#http/gateway/images/assets.ts'
import { pictureOfAsset } from '#http/gateway/images/picture-source.ts'
import { callerIn, checkSeen, type Caller } from '../shared/caller.ts'
import { notFound } from '../shared/faults.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'

const assetPath = z.object({ id: z.string().max(80) })
const assetQuery = z.object({
  width: z
    .enum(['104', '208', '416'])
    .transform(Number)
    .optional()
    .describe('A WebP copy at most so wide, of at most 40 KB.'),
})

/** Size of an image that is decoded for a small copy. A larger one is shown in full. */
const MAX_DECODED_BYTES = 64 * 1024 * 1024
/** Longest wait of a page for a small copy. */
const THUMBNAIL_MS = 10_000

export function registerAssets(
  api: Api,
  { imageBlobs: blobs, thumbnails }: Pick<ControlNode, 'imageBlobs' | 'thumbnails'>,
): void {
  route(api, 'GET /assets/:id/content', {
    permission: 'assets.read',
    id: 'assetContent',
    summary: 'The bytes of an image that was made, or a small copy of it',
    params: assetPath,
    query: assetQuery,
    answer: z.string().describe('The picture.'),
    faults: [410],
    handler: async (request, reply) => {
      const { params, query, raw } = request
      const picture = await seenPicture(params.id, callerIn(request), blobs)
      const own = blobsOfBatch(placeOfAsset(params.id)?.batchId, blobs)
      if (query.width === undefined)
        await sendPicture(raw, reply.raw, pictureOfAsset(picture, placeOfAsset(params.id)), request.id, own)
      else {
        const small = await thumbnailOf(params.id, picture, query.width, { blobs: own, thumbnails })
        sendThumbnail(raw, reply.raw, request.id, small)
      }
      // The answer is written: the framework has nothing more to do.
      return reply.hijack()
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

/** Made once, then kept beside what the call delivered and deleted with it. */
async function thumbnailOf(
  assetId: string,
  picture: KeptBytes,
  width: number,
  { blobs, thumbnails }: Pick<ControlNode, 'thumbnails'> & { readonly blobs: BlobStore },
): Promise<Uint8Array> {
  const place = placeOfAsset(assetId)
  if (place === undefined) throw notFound(`There is no picture ${assetId}.`)
  const name = thumbnailName(place, width)
  try {
    const kept = await blobs.open(name)
    if (kept !== undefined) return await buffer(kept.bytes)
    const whole = await blobs.open(pictureName(picture.sha256))
    if (whole === undefined) throw new Fault('asset_gone', 'The image was deleted.')
    if (whole.size > MAX_DECODED_BYTES) throw noThumbnail(assetId)
    const bytes = new Uint8Array(await buffer(whole.bytes))
    const small = await thumbnails.thumbnail(bytes, width, { project: 'system', timeoutMs: THUMBNAIL_MS })
    // It can be made again, so a failure to keep it costs nothing.
    await blobs.put(name, small).catch(() => {})
    return small
  } catch (error) {
    if (error instanceof PictureUnreadable) throw noThumbnail(assetId)
    if (error instanceof CodecBusy)
      throw new Fault('store_unreachable', 'Too many thumbnails are being made right now. Retry.', {
        cause: error,
      })
    if (error instanceof StoreUnreachable)
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

function sendThumbnail(
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  bytes: Uint8Array,
): void {
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
