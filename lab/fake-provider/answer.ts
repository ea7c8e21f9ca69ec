import { keyOf } from './contents.ts'
import { drifted, noisy, swapEnds, type VectorKind } from './drift.ts'
import { lengthOf, obeyedText, readText } from './obeyed-fields.ts'
import type { Scenario } from './traits.ts'
import { base64Of, numberText, truncated, vectorOf, wideNumberText } from './vectors.ts'
import { widthOf, type Answer, type Encoding, type Item, type Question, type Wire } from './wire.ts'

/** The name in answers of a scenario with `other-model`. */
export const OTHER_MODEL = 'another-model'

/** The vectors of a question with every flaw the scenario asks for. */
export function answerOf(scenario: Scenario, wire: Wire, question: Question, callNumber: number): Answer {
  const items = question.texts.map((text, index) => ({
    index,
    vector: vectorAt(scenario, question, index, { text, callNumber }),
    tokens: question.tokens[index] ?? 0,
  }))
  if (scenario.vectors === 'swapped') swapEnds(items)
  const total = question.tokens.reduce((sum, count) => sum + count, 0)
  let damaged = false
  return {
    question: scenario.has('other-model') ? { ...question, model: OTHER_MODEL } : question,
    items: rearranged(scenario, wire, items),
    encoding: encodingFor(scenario, question),
    usage: scenario.has('no-usage') ? null : total,
    extraFields: scenario.has('extra-fields'),
    text(vector: Float32Array, encoding: Encoding): string {
      const typed = scenario.has('obeys-fields') ? obeyedText(question.fields, vector, encoding) : null
      if (typed !== null) return typed
      if (encoding === 'float')
        return scenario.has('wide-floats') ? wideNumberText(vector) : numberText(vector)
      const base64 = base64Of(vector)
      if (damaged || !scenario.has('bad-base64')) return `"${base64}"`
      damaged = true
      return `"!${base64.slice(1)}"`
    },
  }
}

/** The kind of drift of one text in a call. Null: its vector is the right one. */
export function driftOf(
  { vectors, amount }: Scenario,
  texts: readonly string[],
  text: string,
): VectorKind | null {
  const bytes = amount('drifts-at-N')
  if (texts.length < (amount('drifts-from-N') ?? 0)) return null
  return bytes === undefined || Buffer.byteLength(text) === bytes ? vectors : null
}

function encodingFor(scenario: Scenario, question: Question): Encoding {
  if (scenario.has('base64-only')) return 'base64'
  if (scenario.has('ignores-encoding')) return 'float'
  return question.encoding ?? 'float'
}

function vectorAt(
  scenario: Scenario,
  question: Question,
  index: number,
  { text, callNumber }: { text: string; callNumber: number },
): Float32Array {
  const content = question.contents?.[index]
  const imageSpace = scenario.has('other-image-encoder') ? 'other image encoder: ' : ''
  const key = content === undefined ? text : keyOf(content, imageSpace)
  const kind = driftOf(scenario, question.texts, text)
  const vector = drifted(kind, vectorFor(scenario, question, key), key)
  const millionths = scenario.amount('image-noise-N')
  const isImage = content?.some(({ kind }) => kind === 'image') === true
  if (millionths === undefined || !isImage) return vector
  return noisy(vector, { size: millionths / 1e6, seed: `${callNumber} ${key}` })
}

function vectorFor(scenario: Scenario, question: Question, asked: string): Float32Array {
  const { model, dimensions, fields } = question
  const width = widthOf(model)
  const isObeying = scenario.has('obeys-fields')
  const text = isObeying ? readText(question, asked) : asked
  const made = vectorOf(scenario.has('other-space') ? `other space: ${text}` : text, width)
  const vector = isObeying ? made.map((value) => value * lengthOf(fields)) : made
  if (dimensions === null || dimensions === width || scenario.has('ignores-dimensions')) return vector
  return scenario.has('unscaled-dimensions') ? vector.slice(0, dimensions) : truncated(vector, dimensions)
}

function rearranged(scenario: Scenario, wire: Wire, items: Item[]): Item[] {
  const first = items.at(0)
  const last = items.at(-1)
  if (first === undefined || last === undefined || scenario.has('empty-data')) return []
  if (scenario.has('nan')) first.vector[0] = Number.NaN
  if (scenario.has('infinite')) first.vector[0] = Number.POSITIVE_INFINITY
  if (scenario.has('zero-vector')) first.vector.fill(0)
  if (scenario.has('mixed-width')) last.vector = last.vector.subarray(0, -1)
  if (scenario.has('wrong-width')) for (const item of items) item.vector = item.vector.subarray(0, -1)
  if (scenario.has('duplicate-index')) last.index = first.index
  const kept = scenario.has('wrong-count') ? items.slice(0, -1) : items
  return wire.indexed && scenario.has('shuffled') ? shuffled(kept) : kept
}

/** Odd positions first, then the even ones backwards: never the original order for two items or more. */
function shuffled(items: Item[]): Item[] {
  const odd = items.filter((_, position) => position % 2 === 1)
  const even = items.filter((_, position) => position % 2 === 0)
  return [...odd, ...even.reverse()]
}
