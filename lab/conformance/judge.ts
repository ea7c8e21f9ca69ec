/** Says whether a client's answer is the right one, against vectors that are known in advance. */
import { base64Of, fromBase64, truncated, vectorOf } from '../fake-provider/vectors.ts'
import type { Client } from './clients.ts'
import type { Case, Expectation } from './rows.ts'
import type { ClientAnswer } from './run-client.ts'
import { textsIn } from './texts.ts'
import { judgeError, wordsOf, type Verdict } from './verdict.ts'

/** What the programs print of vectors. */
export interface Vectors {
  /** Base64 of little-endian float32. */
  readonly vectors: readonly string[]
  /** Where the library tells its user. */
  readonly tokens?: number
}

/** Truncation may be done in float32 or in doubles, here or upstream. */
const tolerance = 1e-6

type ExpectedVectors = Extract<Expectation, { kind: 'vectors' }>

export function judge(client: Client, asked: Case, answer: ClientAnswer<Vectors>): Verdict {
  const { expected } = asked
  if (expected.kind === 'error') {
    const instead = answer.ok ? `${answer.vectors.length} vectors` : answer.error
    return judgeError(client, expected, instead)
  }
  const all = textsIn(asked.inputs).map((text) => client.sent(text))
  const texts = asked.single ? all.slice(0, 1) : all
  const wanted = `${texts.length} vectors of ${expected.width} values`
  if (!answer.ok) return { result: 'wrong', expected: wanted, got: wordsOf(answer.error) }
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
