import { test } from 'node:test'
import assert from 'node:assert/strict'
import { newBatch } from '../../words/en/new-batch.ts'
import type { EmbeddingModel } from './choices.ts'
import { whyNot, type Readiness } from './why-not.ts'

const ready: Readiness = {
  hasFile: true,
  isReading: false,
  choices: { model: {} as EmbeddingModel, textColumn: 'body' },
  estimate: { problems: [] },
  isAllowed: true,
}
const { why } = newBatch.estimate

const CASES: readonly (readonly [what: string, change: Partial<Readiness>, why: string | undefined])[] = [
  ['nothing is missing', {}, undefined],
  ['no right', { isAllowed: false, hasFile: false }, why.forbidden],
  ['a file is being read', { isReading: true }, why.reading],
  ['no file', { hasFile: false }, why.noFile],
  ['no text column', { choices: { ...ready.choices, textColumn: undefined } }, why.noText],
  ['no model', { choices: { ...ready.choices, model: undefined } }, why.noModel],
  ['no estimate yet', { estimate: undefined }, why.noEstimate],
  ['the estimate says why', { estimate: { problems: ['It is so.', 'And so.'] } }, 'It is so.'],
]

for (const [what, change, expected] of CASES)
  test(`${what}: ${expected ?? 'it can run'}`, () => assert.equal(whyNot({ ...ready, ...change }), expected))
