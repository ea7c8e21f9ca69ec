/**
 * An image answer event by event (SSE). The stream begins with the first preview, or when a proxy between us and the caller might
 * give up; until then a failure is an ordinary answer with its own status.
 */
import { asciiJson } from '#core/text/json-text.ts'
import type { ServerResponse } from 'node:http'
import type { Fault } from '#core/fault/fault.ts'
import { provenanceOfPicture, type ImageResult } from '#core/image/delivery.ts'
import { pictureHeader } from '#core/image/header.ts'
import type { ImageRequest } from '#core/image/request.ts'
import type { Preview } from '#ports/image-upstream.ts'
import { faultBody } from '../../faults.ts'
import { drained, headerText } from '../caller/writing.ts'
import {
  echoesOf,
  eventUsageOf,
  imageHeaders,
  NO_USAGE,
  pictureFields,
  type AnswerOutside,
  type ImageMeta,
} from './answer.ts'
import { base64Parts, handedOut } from './picture-source.ts'

/** Below the 30 s after which the strictest proxies give up on a silent connection. */
const HEARTBEAT_MS = 15_000
const EVENT_STREAM = 'text/event-stream; charset=utf-8'

export class ImageEvents {
  readonly #response: ServerResponse
  readonly #requestId: string
  readonly #kind: 'image_generation' | 'image_edit'
  /** Used where an upstream does not repeat these values. */
  readonly #asked: { readonly quality: string; readonly background: string }
  /** The headers that are known when the stream begins. */
  #headers: readonly string[]
  readonly #nowMs: () => number
  readonly #yieldLoop: () => Promise<unknown>
  readonly #timer: NodeJS.Timeout
  /** Events are written one after another, each as fast as the client reads. */
  #written: Promise<void> = Promise.resolve()
  #bytes = 0

  constructor(
    response: ServerResponse,
    requestId: string,
    {
      asked,
      ends,
      nowMs,
      yieldLoop,
    }: {
      readonly asked: Pick<ImageRequest, 'edit' | 'quality' | 'background'>
      /** The value of `x-torana-model-ends`; undefined if the header is left out. */
      readonly ends: string | undefined
      readonly nowMs: () => number
      readonly yieldLoop: () => Promise<unknown>
    },
  ) {
    this.#kind = asked.edit === undefined ? 'image_generation' : 'image_edit'
    this.#asked = { quality: asked.quality ?? 'auto', background: asked.background ?? 'auto' }
    this.#response = response
    this.#requestId = requestId
    this.#headers = ['content-type', EVENT_STREAM, 'x-request-id', requestId]
    if (ends !== undefined) this.#headers = [...this.#headers, 'x-torana-model-ends', headerText(ends)]
    this.#nowMs = nowMs
    this.#yieldLoop = yieldLoop
    this.#timer = setInterval(() => this.#beat(), HEARTBEAT_MS)
    this.#timer.unref()
  }

  preview(preview: Preview): void {
    const { index, bytes, echoes } = preview
    const header = pictureHeader(bytes)
    const seen = header && { size: `${header.width}x${header.height}`, output_format: header.format }
    const fields = `"partial_image_index":${index}`
    const all = { ...this.#asked, ...seen, ...echoes }
    this.#queue('partial_image', fields, all, one(preview, this.#yieldLoop))
  }

  /**
   * One event for each image, each with all of OpenAI's fields. The last one carries the usage. Resolves to the number of bytes of
   * the whole stream.
   */
  async complete(result: ImageResult, meta: ImageMeta, outside: AnswerOutside): Promise<number> {
    this.#headers = imageHeaders(result, meta, EVENT_STREAM)
    for (const [index, picture] of result.pictures.entries()) {
      const isLast = index === result.pictures.length - 1
      const echoes = {
        size: `${picture.width}x${picture.height}`,
        ...this.#asked,
        ...Object.fromEntries(
          result.dropped.filter((name) => name in this.#asked).map((name) => [name, 'auto']),
        ),
        output_format: handedOut(picture).format,
        ...echoesOf(result),
      }
      let fields = `"usage":${asciiJson(isLast ? eventUsageOf(result) : NO_USAGE)}`
      // The headers may have been sent with a preview.
      const provenance = provenanceOfPicture(picture)
      const { emulated } = result
      const about = { ...(provenance && { provenance }), ...(emulated.length > 0 && { emulated }) }
      if (Object.keys(about).length > 0) fields += `,"torana":${asciiJson(about)}`
      this.#queue('completed', fields, echoes, pictureFields(picture, result, meta, outside))
    }
    await this.#written
    this.#end()
    return this.#bytes
  }

  /** False when nothing has been sent: then the failure is an ordinary answer. */
  async fail(fault: Fault, docsUrl: string): Promise<boolean> {
    clearInterval(this.#timer)
    await this.#written.catch(() => {})
    if (!this.#response.headersSent) return false
    const { error } = JSON.parse(faultBody(fault, this.#requestId, docsUrl)) as { error: object }
    this.#response.write(`event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`)
    this.#end()
    return true
  }

  /** The answer is not a stream of events. */
  cancel(): void {
    clearInterval(this.#timer)
  }

  #queue(
    stage: 'partial_image' | 'completed',
    fields: string,
    echoes: Readonly<Record<string, unknown>>,
    picture: AsyncIterable<string>,
  ): void {
    this.#written = this.#written.then(async () => {
      const createdAt = Math.floor(this.#nowMs() / 1000)
      const type = `${this.#kind}.${stage}`
      let before = `event: ${type}\ndata: {"type":"${type}","created_at":${createdAt}`
      for (const [name, value] of Object.entries(echoes)) before += `,${asciiJson(name)}:${asciiJson(value)}`
      before += fields === '' ? ',' : `,${fields},`
      // The first part comes when the image is open: a failure there leaves no half event behind.
      for await (const part of picture) {
        this.#begin()
        await this.#write(before + part)
        before = ''
      }
      await this.#write('}\n\n')
    })
    this.#written.catch(() => {})
  }

  async #write(text: string): Promise<void> {
    // A heartbeat may still be queued after the end.
    if (this.#response.destroyed || this.#response.writableEnded) return
    this.#bytes += text.length
    if (!this.#response.write(text, 'latin1')) await drained(this.#response)
  }

  #begin(): void {
    if (this.#response.headersSent || this.#response.destroyed) return
    this.#response.writeHead(200, [
      ...this.#headers,
      'cache-control',
      'no-cache, no-transform',
      'x-accel-buffering',
      'no',
    ])
  }

  /** Between events, never inside one. */
  #beat(): void {
    this.#written = this.#written.then(async () => {
      this.#begin()
      await this.#write(': waiting\n\n')
    })
    this.#written.catch(() => {})
  }

  #end(): void {
    clearInterval(this.#timer)
    if (!this.#response.destroyed) this.#response.end()
  }
}

async function* one({ bytes, discard }: Preview, yieldLoop: () => Promise<unknown>): AsyncIterable<string> {
  yield '"b64_json":"'
  yield* base64Parts(whole(bytes), yieldLoop)
  discard?.()
  yield '"'
}

async function* whole(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
}
