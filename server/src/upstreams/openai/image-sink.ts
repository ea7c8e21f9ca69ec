/** Reads an image answer by its content type, which is known when it begins. */
import type { ImageEvents } from '#ports/image-upstream.ts'
import type { ByteSink, HttpAnswer } from '../connect/http.ts'
import {
  contentTypeIn,
  JsonReader,
  NOTHING,
  RawReader,
  type ImageReply,
  type ReplyReader,
} from './image-reply.ts'
import { EventReader } from './image-events.ts'

export class ImageSink implements ByteSink {
  readonly #images: number
  readonly #events: ImageEvents
  readonly #finished = Promise.withResolvers<undefined>()
  #reader: ReplyReader = new JsonReader()
  status: number | undefined
  firstByteMs: number | undefined
  headers: HttpAnswer['headers'] = {}

  constructor(images: number, events: ImageEvents) {
    this.#images = images
    this.#events = events
  }

  /** Resolves when nothing more is awaited although the connection may stay open; never for answers in one document. */
  get finished(): Promise<undefined> {
    return this.#finished.promise
  }

  get isStream(): boolean {
    return this.#reader instanceof EventReader
  }

  start(status: number, headers: HttpAnswer['headers']): void {
    this.status = status
    this.firstByteMs = performance.now()
    this.headers = headers
    const type = contentTypeIn(headers)
    if (type === 'text/event-stream') {
      this.#reader = new EventReader({
        images: this.#images,
        preview: (picture, about) =>
          this.#events.partial({ ...about, bytes: picture.whole(), discard: () => picture.discard() }),
        finished: () => this.#finished.resolve(undefined),
      })
    } else if (type.startsWith('image/')) this.#reader = new RawReader()
    else this.#reader = new JsonReader(this.#expectedBytes(headers))
  }

  /** Size of each image, if all have one size and fill the answer: four characters are three bytes. */
  #expectedBytes({ 'content-length': length }: HttpAnswer['headers']): number {
    return Math.ceil(((Number(length) || 0) * 3) / 4 / this.#images)
  }

  push(chunk: Uint8Array): void {
    this.#reader.push(chunk)
  }

  async end(): Promise<ImageReply> {
    return this.#reader.end()
  }

  /** What a stream has brought before it broke; an answer in one document has no partial result. */
  async soFar(): Promise<ImageReply> {
    return this.#reader instanceof EventReader ? this.#reader.soFar() : NOTHING
  }
}
