import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DryRun } from '../../api/batch-file.ts'
import { CorpusProfiler, type CorpusProfile } from '../../workers/corpus/profile.ts'
import { countBytes } from '../../workers/corpus/source.ts'
import { newBatch } from '../../words/en/new-batch.ts'
import type { EmbeddingModel } from './choices.ts'
import { estimateBatch, sampleTexts, type BudgetLeft, type EstimateParts } from './estimate.ts'

const model = {
  id: 'm',
  price: [{ amount: '10', unit: 'million tokens', note: null }],
  embedding: { width: 16, narrower: 'any', max_input_tokens: 100 },
} as unknown as EmbeddingModel

function profileOf(texts: readonly string[]): CorpusProfile {
  const profiler = new CorpusProfiler(countBytes)
  for (const body of texts) profiler.add({ body })
  return profiler.result({ kind: 'jsonl' }, () => ({ text: undefined, id: undefined }))
}

/** A token for each character, at $10 for a million. */
function dryRunOf(profile: CorpusProfile, more: Partial<DryRun> = {}): DryRun {
  const tokens = sampleTexts(profile, 'body').map(({ length }) => length)
  const sum = tokens.reduce((total, count) => total + count, 0)
  const likely = (sum / 100_000).toFixed(9)
  return { tokens, token_counts: 'exact', deployments: [{ priority: 0, cost_usd: { likely } }], ...more }
}

function partsOf(texts: readonly string[], more: Partial<EstimateParts> = {}): EstimateParts {
  const profile = profileOf(texts)
  return {
    profile,
    textColumn: 'body',
    badRows: 'skip',
    model,
    dimensions: undefined,
    dryRun: dryRunOf(profile),
    budgets: [],
    completed: [],
    ...more,
  }
}

const budget = (leftUsd: string, hard = true): BudgetLeft => ({
  id: 'project:search',
  name: 'search',
  hard,
  limitUsd: '5.000000000',
  leftUsd,
  endsAt: null,
})

test('lines, tokens and money of a small file are counted exactly', () => {
  const estimate = estimateBatch(partsOf(['a red chair', '', 'a table', 'a table']))
  assert.ok(estimate)
  const { rows, lines, empty, duplicates, tokens, basis, usd, vectorBytes, problems } = estimate
  assert.deepEqual([rows, lines, empty, duplicates, tokens, basis], [4, 3, 1, 1, 25, 'counted'])
  assert.deepEqual([usd, vectorBytes, problems], ['0.000250000', 3 * 16 * 4, []])
})

test('of a large file the cost follows from a sample, and its highest value from the error', () => {
  const texts = Array.from({ length: 20_000 }, (_, row) => 'ax'.repeat(1 + ((row * 7919) % 40)))
  const estimate = estimateBatch(partsOf(texts))
  const all = texts.reduce((sum, { length }) => sum + length, 0)
  assert.ok(estimate)
  assert.equal(estimate.basis, 'sampled')
  assert.ok(Math.abs(Number(estimate.usd) - all / 100_000) / (all / 100_000) < 0.01, String(estimate.usd))
  assert.ok(Number(estimate.highUsd) >= Number(estimate.usd))
})

test('the most expensive of the first deployments counts, and one without a price is no sum', () => {
  const parts = partsOf(['four'])
  const costs = (...deployments: readonly (readonly [priority: number, likely: string])[]) =>
    estimateBatch({
      ...parts,
      dryRun: {
        ...parts.dryRun,
        deployments: deployments.map(([priority, likely]) => ({ priority, cost_usd: { likely } })),
      },
    })?.usd
  assert.equal(costs([1, '0.000000004'], [1, '0.000000009'], [2, '5.000000000']), '0.000000009')
  assert.equal(costs([0, '0.000000004'], [0, 'unpriced']), null)
})

test('a hard budget that the batch does not fit is named with the amount, a soft one is not', () => {
  const exceeding = estimateBatch(partsOf(['a table'], { budgets: [budget('0.000010000')] }))
  assert.deepEqual(exceeding?.exceeds, { id: 'project:search', name: 'search', byUsd: '0.000060000' })
  assert.match(exceeding?.problems[0] ?? '', /^Exceeds the budget for search by \$/)
  const soft = estimateBatch(partsOf(['a table'], { budgets: [budget('0.000010000', false)] }))
  assert.deepEqual([soft?.exceeds, soft?.problems], [undefined, []])
})

test('rows that cannot run are left out, cut, or a reason to stop', () => {
  const texts = ['short', 'x'.repeat(300), '']
  const { why, problems: say } = newBatch.estimate
  const lines = (badRows: EstimateParts['badRows']) => estimateBatch(partsOf(texts, { badRows }))
  assert.deepEqual([lines('skip')?.lines, lines('skip')?.tooLong, lines('skip')?.tokens], [1, 1, 5])
  assert.deepEqual([lines('truncate')?.lines, lines('truncate')?.tokens], [2, 105])
  assert.deepEqual(lines('stop')?.problems, [say.empty('1'), say.tooLong('1')])
  assert.deepEqual(estimateBatch(partsOf(['']))?.problems, [why.noLines])
})

test('without the tokenizer of the model, only the upstream knows what is too long', () => {
  const parts = partsOf(['x'.repeat(300)])
  const estimate = estimateBatch({ ...parts, dryRun: { ...parts.dryRun, token_counts: 'estimated' } })
  assert.deepEqual([estimate?.tooLong, estimate?.basis], [undefined, 'estimated'])
})

test('the time follows from the slowest and the fastest of the last batches of the model', () => {
  const completed = (
    [
      ['m', 100, 10],
      ['m', 400, 10],
      ['m', 49, 0.01],
      ['other', 9000, 1],
    ] as const
  ).map(([of, lines, seconds]) => ({
    model: of,
    lines: { total: lines, completed: lines, failed: 0 },
    created_at: '2026-11-18T00:00:00.000Z',
    ended_at: new Date(Date.UTC(2026, 10, 18) + seconds * 1000).toISOString(),
  }))
  const estimate = estimateBatch(
    partsOf(
      Array.from({ length: 80 }, (_, row) => `text ${row}`),
      { completed },
    ),
  )
  assert.deepEqual([estimate?.linesPerSecond, estimate?.seconds], [10, { low: 2, high: 8 }])
})

test('a dry run gets no more texts than a request takes', () => {
  const long = profileOf(Array.from({ length: 400 }, (_, row) => `${row} ${'x'.repeat(16_000)}`))
  const characters = sampleTexts(long, 'body').reduce((sum, { length }) => sum + length, 0)
  assert.ok(characters <= 1024 * 1024 && characters > 500_000, String(characters))
})
