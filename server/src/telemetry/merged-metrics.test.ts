import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mergeMetrics } from './merged-metrics.ts'

/** As one worker writes it. */
function textOf(requests: number, seconds: readonly number[], memory: number): string {
  const below = (bound: number): number => seconds.filter((one) => one <= bound).length
  const sum = seconds.reduce((total, one) => total + one, 0)
  return [
    '# HELP requests_total Requests.',
    '# TYPE requests_total counter',
    `requests_total{model="a model with a space }"} ${requests}`,
    '# HELP duration_seconds Durations.',
    '# TYPE duration_seconds histogram',
    ...[1, 2].map((bound) => `duration_seconds_bucket{le="${bound}"} ${below(bound)}`),
    `duration_seconds_bucket{le="+Inf"} ${seconds.length}`,
    `duration_seconds_sum ${sum}`,
    `duration_seconds_count ${seconds.length}`,
    '# HELP memory_bytes Memory.',
    '# TYPE memory_bytes gauge',
    `memory_bytes ${memory}`,
    '',
  ].join('\n')
}

test('counters and histograms of workers are added up, gauges carry the number of their worker', () => {
  const merged = mergeMetrics([
    { text: textOf(3, [0.5], 10), worker: '1' },
    { text: textOf(4, [1.5, 9], 20), worker: '2' },
    { text: textOf(5, [], 30), worker: undefined },
  ])
  assert.equal(
    merged,
    [
      '# HELP requests_total Requests.',
      '# TYPE requests_total counter',
      'requests_total{model="a model with a space }"} 12',
      '# HELP duration_seconds Durations.',
      '# TYPE duration_seconds histogram',
      'duration_seconds_bucket{le="1"} 1',
      'duration_seconds_bucket{le="2"} 2',
      'duration_seconds_bucket{le="+Inf"} 3',
      'duration_seconds_sum 11',
      'duration_seconds_count 3',
      '# HELP memory_bytes Memory.',
      '# TYPE memory_bytes gauge',
      'memory_bytes{worker="1"} 10',
      'memory_bytes{worker="2"} 20',
      '',
    ].join('\n'),
  )
})

test('what was merged can be merged again: the past of ended workers is never lost', () => {
  const one = fc.record({ requests: fc.nat(1000), seconds: fc.array(fc.integer({ min: 0, max: 5 })) })
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 6 }), fc.nat(), (workers, at) => {
      const parts = workers.map(({ requests, seconds }) => ({
        text: textOf(requests, seconds, 1),
        worker: undefined,
      }))
      const cut = at % parts.length
      const past = { text: mergeMetrics(parts.slice(0, cut)), worker: undefined }
      const sorted = (text: string): string[] => text.split('\n').toSorted()
      assert.deepEqual(sorted(mergeMetrics([...parts.slice(cut), past])), sorted(mergeMetrics(parts)))
    }),
  )
})
