/** `GET /v1/assets/{id}`: the bytes of a stored image, by a signed link or by a key of its project. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { Fault } from '#core/fault/fault.ts'
import {
  deliveryName,
  deliveryOf,
  pictureName,
  placeOfAsset,
  type Delivery,
  type KeptBytes,
} from '#core/image/delivery.ts'
import { mediaTypeOf, type PictureFormat } from '#core/image/header.ts'
import { momentOf } from '#core/money/ledger.ts'
import type { BlobStore, OpenBlob } from '#ports/blobs.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { blobsOfBatch } from '#request/images/batch-blobs.ts'
import type { ImagesDependencies } from './images.ts'
import { isKnown, rangeIn, type ByteRange } from '../caller/byte-range.ts'
import { drained } from '../caller/writing.ts'
import { keyOf } from '../caller/key-of.ts'
import { pictureOfAsset } from './picture-source.ts'

export interface AssetDependencies extends ImagesDependencies {
  /** Whether the signature of a link is ours. */
  readonly verifyLink: (assetId: string, expiresAtSeconds: number, signature: string) => boolean
}

export async function serveAsset(
  request: IncomingMessage,
  response: ServerResponse,
  { assetId, query }: { readonly assetId: string; readonly query: URLSearchParams },
  requestId: string,
  dependencies: AssetDependencies,
): Promise<void> {
  const project = await allowed(request, assetId, query, dependencies)
  const delivery = await deliveryFor(assetId, dependencies)
  const place = placeOfAsset(assetId)
  // The same answer for another project's image: its existence is not disclosed.
  if (delivery === undefined || (project !== undefined && delivery.project !== project))
    throw missing(assetId, dependencies)
  const picture = delivery.pictures[place?.index ?? -1]
  if (picture === undefined) throw missing(assetId, dependencies)
  const blobs = blobsOfBatch(place?.batchId, dependencies.blobs)
  await sendPicture(request, response, pictureOfAsset(picture, place), requestId, blobs)
}

/** The project whose key was presented; undefined for a signed link. */
async function allowed(
  request: IncomingMessage,
  assetId: string,
  query: URLSearchParams,
  dependencies: AssetDependencies,
): Promise<string | undefined> {
  const { clock, verifyLink } = dependencies
  const signature = query.get('sig')
  if (signature === null) return (await keyOf(request, dependencies)).project
  const expiresAtSeconds = Number(query.get('exp'))
  if (!Number.isSafeInteger(expiresAtSeconds) || !verifyLink(assetId, expiresAtSeconds, signature))
    throw new Fault('asset_link_invalid', 'This gateway did not make the link, or the link was changed.')
  if (expiresAtSeconds * 1000 < clock.nowMs())
    throw new Fault(
      'asset_link_invalid',
      `The link expired at ${new Date(expiresAtSeconds * 1000).toISOString()}.`,
    )
  return undefined
}

/** What the call of an asset delivered. Undefined if there is no such asset, or no longer. */
export async function deliveryFor(
  assetId: string,
  { blobs }: Pick<AssetDependencies, 'blobs'>,
): Promise<Delivery | undefined> {
  const place = placeOfAsset(assetId)
  if (place === undefined) return undefined
  const own = blobsOfBatch(place.batchId, blobs)
  const blob = await reading(own, deliveryName(place.jobId, place.attempt))
  return blob && deliveryOf(await text(blob.bytes))
}

async function reading(blobs: BlobStore, name: string, range?: ByteRange): Promise<OpenBlob | undefined> {
  try {
    return await blobs.open(name, range)
  } catch (cause) {
    if (!(cause instanceof StoreUnreachable)) throw cause
    throw new Fault('asset_store_unreachable', 'Torana cannot reach the store of images. Retry.', { cause })
  }
}

function missing(assetId: string, { limits, clock }: AssetDependencies): Fault {
  const place = placeOfAsset(assetId)
  if (place !== undefined && clock.nowMs() - momentOf(place.jobId) > limits.assetRetentionMs)
    return new Fault('asset_gone', `The retention time of '${assetId}' is over.`)
  return new Fault('not_found', `There is no asset '${assetId.slice(0, 80)}'.`)
}

/** Writes the bytes, or what the headers request instead. Throws only before anything is written. */
export async function sendPicture(
  request: IncomingMessage,
  response: ServerResponse,
  { sha256, bytes, format }: KeptBytes,
  requestId: string,
  blobs: BlobStore,
): Promise<void> {
  const etag = `"${sha256}"`
  const headers: Record<string, string> = {
    'x-request-id': requestId,
    etag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, max-age=86400, immutable',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'content-type': format === 'unknown' ? 'application/octet-stream' : mediaTypeOf(format as PictureFormat),
  }
  // An SVG may contain scripts, so it is never shown in the gateway's own origin.
  if (format === 'svg' || format === 'unknown') headers['content-disposition'] = 'attachment'
  if (isKnown(request.headers['if-none-match'], etag)) {
    response.writeHead(304, headers).end()
    return
  }
  const range = rangeIn(request.headers.range, bytes)
  if (range === 'unsatisfiable') {
    response.writeHead(416, { ...headers, 'content-range': `bytes */${bytes}` }).end()
    return
  }
  const blob = await reading(blobs, pictureName(sha256), range)
  if (blob === undefined) throw new Fault('asset_gone', 'The image was deleted.')
  const { first, last } = range ?? { first: 0, last: bytes - 1 }
  headers['content-length'] = String(last - first + 1)
  if (range !== undefined) headers['content-range'] = `bytes ${first}-${last}/${bytes}`
  response.writeHead(range === undefined ? 200 : 206, headers)
  for await (const chunk of blob.bytes) {
    // The reading was begun and is left, so that its file or connection is closed.
    if (request.method === 'HEAD') break
    if (response.destroyed) return
    if (!response.write(chunk)) await drained(response)
  }
  response.end()
}
