/** An image answer that comes event by event. Its images are extracted from the bytes before the events are parsed. */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { BrokenAnswer } from '#core/fault/broken-answer.ts'
import { isRecord } from '#core/text/record.ts'
import type { Preview } from '#ports/image-upstream.ts'
import {
  fieldsOf,
  MAX_SKELETON_BYTES,
  NOTHING,
  pictureIn,
  refusalIn,
  type ImageReply,
  type ReplyReader,
} from './image-reply.ts'
import { EventCounts } from './event-counts.ts'
import { echoesIn, EVENT_FIELDS, extraFieldsIn, tokensIn, type Fields } from './image-answer.ts'
import type { PictureBytes } from '../connect/picture-bytes.ts'
import { PictureScanner } from './picture-scan.ts'

export interface EventOptions {
  /** The number of requested images. */
  readonly images: number
  /** A preview has arrived; its bytes are still to be joined. */
  preview(picture: PictureBytes, about: Omit<Preview, 'bytes'>): void
  /** Nothing more is awaited, although the connection may stay open. */
  finished(): void
}

export class EventReader implements ReplyReader {
  readonly #options: EventOptions
  #reply: ImageReply = NOTHING
  #previews = 0
  readonly #counts = new EventCounts()
  #hasFinished = false
  /** The reply was taken: later events are ignored. */
  #hasEnded = false
  /** One character per byte: text is decoded when it is complete. */
  readonly #scanner = new PictureScanner((bytes) => this.#parser.feed(Buffer.from(bytes).toString('latin1')))
  readonly #parser = createParser({
    maxBufferSize: MAX_SKELETON_BYTES,
    onEvent: (event) => this.#read(event),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded')
        throw new BrokenAnswer('more than 1 MB beside its pictures')
    },
  })

  constructor(options: EventOptions) {
    this.#options = options
  }

  push(chunk: Uint8Array): void {
    if (!this.#hasEnded) this.#scanner.push(chunk)
  }

  /** What has arrived so far; after a broken connection, that is all. */
  soFar(): ImageReply {
    return this.#reply
  }

  end(): ImageReply {
    // Some servers omit the blank line after their last event.
    if (!this.#hasFinished) this.#parser.feed('\n\n')
    this.#hasEnded = true
    return this.#reply
  }

  #read({ event, data }: EventSourceMessage): void {
    if (data === '[DONE]') return this.#finish()
    const fields = fieldsOf(Buffer.from(data, 'latin1').toString('utf8'))
    const name = typeof fields['type'] === 'string' ? fields['type'] : event
    // Regardless of the request: servers confuse the two, and both mean the same.
    const type = name?.replace(/^image_edit\./, 'image_generation.')
    // Extra images are paid for. They are not awaited, but those that have arrived are kept.
    if (this.#hasFinished) {
      if (type === 'image_generation.completed' && 'b64_json' in fields) this.#keepPicture(fields)
    } else if (type === 'image_generation.partial_image') this.#readPreview(fields)
    else if (type === 'image_generation.completed') this.#readCompleted(fields)
    else if (type === 'image_generation.partial_succeeded') this.#keepPicture(fields)
    else if (type === 'image_generation.partial_failed') this.#keepRefusal(refusalIn(fields))
    else if (type === 'error' || fields['error']) this.#readError(fields)
  }

  #readPreview(fields: Fields): void {
    const picture = this.#scanner.take(fields['b64_json'])
    const { partial_image_index: index } = fields
    this.#options.preview(picture, {
      index: typeof index === 'number' ? index : this.#previews,
      echoes: echoesIn(fields),
    })
    this.#previews += 1
  }

  /** OpenAI's event brings an image. Volcengine's comes after all images and brings the count of the whole call. */
  #readCompleted(fields: Fields): void {
    if ('b64_json' in fields || 'url' in fields) this.#keepPicture(fields)
    else {
      this.#keepFields(fields)
      const { usage } = fields
      if (isRecord(usage))
        this.#reply = { ...this.#reply, tokens: tokensIn(usage), usage, eachTokens: undefined }
    }
    if (this.#reply.pictures.length + this.#reply.refusals.length >= this.#options.images) this.#finish()
  }

  #keepPicture(fields: Fields): void {
    const picture = pictureIn(fields, this.#scanner)
    if (picture === undefined) this.#keepRefusal(refusalIn(fields))
    else this.#reply = { ...this.#reply, pictures: [...this.#reply.pictures, picture] }
    this.#keepFields(fields)
    this.#count(fields['usage'])
  }

  #count(usage: unknown): void {
    this.#counts.add(usage)
    this.#reply = { ...this.#reply, ...this.#counts.together }
  }

  #keepFields(fields: Fields): void {
    const { echoes, extraFields } = this.#reply
    this.#reply = {
      ...this.#reply,
      echoes: { ...echoes, ...echoesIn(fields) },
      extraFields: { ...extraFields, ...extraFieldsIn(fields, EVENT_FIELDS) },
    }
  }

  #keepRefusal(refusal: unknown): void {
    this.#reply = { ...this.#reply, refusals: [...this.#reply.refusals, refusal] }
  }

  /** Nested as OpenAI writes it, or flat. */
  #readError(fields: Fields): void {
    const { error = fields } = fields
    this.#reply = {
      ...this.#reply,
      error: isRecord(error) || typeof error === 'string' ? error : fields,
    }
    this.#finish()
  }

  #finish(): void {
    this.#hasFinished = true
    this.#options.finished()
  }
}
