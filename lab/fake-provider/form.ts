import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { Refusal } from './wire.ts'

/** A file that came with a call. */
export type Part = {
  /** The name of the form's field, or the path within a JSON body: `images/0`. */
  name: string
  filename: string | null
  type: string | null
  bytes: number
  /** Null for what came as an address, which is not fetched. */
  sha256: string | null
  url?: string
  /** Null when it is not here: an address, or more bytes than are kept. */
  content: Buffer | null
}

/** A form as it arrived. */
export type Form = {
  texts: { name: string; text: string }[]
  parts: Part[]
  /** Of texts and files, as they came. */
  names: string[]
}

/** Longer texts are refused: the longest prompt has 32,000 characters. */
const maxTextBytes = 1024 * 1024

/** Reads a form while it arrives. Of its files it always takes the sum, and the bytes as long as `keep` allows. */
export class FormReader {
  readonly #form: Form = { texts: [], parts: [], names: [] }
  readonly #busboy: BusboyInstance
  readonly #keep: (bytes: number) => boolean
  readonly #finished: Promise<void>
  #keeps = true
  #failure: Error | null = null
  #failed = () => {}

  constructor(contentType: string, keep: (bytes: number) => boolean) {
    this.#keep = keep
    this.#busboy = busboyOf(contentType)
    this.#busboy.on('file', (name, stream, filename, _, type) => this.#take(name, stream, filename, type))
    this.#busboy.on('field', (name, text, _, isCut) => {
      if (isCut) this.#fail(new Error(`'${name}' has more than ${maxTextBytes} bytes`))
      this.#form.names.push(name)
      this.#form.texts.push({ name, text })
    })
    this.#finished = new Promise((resolve) => {
      this.#failed = resolve
      this.#busboy.once('finish', resolve)
    })
    this.#busboy.on('error', (error) => this.#fail(error as Error))
  }

  /** Resolves when more may come. What follows a mistake is let pass. */
  async write(chunk: Buffer): Promise<void> {
    if (this.#failure !== null) return
    const written = new Promise<void>((resolve) => this.#busboy.write(chunk, () => resolve()))
    await Promise.race([written, this.#finished])
  }

  async end(): Promise<Form> {
    if (this.#failure === null) this.#busboy.end()
    await this.#finished
    if (this.#failure !== null)
      throw new Refusal(400, `We could not parse the form of your request: ${this.#failure.message}.`)
    return this.#form
  }

  #take(name: string, stream: Readable, filename: string | undefined, type: string): void {
    const part: Part = { name, filename: filename ?? null, type, bytes: 0, sha256: null, content: null }
    this.#form.names.push(name)
    this.#form.parts.push(part)
    const hash = createHash('sha256')
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => {
      hash.update(chunk)
      part.bytes += chunk.length
      if (this.#keeps && !this.#keep(chunk.length)) this.#drop()
      if (this.#keeps) chunks.push(chunk)
      else chunks.length = 0
    })
    stream.once('end', () => {
      part.sha256 = hash.digest('hex')
      part.content = this.#keeps ? Buffer.concat(chunks) : null
      chunks.length = 0
    })
    stream.on('error', (error) => this.#fail(error))
  }

  /** All or nothing: a picture without its mask is of no use. */
  #drop(): void {
    this.#keeps = false
    for (const part of this.#form.parts) part.content = null
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#failed()
  }
}

function busboyOf(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { fieldSize: maxTextBytes },
      preservePath: true,
    })
  } catch (error) {
    throw new Refusal(400, `We could not parse the form of your request: ${String(error)}.`)
  }
}
