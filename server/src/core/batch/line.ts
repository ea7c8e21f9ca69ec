/** The lines of a chunk: what each asks for, and which of them one request can carry together. */
import type { EmbeddingRequest } from '../embedding/request.ts'
import { inputCount, joinInputs } from '../embedding/input.ts'
import type { Fault } from '../fault/fault.ts'
import { isBlank, LineSplitter } from '../files/lines.ts'
import type { PlacedLine } from './chunk.ts'

/** A line that is not read yet: reading a whole chunk at once would block the event loop for tens of milliseconds. */
export interface UnreadLine extends PlacedLine {
  readonly content: Uint8Array
}

/** One line of the input file. Bytes and lines count from the beginning of the chunk. */
export interface BatchLine extends PlacedLine {
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

/** Blank lines count as lines and ask for nothing. */
export function linesIn(bytes: Uint8Array): readonly UnreadLine[] {
  const splitter = new LineSplitter({ firstLine: 0, firstByte: 0 })
  const lines: UnreadLine[] = []
  for (const { number, firstByte, content } of [...splitter.push(bytes), ...splitter.end()]) {
    if (content === undefined)
      throw new RangeError(`line ${number} of a chunk is longer than a file may have it`)
    if (!isBlank(content)) lines.push({ number, firstByte, content })
  }
  return lines
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
