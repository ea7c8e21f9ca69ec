/** A form with images, read as it arrives: images onto the disk, everything else into memory. */
import type { IncomingMessage } from 'node:http'
import { Fault } from '#core/fault/fault.ts'
import { gatewayBounds } from '../../gate/bounds.ts'
import { IncomingBytes } from './incoming-bytes.ts'
import { MultipartParts, type Part } from './multipart-parts.ts'
import { boundaryOf, labelOf, utf8 } from './part-headers.ts'
import { takeFile, type TakenFile, type TakingOutside } from './take-file.ts'

export interface Form {
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** In order of arrival; images by their numbers, if all have one. */
  readonly files: readonly TakenFile[]
}

/** About twenty are known. */
const MAX_FIELDS = 64
/** Chunks held before they are joined: each takes some hundred bytes besides its own, which may be one. */
const MAX_CHUNKS = 1000

/**
 * Always read as bytes, whatever else the part says. Clients write an image of several in three ways; a number with more digits than
 * any client would write is not a number.
 */
const FILE_NAME = /^(?:(image|mask)(?:\[\])?|(image)\[(\d{1,6})\]|(markup))$/

/** Before it rejects, it discards all files of the request. A disk failure is not the caller's fault: it rejects with `StoreUnreachable`. */
export async function readForm(request: IncomingMessage, outside: TakingOutside): Promise<Form> {
  const { limits } = outside
  const boundary = boundaryOf(request.headers['content-type'])
  const body = new IncomingBytes(request, {
    ...gatewayBounds(limits)['POST /images/edits'].form,
    idleMs: limits.uploadIdleMs,
  })
  const taking = new FormTaking(outside)
  try {
    for await (const part of new MultipartParts(body, boundary, outside.yieldOnArrival))
      await taking.take(part)
    return taking.form()
  } catch (error) {
    await taking.discard()
    throw error
  } finally {
    body.release()
  }
}

interface NumberedFile {
  readonly file: TakenFile
  /** As in `image[3]`. */
  readonly number: number | undefined
}

class FormTaking {
  readonly #outside: TakingOutside
  readonly #fields = new Map<string, string>()
  #textBytes = 0
  readonly #files: NumberedFile[] = []

  constructor(outside: TakingOutside) {
    this.#outside = outside
  }

  async take({ headers, bytes }: Part): Promise<void> {
    const { name, hasFilename } = labelOf(headers)
    const [, listed, numbered, digits, markup] = FILE_NAME.exec(name) ?? []
    const field = (listed ?? numbered ?? markup) as TakenFile['field'] | undefined
    if (field !== undefined) await this.#takeFile(name, field, digits, bytes)
    else if (hasFilename) throw refused(name, 'is a file. Send files as image, mask or markup only')
    else await this.#takeText(name, bytes)
  }

  form(): Form {
    const isNumbered = this.#files.every(({ file, number }) => file.field !== 'image' || number !== undefined)
    // A mask has no number and may come anywhere: only images have an order.
    const files = isNumbered
      ? this.#files.toSorted((left, right) => (left.number ?? 0) - (right.number ?? 0))
      : this.#files
    return { fields: [...this.#fields], files: files.map(({ file }) => file) }
  }

  async discard(): Promise<void> {
    await Promise.all(this.#files.map(({ file }) => file.upload.discard()))
  }

  async #takeFile(
    name: string,
    field: TakenFile['field'],
    digits: string | undefined,
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const before = this.#files.filter(({ file }) => file.field === field)
    const { maxEditPictures } = this.#outside.limits
    if (field === 'image' && before.length === maxEditPictures)
      throw refused(
        field,
        `was sent more than ${maxEditPictures} times. Send at most ${maxEditPictures} images`,
      )
    if (field !== 'image' && before.length > 0) throw refused(field, 'was sent twice. Send one')
    const number = digits === undefined ? undefined : Number(digits)
    if (number !== undefined && before.some((other) => other.number === number))
      throw refused(name, 'was sent twice. Give each image its own number')
    const called = name === field && before.length === 0 ? name : calledOf(field, number ?? before.length)
    this.#files.push({ file: await takeFile(bytes, field, this.#outside, called), number })
  }

  async #takeText(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    if (this.#fields.has(name)) throw refused(name, 'was sent twice. Send one')
    if (this.#fields.size === MAX_FIELDS)
      throw refused(name, `is one field too many. Send at most ${MAX_FIELDS}`)
    const { imagesBodyBytes: maxBytes } = this.#outside.limits
    const chunks: Uint8Array[] = []
    for await (const chunk of bytes) {
      this.#textBytes += chunk.length
      if (this.#textBytes > maxBytes)
        throw new Fault('body_too_large', `The fields have more than ${maxBytes} bytes in total.`, {
          param: name,
        })
      if (chunks.push(chunk) === MAX_CHUNKS) chunks.splice(0, MAX_CHUNKS, Buffer.concat(chunks))
    }
    const text = utf8(Buffer.concat(chunks))
    if (text === undefined) throw refused(name, 'is not UTF-8 text')
    this.#fields.set(name, text)
  }
}

function calledOf(field: TakenFile['field'], number: number): string {
  return field === 'image' ? `image[${number}]` : field
}

function refused(name: string, words: string): Fault {
  return new Fault('invalid_parameter', `${name} ${words}.`, { param: name })
}
