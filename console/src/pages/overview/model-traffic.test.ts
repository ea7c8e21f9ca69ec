import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelsIn } from './model-traffic.ts'

const flow = (
  key: string,
  model: string,
  deployment: string | null,
  requests: number,
  p95: number | null,
) => ({
  key,
  model,
  deployment: deployment === null ? null : `${model}/${deployment}`,
  requests,
  failed: 0,
  tokens: 0,
  images: 0,
  usd: '0.000000000',
  p95_ms: p95,
})
const brief = (model: string, upstream: string, state: 'healthy' | 'ejected') => ({
  id: `${model}/${upstream}`,
  model,
  kind: 'embedding' as const,
  upstream,
  state,
  until: null,
  since: '2026-11-16T00:00:00.000Z',
  ends_on: null,
})

test('flows of all keys add up to their model, the busiest first, with what is ill and the cache at last', () => {
  const models = modelsIn(
    [
      flow('a/one', 'small', 'openai', 2, 100),
      flow('a/two', 'small', 'openai', 3, 300),
      flow('a/two', 'small', null, 4, null),
      flow('b/one', 'large', 'openai', 20, 50),
    ],
    [
      brief('small', 'azure', 'ejected'),
      brief('small', 'openai', 'healthy'),
      brief('gone', 'azure', 'ejected'),
    ],
  )
  assert.deepEqual(
    models.map(({ model, requests, parts }) => [
      model,
      requests,
      parts.map(({ name, state, requests: own, p95Ms }) => [name, state, own, p95Ms]),
    ]),
    [
      ['large', 20, [['openai', 'healthy', 20, 50]]],
      [
        'small',
        9,
        [
          ['openai', 'healthy', 5, 300],
          ['azure', 'ejected', 0, null],
          ['', 'healthy', 4, null],
        ],
      ],
    ],
  )
})
