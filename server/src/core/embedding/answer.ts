/** From a scanned answer to vectors in input order: count, index and shape are the upstream's claims, and are checked. */
import { BoundedMap } from '../structure/bounded-map.ts'
import type { ScannedAnswer } from './answer-scan.ts'
import { BrokenAnswer } from '../fault/broken-answer.ts'
import { withoutByteOrderMark } from '../text/json-text.ts'
import { isRecord } from '../text/record.ts'
import type { Usage } from '../money/usage.ts'
import type { Vector } from './vector.ts'

/** An error object in place of the vectors, despite a status of success. */
export class ErrorInAnswer extends BrokenAnswer {
  readonly error: unknown

  constructor(error: unknown) {
    super('an answer without a data array')
    this.error = error
  }
}

export interface OrderedAnswer {
  readonly vectors: readonly Vector[]
  readonly usage: Usage
  /** As the upstream names it. Undefined: it does not. */
  readonly model: string | undefined
  readonly extraFields: Readonly<Record<string, unknown>>
}

const OPENAI_FIELDS: ReadonlySet<string> = new Set(['object', 'data', 'model', 'usage'])
const NO_FIELDS: Readonly<Record<string, unknown>> = Object.freeze({})

/** The answer to one input as OpenAI writes it, with or without white space: by far the most common form, and not worth a parse. */
const PLAIN_SINGLE =
  /^\s*\{\s*"object"\s*:\s*"list"\s*,\s*"data"\s*:\s*\[\s*\{\s*"object"\s*:\s*"embedding"\s*,\s*"index"\s*:\s*0\s*,\s*"embedding"\s*:\s*0\s*\}\s*\]\s*,\s*"model"\s*:\s*"([^"\\]*)"\s*,\s*"usage"\s*:\s*\{\s*"prompt_tokens"\s*:\s*(0|[1-9]\d{0,9})\s*,\s*"total_tokens"\s*:\s*\d+\s*\}\s*\}\s*$/

/** The tokens and the model of such an answer. */
interface PlainSingle {
  readonly usage: Usage
  readonly model: string | undefined
}

/** Skeletons of that form with what they say: an upstream's answers to short texts differ in few counts. At most 128 KB. */
const REMEMBERED_SKELETONS = 256
const REMEMBERED_LENGTH = 512
const skeletons = new BoundedMap<string, PlainSingle>(REMEMBERED_SKELETONS)

/** Undefined for an answer of another form. */
function plainSingle(skeleton: string): PlainSingle | undefined {
  const isShort = skeleton.length <= REMEMBERED_LENGTH
  const known = isShort ? skeletons.get(skeleton) : undefined
  if (known !== undefined) return known
  const plain = PLAIN_SINGLE.exec(skeleton)
  if (plain === null) return undefined
  const found: PlainSingle = { usage: { kind: 'measured', tokens: Number(plain[2]) }, model: plain[1] }
  if (isShort) skeletons.set(skeleton, found)
  return found
}

export function orderAnswer(
  { skeleton: text, vectors }: Pick<ScannedAnswer, 'skeleton' | 'vectors'>,
  expected: number,
): OrderedAnswer {
  if (expected === 1 && vectors.length === 1) {
    const plain = plainSingle(text)
    if (plain !== undefined)
      return { vectors, usage: plain.usage, model: plain.model, extraFields: NO_FIELDS }
  }
  const skeleton = parseSkeleton(text)
  const { data } = skeleton
  if (!Array.isArray(data)) throw withoutVectors(skeleton)
  return {
    vectors: orderVectors(data, vectors, expected),
    usage: usageIn(skeleton['usage']),
    model: modelIn(skeleton),
    extraFields: extraFieldsOf(skeleton),
  }
}

/** Vectors in input order. Each item of `data` holds the ordinal of its vector, and an index where the upstream sends one. */
export function orderVectors(
  data: readonly unknown[],
  vectors: readonly Vector[],
  expected: number,
): readonly Vector[] {
  if (data.length !== expected) throw new BrokenAnswer(`${data.length} vectors for ${expected} inputs`)

  const ordered = Array.from<Vector | undefined>({ length: expected })
  const used = new Set<number>()
  for (const [position, item] of data.entries()) {
    if (!isRecord(item)) throw new BrokenAnswer('a data item that is not an object')
    const ordinal = item['embedding']
    const vector = typeof ordinal === 'number' ? vectors[ordinal] : undefined
    if (vector === undefined || used.has(ordinal as number))
      throw new BrokenAnswer('a data item without a vector', { isLasting: true })
    used.add(ordinal as number)
    // Servers without any index answer in order.
    const index = item['index'] ?? position
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= expected) {
      throw new BrokenAnswer(`index ${JSON.stringify(index)} for ${expected} inputs`)
    }
    if (ordered[index] !== undefined) throw new BrokenAnswer(`index ${index} twice`)
    ordered[index] = vector
  }
  if (used.size !== vectors.length) throw new BrokenAnswer('a vector outside of its data')
  return ordered as Vector[]
}

export function parseSkeleton(text: string): Readonly<Record<string, unknown>> {
  const skeleton = parsed(text)
  if (isRecord(skeleton)) return skeleton
  throw new BrokenAnswer('an answer that is not a JSON object', { isLasting: true })
}

/** The fault of an answer in which the vectors have no place: it may hold an error instead. */
export function withoutVectors(skeleton: Readonly<Record<string, unknown>>): BrokenAnswer {
  const error = errorIn(skeleton)
  return error === undefined
    ? new BrokenAnswer('an answer without a data array', { isLasting: true })
    : new ErrorInAnswer(error)
}

/** Nested as OpenAI writes it, or flat. Undefined: there is none. */
function errorIn(skeleton: Readonly<Record<string, unknown>>): unknown {
  const { error, object, message } = skeleton
  if (error) return error
  return object === 'error' && typeof message === 'string' ? skeleton : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(withoutByteOrderMark(text))
  } catch {
    throw new BrokenAnswer('an answer that is not JSON')
  }
}

/** The model that answered. Undefined: the answer does not name it. */
export function modelIn(answer: unknown): string | undefined {
  const model = isRecord(answer) ? answer['model'] : undefined
  return typeof model === 'string' ? model : undefined
}

/** The reported counts, zero included: for a server that does not count, its capability `countsTokens` is false. */
function usageIn(usage: unknown): Usage {
  if (!isRecord(usage)) return { kind: 'unknown' }
  const tokens = usage['prompt_tokens'] ?? usage['total_tokens']
  return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0
    ? { kind: 'measured', tokens }
    : { kind: 'unknown' }
}

export function extraFieldsOf(
  skeleton: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  let extra: Record<string, unknown> | undefined
  for (const name in skeleton) {
    if (OPENAI_FIELDS.has(name)) continue
    // Without a prototype, a field called `__proto__` is a field like any other.
    extra ??= Object.create(null) as Record<string, unknown>
    extra[name] = skeleton[name]
  }
  return extra ?? NO_FIELDS
}
