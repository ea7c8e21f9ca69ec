/** The results of a chunk so far, and the part that is made of them. */
import type { ChunkCounts } from '#core/batch/chunk.ts'
import type { BatchLine, LineRun } from '#core/batch/line.ts'
import { headText, MAX_MAKERS, type PartHead, type PartRanges } from '#core/batch/part.ts'
import { ANSWER_TAIL, answerHead, EXPIRED, expiredLine, refusedLine } from '#core/batch/result.ts'
import { inputCount } from '#core/embedding/input.ts'
import { Makers } from '#core/embedding/made-vectors.ts'
import { typedFields } from '#core/embedding/typed-text.ts'
import { asciiOf, base64Of, jsonOf, type Vector } from '#core/embedding/vector.ts'
import type { Fault } from '#core/fault/fault.ts'
import { asciiJson } from '#core/text/json-text.ts'
import { usageText, type AnswerUsage } from '#core/embedding/usage-text.ts'
import type { EmbedResult } from '../embeddings/embed-result.ts'
import { usageOfEach } from '../embeddings/usage-of-each.ts'
import { PartBytes } from './part-bytes.ts'

/** Size of a head with a few faults and deployments. */
const HEAD_BYTES = 1024

export interface ResultTerms {
  readonly batchId: string
  /** The number of the chunk's first line in the file. */
  readonly firstLine: number
  readonly docsUrl: string
  readonly bytesOf: (text: string) => number
}

type NamedLine = Pick<BatchLine, 'number' | 'customId'>

interface MakingSpan {
  readonly fromMs: number
  readonly untilMs: number
}

interface MadePart {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly head: PartHead
  readonly headBytes: number
}

export class ChunkResults {
  readonly #terms: ResultTerms
  readonly #output = new PartBytes()
  readonly #errors: string[] = []
  #errorBytes = 0
  #completed = 0
  #failed = 0
  #expired = 0
  #outputTokens = 0
  #part: MadePart | undefined
  readonly #faults = new Map<string, number>()
  readonly #makers = new Makers()

  constructor(terms: ResultTerms) {
    this.#terms = terms
  }

  /** `span`: from the request for the vectors until their arrival, in Unix milliseconds. */
  answered(lines: LineRun, result: EmbedResult, requestId: string, span: MakingSpan): void {
    const { model, vectors, views, usage, extraFields } = result
    const used = usageOfEach(
      usage,
      lines.map(({ request }) => request.input),
      model,
      this.#terms.bytesOf,
    )
    let first = 0
    for (const [index, line] of lines.entries()) {
      const { model: asked, encoding, input } = line.request
      const count = inputCount(input)
      this.#output.write(answerHead({ ...this.#idsOf(line), requestId }, 200))
      this.#output.write('{"object":"list","data":[')
      for (let place = 0; place < count; place += 1)
        writeItem(this.#output, vectors[first + place] as Vector, place, encoding, views)
      first += count
      let end = `],"model":${asciiJson(asked)},"usage":${usageText(used[index] as AnswerUsage)}`
      for (const name in extraFields) end += `,${asciiJson(name)}:${asciiJson(extraFields[name])}`
      this.#output.write(`${end}}${ANSWER_TAIL}`)
    }
    this.#completed += lines.length
    this.#addMakers(lines, result, span)
  }

  #addMakers(lines: LineRun, result: EmbedResult, span: MakingSpan): void {
    const { space, guardedSpace = '', served, hits } = result
    const named = { space: guardedSpace, isUnnamed: space === undefined || undefined }
    const hasTexts = lines[0].request.input.kind !== 'contents'
    for (const { offer, slots, answer } of served) {
      const largest = hasTexts ? { inputs: slots.length, tokens: answer.usage.tokens } : undefined
      this.#makers.add({ ...named, deployment: offer.deployment.id, ...span, largest })
    }
    for (const { deployment, madeAtMs } of hits)
      this.#makers.add({ ...named, deployment, fromMs: madeAtMs, untilMs: madeAtMs })
  }

  /** Whether the part takes no further result, because its head could not name every deployment that made one. */
  get isFull(): boolean {
    return this.#makers.size >= MAX_MAKERS
  }

  /** `body`: the answer's body, in ASCII. */
  made(line: NamedLine, body: readonly string[], outputTokens: number, requestId: string): void {
    this.#output.write(answerHead({ ...this.#idsOf(line), requestId }, 200))
    for (const piece of body) this.#output.write(piece)
    this.#output.write(ANSWER_TAIL)
    this.#completed += 1
    this.#outputTokens += outputTokens
  }

  refused(lines: readonly NamedLine[], fault: Fault, requestId: string): void {
    for (const line of lines)
      this.#addError(refusedLine({ ...this.#idsOf(line), requestId }, fault, this.#terms.docsUrl))
    this.#countFailed(lines.length, fault.code)
  }

  expired(lines: readonly NamedLine[]): void {
    for (const line of lines) this.#addError(expiredLine(this.#idsOf(line)))
    this.#countFailed(lines.length, EXPIRED)
    this.#expired += lines.length
  }

  #addError(text: string): void {
    this.#errors.push(text)
    this.#errorBytes += text.length
  }

  #countFailed(lines: number, code: string): void {
    this.#failed += lines
    this.#faults.set(code, (this.#faults.get(code) ?? 0) + lines)
  }

  /** Size of the part so far, its head included. */
  get bytes(): number {
    return HEAD_BYTES + this.#output.size + this.#errorBytes
  }

  get outputBytes(): number {
    return this.#output.size
  }

  get counts(): ChunkCounts {
    return {
      completed: this.#completed,
      failed: this.#failed,
      expired: this.#expired,
      // The ledger records what the lines used.
      tokens: 0,
      costNanoUsd: 0n,
      outputTokens: this.#outputTokens,
      faults: Object.fromEntries(this.#faults),
    }
  }

  /** The blob, and what its head says. Repeated calls return the same: nothing is added afterwards. */
  part(ranges: PartRanges): MadePart {
    this.#part ??= this.#made(ranges)
    return this.#part
  }

  #made({ done, rest }: PartRanges): MadePart {
    const head: PartHead = {
      counts: this.counts,
      outputBytes: this.#output.size,
      errorBytes: this.#errorBytes,
      done,
      rest,
      made: this.#makers.all,
    }
    for (const line of this.#errors) this.#output.write(line)
    const text = headText(head)
    return { bytes: this.#output.behind(text), head, headBytes: text.length }
  }

  /** From here on the bytes belong to others. */
  release(): void {
    this.#output.release()
  }

  #idsOf({ number, customId }: NamedLine): { readonly lineId: string; readonly customId: string } {
    const { batchId, firstLine } = this.#terms
    return { lineId: `batch_req_${batchId.slice('batch_'.length)}_${firstLine + number}`, customId }
  }
}

/** Bytes stay bytes: a string would be built only to be split again. */
function writeItem(
  output: PartBytes,
  vector: Vector,
  index: number,
  encoding: 'float' | 'base64',
  views: EmbedResult['views'],
): void {
  const item = `${index === 0 ? '' : ','}{"object":"embedding","index":${index},`
  if (views !== undefined) {
    output.write(`${item}${typedFields(vector, views, encoding, asciiOf)}}`)
    return
  }
  const opening = `${item}"embedding":`
  if (encoding === 'base64') {
    output.write(`${opening}"`)
    output.write(vector.form === 'base64Bytes' ? vector.bytes : base64Of(vector))
    output.write('"}')
  } else {
    output.write(opening)
    output.write(jsonOf(vector))
    output.write('}')
  }
}
