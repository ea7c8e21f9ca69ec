/** The lines of a chunk: what each asks for, and which of them one request can carry together. */
import { readEmbeddingRequest, type EmbeddingRequest } from '../embedding/request.ts'
import { inputCount } from '../embedding/input.ts'
import { Fault } from '../fault/fault.ts'
import { isBlank, LineSplitter } from '../files/lines.ts'
import { isRecord } from '../record.ts'
import { type Tags } from '../labels.ts'
import { withBatchTags } from '../request/labels.ts'

/** One line of the input file. Bytes and lines count from the beginning of the chunk. */
export interface BatchLine {
  readonly firstByte: number
  /** Counts from 0. */
  readonly number: number
  readonly customId: string
  /** Undefined: the line asks for nothing that can be run; the fault says why. */
  readonly request: EmbeddingRequest | undefined
  readonly fault: Fault | undefined
}

/** Consecutive lines that one request can carry together. */
export type LineRun = readonly [RunnableLine, ...RunnableLine[]]

interface RunnableLine extends BatchLine {
  readonly request: EmbeddingRequest
}

/** How lines are read. */
export interface LineReading {
  /** Of one request. */
  readonly maxInputs: number
  /** UTF-8, without a byte order mark. */
  readonly textOf: (bytes: Uint8Array) => string
  /** Of the batch: each line has these, unless it has its own. */
  readonly tags?: Tags | undefined
}

/** Is read when somebody asks: reading a whole chunk at once would hold the event loop for tens of milliseconds. */
class UnreadLine implements BatchLine {
  readonly firstByte: number
  readonly number: number
  readonly #bytes: Uint8Array
  readonly #reading: LineReading
  #asked: AskedLine | undefined

  constructor(bytes: Uint8Array, place: Pick<BatchLine, 'firstByte' | 'number'>, reading: LineReading) {
    this.firstByte = place.firstByte
    this.number = place.number
    this.#bytes = bytes
    this.#reading = reading
  }

  get customId(): string {
    return this.#read().customId
  }

  get request(): EmbeddingRequest | undefined {
    return this.#read().request
  }

  get fault(): Fault | undefined {
    return this.#read().fault
  }

  #read(): AskedLine {
    this.#asked ??= askedBy(this.#reading.textOf(this.#bytes), this.#reading)
    return this.#asked
  }
}

type AskedLine = Pick<BatchLine, 'customId' | 'request' | 'fault'>

/** Blank lines count as lines and ask for nothing. */
export function linesIn(bytes: Uint8Array, reading: LineReading): readonly BatchLine[] {
  const splitter = new LineSplitter({ firstLine: 0, firstByte: 0 })
  const lines: BatchLine[] = []
  for (const { number, firstByte, content } of [...splitter.push(bytes), ...splitter.end()]) {
    if (content === undefined)
      throw new RangeError(`line ${number} of a chunk is longer than a file may have it`)
    if (!isBlank(content)) lines.push(new UnreadLine(content, { firstByte, number }, reading))
  }
  return lines
}

/** The upload has looked at the frame of every line; here the body is read as the route reads it. */
function askedBy(text: string, { maxInputs, tags }: Omit<LineReading, 'textOf'>): AskedLine {
  let customId = ''
  try {
    const line: unknown = JSON.parse(text)
    if (!isRecord(line)) throw new Fault('invalid_json', 'The line is not a JSON object.')
    if (typeof line['custom_id'] === 'string') customId = line['custom_id']
    const request = readEmbeddingRequest(line['body'], maxInputs)
    const tagged = tags === undefined ? request : { ...request, tags: withBatchTags(request.tags, tags) }
    return { customId, request: tagged, fault: undefined }
  } catch (error) {
    const fault = error instanceof Fault ? error : new Fault('invalid_json', 'The line is not JSON.')
    return { customId, request: undefined, fault }
  }
}

/**
 * The lines from the given one on that go into the next request: as many as have equal options, up to so many inputs. Lines
 * with a field that Torana does not know go alone, since it may connect the inputs of one line.
 */
export function runFrom(lines: readonly BatchLine[], first: number, maxInputs: number): LineRun | undefined {
  const lead = lines[first]
  if (lead === undefined || !isRunnable(lead)) return undefined
  const taken: [RunnableLine, ...RunnableLine[]] = [lead]
  const options = optionsOf(lead.request)
  let inputs = inputCount(lead.request.input)
  for (let index = first + 1; index < lines.length; index += 1) {
    const line = lines[index] as BatchLine
    if (options === undefined || !isRunnable(line) || optionsOf(line.request) !== options) break
    inputs += inputCount(line.request.input)
    if (inputs > maxInputs) break
    taken.push(line)
  }
  return taken
}

function isRunnable(line: BatchLine): line is RunnableLine {
  return line.request !== undefined
}

/** Undefined: the line can't share a request. */
function optionsOf(request: EmbeddingRequest): string | undefined {
  const { model, dimensions, encoding, inputType, user, extraFields, input } = request
  if (Object.keys(extraFields).length > 0) return undefined
  return JSON.stringify([model, dimensions, encoding, inputType, user, input.kind])
}
