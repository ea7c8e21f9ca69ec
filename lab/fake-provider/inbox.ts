import type { IncomingMessage } from 'node:http'
import { FormReader, type Form } from './form.ts'
import { Refusal } from './wire.ts'

/** 2,048 inputs of 8,192 tokens at 4 bytes are 64 MiB; twice that leaves room for JSON escapes. Forms have no bound. */
const maxBufferedBytes = 128 * 1024 * 1024

/** Files of one call beyond this are read for their sums alone. */
export const maxKeptBytes = 64 * 1024 * 1024

/** What the texts of a form and its boundaries may add. */
const formOverheadBytes = 1024 * 1024

/** What files of all calls under way may take, so that fifty large ones at once do not fill the machine. */
const maxKeptBytesTogether = 2 * maxKeptBytes

export class FileMemory {
  #bytes = 0

  reserve(bytes: number): boolean {
    if (this.#bytes + bytes > maxKeptBytesTogether) return false
    this.#bytes += bytes
    return true
  }

  release(bytes: number): void {
    this.#bytes -= bytes
  }
}

export type Received = {
  body: Buffer
  /** Set instead of `body` when the request was a form. A form that can't be read is refused where it is used. */
  form: Form | Refusal | null
}

/** The scenario ends the connection in the middle of the request. */
export class UploadCut extends Error {}

/** The body of one request, read on demand. */
export class Inbox {
  /** How many have arrived. */
  bytes = 0
  readonly #request: IncomingMessage
  readonly #memory: FileMemory
  #keptBytes = 0
  #received: Promise<Received> | undefined

  constructor(request: IncomingMessage, memory: FileMemory) {
    this.#request = request
    this.#memory = memory
  }

  /** The first call decides how; later ones get the same. */
  receive(how: { cutAfterBytes?: number | undefined; keepsFiles?: boolean } = {}): Promise<Received> {
    this.#received ??= this.#read(how)
    return this.#received
  }

  /** The files are no longer needed. */
  release(): void {
    this.#memory.release(this.#keptBytes)
    this.#keptBytes = 0
  }

  async #read({ cutAfterBytes, keepsFiles = true }: Parameters<Inbox['receive']>[0] = {}): Promise<Received> {
    const { 'content-type': contentType = '', 'content-length': contentLength } = this.#request.headers
    const isSmall = Number(contentLength ?? 0) <= maxKeptBytes + formOverheadBytes
    const isForm = /^multipart\/form-data\b/i.test(contentType)
    const form = isForm ? this.#formReader(contentType, keepsFiles && isSmall) : null
    const chunks: Buffer[] = []
    // Left open on an error, so that the server decides how the connection ends.
    for await (const chunk of this.#request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      this.bytes += chunk.length
      if (cutAfterBytes !== undefined && this.bytes >= cutAfterBytes) throw new UploadCut()
      if (form instanceof FormReader) await form.write(chunk)
      else if (form === null) chunks.push(this.#checked(chunk))
    }
    if (form instanceof FormReader) return { body: Buffer.alloc(0), form: await refusalOr(form.end()) }
    return { body: Buffer.concat(chunks), form }
  }

  #formReader(contentType: string, keeps: boolean): FormReader | Refusal {
    try {
      return new FormReader(contentType, (bytes) => keeps && this.#keep(bytes))
    } catch (error) {
      if (error instanceof Refusal) return error
      throw error
    }
  }

  #keep(bytes: number): boolean {
    if (this.#keptBytes + bytes <= maxKeptBytes && this.#memory.reserve(bytes)) {
      this.#keptBytes += bytes
      return true
    }
    this.release()
    return false
  }

  #checked(chunk: Buffer): Buffer {
    if (this.bytes <= maxBufferedBytes) return chunk
    throw new Error(`A request body exceeds ${maxBufferedBytes} bytes.`)
  }
}

async function refusalOr(form: Promise<Form>): Promise<Form | Refusal> {
  try {
    return await form
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}
