/** Runs in a worker thread: reads and writes pictures with libvips, whose own threads do the work. */
import { parentPort } from 'node:worker_threads'
import sharp, { type Sharp } from 'sharp'
import type { ImageFormat } from '#core/catalog.ts'

export interface CodecRequest {
  readonly id: number
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly format: ImageFormat
  readonly quality: number | undefined
}

export type CodecReply =
  | { readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly id: number; readonly trouble: 'unreadable' | 'late' | 'too-wide'; readonly message: string }

/** As the port says; here a second time, since a header may lie. */
const MAX_PIXELS = 50_000_000
const MAX_SECONDS = 30
/** Of libwebp. */
const WEBP_MAX_EDGE = 16_383

// What nobody needs can't be attacked: libvips reads dozens of formats, some through large libraries.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer'],
})
// Two pictures at once on one thread each leave the other cores to the gateway. No two pictures are the same: nothing to cache.
sharp.concurrency(1)
sharp.cache(false)

async function converted({ id, bytes, format, quality = 100 }: CodecRequest): Promise<CodecReply> {
  try {
    const input = sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error', pages: 1 })
    const { width, height } = await input.metadata()
    if (format === 'webp' && Math.max(width, height) > WEBP_MAX_EDGE) {
      const message = `webp ends at ${WEBP_MAX_EDGE} pixels an edge, and the picture has ${width}×${height}`
      return { id, trouble: 'too-wide', message }
    }
    // The orientation is a note beside the pixels, and notes are left behind: it is applied, so that the picture looks the same.
    const output = encoded(input.autoOrient().timeout({ seconds: MAX_SECONDS }), format, quality)
    // Unlike a `Buffer` of sharp's, this can be handed over.
    const { data } = await output.toUint8Array()
    return { id, bytes: data as Uint8Array<ArrayBuffer> }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { id, trouble: message.startsWith('timeout') ? 'late' : 'unreadable', message }
  }
}

function encoded(picture: Sharp, format: ImageFormat, asked: number): Sharp {
  // The scale of both encoders begins at 1, and 0 is their way of saying 1.
  const quality = Math.max(1, asked)
  if (format === 'png') return picture.png({ compressionLevel: 6 })
  if (format === 'webp') return picture.webp({ quality })
  // Who asks for the best does not want colours at half the resolution.
  const chromaSubsampling = quality >= 90 ? '4:4:4' : '4:2:0'
  return picture.flatten({ background: 'white' }).jpeg({ quality, chromaSubsampling })
}

parentPort?.on('message', (request: CodecRequest) => {
  void converted(request).then((reply) =>
    parentPort?.postMessage(reply, 'bytes' in reply ? [reply.bytes.buffer] : []),
  )
})
