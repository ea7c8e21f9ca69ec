/**
 * Reads a file of requests once, while it arrives: the number of requests, where they can be cut into chunks, and the
 * errors of each line. The same bytes give the same result, however they are divided.
 */
import { holdsContents } from '../embedding/read-contents.ts'
import { isPlain } from '../text/storable.ts'
import { isBlank, LineSplitter, type Line } from './lines.ts'
import { isLineError, readRequestLine, type RequestLine, type TextOf } from './request-line.ts'
import type { FileScan, LineError, ScannedChunk, ScannedModel } from './scan-result.ts'

/** Errors listed for a file; more would only fill the answer. */
const MAX_ERRORS = 100
/** Models listed for a file: a corpus is made for one model, seldom for a few. */
const MAX_MODELS = 100
/** Longest name of a model, as for ids elsewhere: each name is stored with the file. */
const MAX_MODEL_LENGTH = 200
/** Characters of a `url` that a message repeats: a hundred messages are stored with the file. */
const SHOWN_URL_LENGTH = 80
/** Requests per file: ten million texts, and a margin. */
const MAX_LINES = 20_000_000
/**
 * Chunks per file: each is a row of a batch. Ten million texts in full chunks are forty thousand; only images need more.
 */
const MAX_CHUNKS = 200_000
/**
 * Inputs per chunk, as many as the largest call of a batch carries: a crash repeats one chunk, and the results of a chunk,
 * 2 MB with 1,536 dimensions, are in memory until it ends.
 */
const CHUNK_INPUTS = 256
/** Contents per chunk: calls carry few images, and a crash repeats all calls of a chunk. */
const CHUNK_CONTENTS = 32
/**
 * Kinds of requests per chunk, each with `CHUNK_INPUTS` inputs: lines that alternate between two models still fill calls.
 * More would be more results in memory, 8 MB with 1,536 dimensions.
 */
const CHUNK_KINDS = 4
/** Bytes per chunk: the batch worker reads a chunk into memory as a whole. */
const CHUNK_BYTES = 4 * 1024 * 1024

/** The name of a request and its line: what is needed to find duplicate names. */
export interface ScannedId {
  readonly customId: string
  readonly line: number
}

interface OpenChunk {
  readonly firstByte: number
  readonly firstLine: number
  /** The kinds of its requests, which can't share a call. Undefined for a request that stays alone. */
  readonly kinds: Set<string> | undefined
  endByte: number
  lines: number
  inputs: number
  /** Its inputs, where a content counts as several. */
  weight: number
}

export class FileScanner {
  readonly #textOf: TextOf
  readonly #splitter = new LineSplitter()
  readonly #models = new Map<string, { firstLine: number; lines: number }>()
  readonly #chunks: ScannedChunk[] = []
  readonly #errors: LineError[] = []
  #errorCount = 0
  #open: OpenChunk | undefined
  #url: string | undefined
  #lines = 0
  #inputs = 0

  constructor(textOf: TextOf) {
    this.#textOf = textOf
  }

  /** The names of the requests that end in this part. */
  push(piece: Uint8Array): readonly ScannedId[] {
    return this.#take(this.#splitter.push(piece))
  }

  /** The last line may have no line break. */
  end(): readonly ScannedId[] {
    return this.#take(this.#splitter.end())
  }

  /** `repeated`: the lines whose names occur in an earlier line, the first hundred of them; and their number. */
  result(repeated: readonly number[], repeatedCount = repeated.length): ScanResult {
    this.#closeChunk()
    const errors = [...this.#errors, ...repeated.map(repeatedError)]
    const wholeFile = this.#fileError()
    errors.sort((one, another) => (one.line ?? 0) - (another.line ?? 0))
    if (wholeFile !== undefined) errors.unshift(wholeFile)
    const errorCount = this.#errorCount + repeatedCount + Number(wholeFile !== undefined)
    const chunks = errorCount === 0 ? this.#chunks : []
    const models = Array.from(this.#models, ([model, seen]): ScannedModel => ({ model, ...seen }))
    return {
      chunks,
      scan: {
        lines: this.#lines,
        inputs: this.#inputs,
        chunks: chunks.length,
        url: this.#url,
        models,
        errors: errors.slice(0, MAX_ERRORS),
        errorCount,
      },
    }
  }

  #take(lines: Iterable<Line>): readonly ScannedId[] {
    const ids: ScannedId[] = []
    for (const line of lines) {
      if (line.content !== undefined && isBlank(line.content)) continue
      this.#lines += 1
      const read = readRequestLine(line, this.#textOf)
      if (isLineError(read)) this.#fail(read)
      else {
        this.#request(line, read)
        ids.push({ customId: read.customId, line: line.number })
      }
    }
    return ids
  }

  #request(line: Line, { url, body }: RequestLine): void {
    const { number } = line
    this.#url ??= url
    if (url !== this.#url)
      this.#fail({
        code: 'url_mismatch',
        message: `url is '${shownUrl(url)}', but an earlier line has '${shownUrl(this.#url)}'. All lines of a file must have one url.`,
        param: 'url',
        line: number,
      })
    this.#seeModel(body['model'], number)
    const inputs = inputsOf(body)
    this.#inputs += inputs
    this.#toChunk(line, inputs, kindOf(url, body))
  }

  #seeModel(model: unknown, line: number): void {
    const wrong = (code: LineError['code'], message: string): void =>
      this.#fail({ code, message, param: 'body.model', line })
    if (typeof model !== 'string')
      return wrong('missing_required_parameter', "Missing required parameter: 'body.model'.")
    // Checked before it is compared: comparing a text of megabytes takes as long as reading it.
    if (model.length > MAX_MODEL_LENGTH)
      return wrong(
        'invalid_request',
        `body.model has ${model.length} characters; at most ${MAX_MODEL_LENGTH} are allowed.`,
      )
    const seen = this.#models.get(model)
    if (seen !== undefined) seen.lines += 1
    else if (!isPlain(model))
      wrong('invalid_request', 'body.model has a control character or half of a surrogate pair.')
    else if (this.#models.size < MAX_MODELS) this.#models.set(model, { firstLine: line, lines: 1 })
    else
      wrong(
        'invalid_request',
        `This line names one model more than the ${MAX_MODELS} that one file may name.`,
      )
  }

  #toChunk({ number, firstByte, endByte }: Line, inputs: number, kind: string | undefined): void {
    const open = this.#open
    const weight = inputs * (kind?.startsWith(CONTENTS) === true ? CHUNK_INPUTS / CHUNK_CONTENTS : 1)
    if (open?.kinds !== undefined && kind !== undefined && endByte - open.firstByte <= CHUNK_BYTES) {
      const kinds = open.kinds.size + Number(!open.kinds.has(kind))
      if (open.weight + weight <= CHUNK_INPUTS * Math.min(kinds, CHUNK_KINDS)) {
        open.kinds.add(kind)
        open.endByte = endByte
        open.lines += 1
        open.inputs += inputs
        open.weight += weight
        return
      }
    }
    this.#closeChunk()
    const kinds = kind === undefined ? undefined : new Set([kind])
    this.#open = { firstByte, firstLine: number, kinds, endByte, lines: 1, inputs, weight }
  }

  #closeChunk(): void {
    if (this.#open === undefined || this.#chunks.length > MAX_CHUNKS) return
    const { firstByte, endByte, firstLine, lines, inputs } = this.#open
    this.#chunks.push({ firstByte, bytes: endByte - firstByte, firstLine, lines, inputs })
    this.#open = undefined
  }

  #fail(error: LineError): void {
    this.#errorCount += 1
    if (this.#errors.length < MAX_ERRORS) this.#errors.push(error)
  }

  #fileError(): LineError | undefined {
    const wrong = (code: LineError['code'], message: string): LineError => ({
      code,
      message,
      param: null,
      line: null,
    })
    if (this.#lines === 0) return wrong('empty_file', 'The file has no requests.')
    if (this.#lines > MAX_LINES)
      return wrong(
        'too_many_tasks',
        `The file has ${this.#lines} requests; at most ${MAX_LINES} are allowed.`,
      )
    if (this.#chunks.length > MAX_CHUNKS)
      return wrong(
        'too_many_tasks',
        `The file needs more than ${MAX_CHUNKS} pieces of work: each image request is one. Split it.`,
      )
    return undefined
  }
}

export interface ScanResult {
  readonly scan: FileScan
  /** Empty when the file has errors: then none of it runs. */
  readonly chunks: readonly ScannedChunk[]
}

function repeatedError(line: number): LineError {
  return {
    code: 'duplicate_custom_id',
    message: 'The custom_id of this line was used in an earlier line. Each line needs its own.',
    param: 'custom_id',
    line,
  }
}

/**
 * Number of texts, contents or lists of tokens, or of requested images. An invalid value counts as one: its line is refused
 * alone.
 */
function inputsOf({ input, inputs, n }: RequestLine['body']): number {
  const given: unknown = inputs ?? input
  if (Array.isArray(given)) return typeof given[0] === 'number' ? 1 : Math.max(1, given.length)
  return typeof n === 'number' && Number.isSafeInteger(n) && n > 0 ? n : 1
}

/** Begins the kinds of requests with contents. */
const CONTENTS = 'contents '

/**
 * What keeps a request from sharing a call with others: the model, the width, the type and the kind of its input. Undefined
 * for an image request, which is a chunk by itself. Invalid values are ignored here: only their line gets the error.
 */
function kindOf(url: string, body: RequestLine['body']): string | undefined {
  if (!url.endsWith('/embeddings')) return undefined
  const { model, dimensions, input_type: type, input } = body
  const first: unknown = Array.isArray(input) ? input[0] : input
  const plain = [model, dimensions, type].map((value) =>
    (typeof value === 'string' && value.length <= MAX_MODEL_LENGTH) || typeof value === 'number'
      ? value
      : null,
  )
  return (holdsContents(body) ? CONTENTS : '') + JSON.stringify([...plain, typeof first === 'string'])
}

function shownUrl(url: string): string {
  return url.length > SHOWN_URL_LENGTH ? `${url.slice(0, SHOWN_URL_LENGTH)}…` : url
}
