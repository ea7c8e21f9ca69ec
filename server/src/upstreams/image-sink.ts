/** Reads an image answer by its kind of content, which is known when it begins. */
import type { ImageEvents, Preview } from '#ports/image-upstream.ts'
import type { ByteSink, HttpAnswer } from './http.ts'
import {
  contentTypeIn,
  JsonReader,
  NOTHING,
  RawReader,
  type Delivery,
  type DeliveryReader,
} from './image-delivery.ts'
import { EventReader } from './image-events.ts'
import type { PictureBytes } from './picture-bytes.ts'

export class ImageSink implements ByteSink {
  readonly #images: number
  readonly #events: ImageEvents
  readonly #nextTurn: () => Promise<unknown>
  readonly #finished = Promise.withResolvers<undefined>()
  #reader: DeliveryReader = new JsonReader()
  /** Previews are joined in steps and told in order. */
  #told: Promise<void> = Promise.resolve()
  status: number | undefined
  headers: HttpAnswer['headers'] = {}

  constructor(images: number, events: ImageEvents, nextTurn: () => Promise<unknown>) {
    this.#images = images
    this.#events = events
    this.#nextTurn = nextTurn
  }

  /** Resolves when nothing more is awaited though the connection may stay open; never, for answers in one piece. */
  get finished(): Promise<undefined> {
    return this.#finished.promise
  }

  get isStream(): boolean {
    return this.#reader instanceof EventReader
  }

  start(status: number, headers: HttpAnswer['headers']): void {
    this.status = status
    this.headers = headers
    const type = contentTypeIn(headers)
    if (type === 'text/event-stream') {
      this.#reader = new EventReader({
        images: this.#images,
        preview: (picture, about) => {
          this.#told = this.#told.then(() => this.#tell(picture, about))
          // Whoever waits for it hears of it.
          this.#told.catch(() => {})
        },
        finished: () => this.#finished.resolve(undefined),
      })
    } else if (type.startsWith('image/')) this.#reader = new RawReader()
  }

  push(chunk: Uint8Array): void {
    this.#reader.push(chunk)
  }

  async end(): Promise<Delivery> {
    const delivery = this.#reader.end()
    await this.#told
    return delivery
  }

  /** What a stream has brought before it broke; of an answer in one piece there is no part. */
  async soFar(): Promise<Delivery> {
    if (!(this.#reader instanceof EventReader)) return NOTHING
    await Promise.allSettled([this.#told])
    return this.#reader.soFar()
  }

  async #tell(picture: PictureBytes, about: Omit<Preview, 'bytes'>): Promise<void> {
    this.#events.partial({ ...about, bytes: await picture.joined(this.#nextTurn) })
  }
}
