/** The lines of a chunk: what each asks for, and which of them one request can carry together. */
import { readEmbeddingRequest, type EmbeddingRequest } from '../embedding/request.ts'
import { inputCount, joinInputs } from '../embedding/input.ts'
import { Fault } from '../fault/fault.ts'
import { isBlank, LineSplitter } from '../files/lines.ts'
import { isRecord } from '../text/record.ts'
import { type Tags } from '../money/labels.ts'
import { withBatchTags } from '../request/labels.ts'

/** One line of the input file. Bytes and lines count from the beginning of the chunk. */
export interface BatchLine {
  readonly firstByte: number
  /** Counts from 0. */
  readonly number: number
  readonly customId: string
  /** Undefined when the line asks for nothing that can run; the fault says why. */
  readonly request: EmbeddingRequest | undefined
  readonly fault: Fault | undefined
}

/** Lines that one request carries together. */
export type LineRun = readonly [RunnableLine, ...RunnableLine[]]

export interface RunnableLine extends BatchLine {
  readonly request: EmbeddingRequest
}

/** How lines are read. */
export interface LineReading {
  /** Maximum of one request. */
  readonly maxInputs: number
  /** UTF-8, without a byte order mark. */
  readonly textOf: (bytes: Uint8Array) => string
  /** Tags of the batch: each line without tags has these. */
  readonly tags?: Tags | undefined
}

/** Parsed on first use: parsing a whole chunk at once would block the event loop for tens of milliseconds. */
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

/** The upload has checked the frame of every line; here the body is read as its route reads it. */
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

/** Lines whose inputs one call can carry: everything else in them leads to the same vectors. */
export interface LineGroup {
  readonly model: string
  readonly lines: readonly RunnableLine[]
}

/**
 * Groups lines by what changes their vectors, wherever they are: model, dimensions, input type, types and kind of input. The
 * encoding affects only how a result is written. `takesUser`: whether an upstream of the model receives the `user`; then a
 * call has one. Lines with a field that Torana does not know go alone, since it may connect the inputs of one line.
 */
export class LineGroups {
  readonly #takesUser: (model: string) => boolean
  readonly #groups = new Map<string, { readonly model: string; readonly lines: RunnableLine[] }>()

  constructor(takesUser: (model: string) => boolean) {
    this.#takesUser = takesUser
  }

  /** False when the line asks for nothing that can run. */
  add(line: BatchLine): boolean {
    if (!isRunnable(line)) return false
    const name = this.#nameOf(line)
    const group = this.#groups.get(name)
    if (group === undefined) this.#groups.set(name, { model: line.request.model, lines: [line] })
    else group.lines.push(line)
    return true
  }

  get all(): readonly LineGroup[] {
    return [...this.#groups.values()]
  }

  #nameOf({ number, request }: RunnableLine): string {
    const { model, dimensions, inputType, user, types, extraFields, input } = request
    const alone = Object.keys(extraFields).length > 0 ? number : undefined
    return JSON.stringify([
      model,
      dimensions,
      inputType,
      types?.types,
      input.kind,
      this.#takesUser(model) ? user : null,
      alone,
    ])
  }
}

/** The lines from the given one on that go into the next request, up to `maxInputs` inputs; at least one. */
export function runFrom({ lines }: LineGroup, first: number, maxInputs: number): LineRun {
  const [lead, ...others] = lines.slice(first)
  const taken: [RunnableLine, ...RunnableLine[]] = [lead as RunnableLine]
  let inputs = inputCount(taken[0].request.input)
  for (const line of others) {
    inputs += inputCount(line.request.input)
    if (inputs > maxInputs) break
    taken.push(line)
  }
  return taken
}

/** The one request that asks for all inputs of the lines. */
export function requestOf(lines: LineRun): EmbeddingRequest {
  const [{ request }] = lines
  const all = lines.map((line) => line.request)
  const isSame = (field: 'user' | 'encoding'): boolean => all.every((one) => one[field] === request[field])
  return {
    ...request,
    input: joinInputs(all.map(({ input }) => input)),
    // Each result is written in its own line's encoding; base64 has the same bits in fewer bytes.
    encoding: isSame('encoding') ? request.encoding : 'base64',
    user: isSame('user') ? request.user : undefined,
  }
}

function isRunnable(line: BatchLine): line is RunnableLine {
  return line.request !== undefined
}
