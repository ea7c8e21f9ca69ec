/** Says whether a client's answer is the right one, against vectors that are known in advance. */
import { base64Of, fromBase64, truncated, vectorOf } from '../tools/fake-provider/vectors.ts'
import type { Client } from './clients.ts'
import type { Case, Expectation, ExpectedError } from './rows.ts'
import type { ClientAnswer, ClientError } from './run-client.ts'
import { textsIn } from './texts.ts'
import { upstreamKey } from './torana.ts'

/** `close` is within the tolerance where equality was asked for. */
export type Verdict =
  | { readonly result: 'right' | 'close' }
  | { readonly result: 'wrong'; readonly expected: string; readonly got: string }

/** Truncation may be done in float32 or in doubles, here or upstream. */
const tolerance = 1e-6

type ExpectedVectors = Extract<Expectation, { kind: 'vectors' }>

export function judge(client: Client, asked: Case, answer: ClientAnswer): Verdict {
  const { expected } = asked
  if (expected.kind === 'error') return judgeError(client, expected, answer)
  const all = textsIn(asked.inputs).map((text) => client.sent(text))
  const texts = asked.single ? all.slice(0, 1) : all
  const wanted = `${texts.length} vectors of ${expected.width} values`
  if (!answer.ok) return { result: 'wrong', expected: wanted, got: textOf(answer.error) }
  if (answer.vectors.length !== texts.length) {
    return { result: 'wrong', expected: wanted, got: `${answer.vectors.length} vectors` }
  }
  if (answer.tokens !== undefined && !(Number.isInteger(answer.tokens) && answer.tokens > 0)) {
    return { result: 'wrong', expected: 'usage in tokens', got: String(answer.tokens) }
  }
  return judgeVectors(expected, texts, answer.vectors)
}

function judgeVectors(expected: ExpectedVectors, texts: readonly string[], got: readonly string[]): Verdict {
  const narrow = expected.width !== expected.nativeWidth
  let exact = true
  for (const [index, text] of texts.entries()) {
    const wanted = narrow ? narrowVector(text, expected) : fullVector(text, expected.nativeWidth)
    if (got[index] === wanted) continue
    exact = false
    const distance = distanceOf(fromBase64(wanted), fromBase64(got[index] as string))
    if (distance <= tolerance) continue
    const where = `the vector of inputs[${index}] (${JSON.stringify(text.slice(0, 40))})`
    return { result: 'wrong', expected: where, got: `one that differs by up to ${distance}` }
  }
  return { result: exact || narrow ? 'right' : 'close' }
}

function judgeError(client: Client, expected: ExpectedError, answer: ClientAnswer): Verdict {
  const className = client.errorClass(expected.status)
  const wanted = `${className} ${expected.status} ${expected.code}: … ${expected.says} …`
  if (answer.ok) return { result: 'wrong', expected: wanted, got: `${answer.vectors.length} vectors` }
  const { error } = answer
  const right =
    error.class === className &&
    error.status === expected.status &&
    error.code === expected.code &&
    error.message.includes(expected.says) &&
    (expected.retryAfter === undefined || error.retryAfter === expected.retryAfter)
  if (!right) return { result: 'wrong', expected: wanted, got: textOf(error) }
  if (!error.requestId) return { result: 'wrong', expected: 'a request id', got: textOf(error) }
  if (error.message.includes(upstreamKey)) {
    return { result: 'wrong', expected: "no word of the upstream's key", got: textOf(error) }
  }
  return { result: 'right' }
}

function textOf({ class: className, status, code, message, retryAfter }: ClientError): string {
  const wait = retryAfter ? ` (retry after ${retryAfter})` : ''
  return `${className} ${status ?? 'without status'} ${code ?? 'without code'}${wait}: ${message}`
}

function distanceOf(wanted: Float32Array, got: Float32Array): number {
  if (wanted.length !== got.length) return Infinity
  let distance = 0
  for (const [position, value] of wanted.entries()) {
    const difference = Math.abs(value - (got[position] as number))
    // NaN is smaller than nothing, so it must not be left to the comparison.
    if (!(difference <= distance)) distance = Number.isNaN(difference) ? Infinity : difference
  }
  return distance
}

const known = new Map<string, string>()

/** Made once for all clients. */
function fullVector(text: string, width: number): string {
  return remembered(`${width} ${text}`, () => vectorOf(text, width))
}

function narrowVector(text: string, { nativeWidth, width }: ExpectedVectors): string {
  return remembered(`${nativeWidth} ${width} ${text}`, () => truncated(vectorOf(text, nativeWidth), width))
}

function remembered(name: string, make: () => Float32Array): string {
  const kept = known.get(name)
  if (kept !== undefined) return kept
  const made = base64Of(make())
  known.set(name, made)
  return made
}
