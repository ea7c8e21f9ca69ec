import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { CallEnd } from './deployment.ts'
import { Scheduler, type Schedulable } from './scheduler.ts'

const ONE: Schedulable = {
  deployment: {
    id: 'one',
    priority: 0,
    weight: 1,
    limits: { concurrency: 3, requestsPerMinute: 60, tokensPerMinute: 5000 },
  },
  emulated: [],
}
/** It gets no more turns, so the scheduler chooses between two, although the other one is the only one. */
const GONE: Schedulable = { deployment: { id: 'gone', priority: 0, weight: 1 }, emulated: [] }

const anyEnd: fc.Arbitrary<CallEnd> = fc.oneof(
  fc.record({ kind: fc.constant('ok' as const), durationMs: fc.option(fc.nat(2000), { nil: undefined }) }),
  fc.record({ kind: fc.constant('refused' as const), durationMs: fc.nat(2000) }),
  fc.record({
    kind: fc.constant('limited' as const),
    retryAfterMs: fc.option(fc.nat(5000), { nil: undefined }),
  }),
  fc.record({ kind: fc.constant('failed' as const), durationMs: fc.nat(2000) }),
  fc.constantFrom<CallEnd>({ kind: 'rejectedUs' }, { kind: 'unclear' }, { kind: 'abandoned' }),
)

const anyStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('pick' as const),
      tokens: fc.nat(3000),
      project: fc.constantFrom('a', 'b', undefined),
      isRetry: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('end' as const), which: fc.nat(), end: anyEnd }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('wait' as const), ms: fc.nat(3000) }) },
  fc.record({
    what: fc.constant('hold' as const),
    why: fc.constantFrom('quarantined' as const, 'held-back' as const, undefined),
  }),
  fc.record({ what: fc.constant('drain' as const), isDrained: fc.boolean() }),
)

test('one deployment gets the same calls, whether or not it is chosen among several', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 80 }), (steps) => {
      const isWithdrawn = ({ id }: Schedulable['deployment']): boolean => id === 'gone'
      const alone = new Scheduler({ nodes: () => 1, isWithdrawn })
      const among = new Scheduler({ nodes: () => 1, isWithdrawn })
      const underWay: ((end: CallEnd, nowMs: number) => void)[] = []
      let nowMs = 1000
      for (const step of steps) {
        if (step.what === 'wait') nowMs += step.ms
        else if (step.what === 'hold') for (const one of [alone, among]) one.hold('one', step.why)
        else if (step.what === 'drain') for (const one of [alone, among]) one.drain('one', step.isDrained)
        else if (step.what === 'end') {
          const [end] = underWay.splice(step.which % Math.max(1, underWay.length), 1)
          end?.(step.end, nowMs)
        } else {
          const { tokens, project, isRetry } = step
          const request = { nowMs, random: () => 0.5, tokens, images: 0, project, isRetry }
          const [left, right] = [alone.pick([ONE], request), among.pick([GONE, ONE], request)]
          assert.deepEqual(withoutEnd(left), withoutEnd(right))
          if (left.kind === 'go' && right.kind === 'go')
            underWay.push((end, endMs) => (left.end(end, endMs), right.end(end, endMs)))
        }
        assert.deepEqual(alone.states(nowMs), among.states(nowMs))
      }
    }),
  )
})

/** Everything but the function that ends the call. A withdrawn deployment says nothing about when to ask again. */
function withoutEnd(picked: ReturnType<Scheduler['pick']>): object {
  if (picked.kind !== 'go') return picked.kind === 'none' ? { kind: 'none', untilMs: picked.untilMs } : picked
  return { kind: 'go', offer: picked.offer, isProbe: picked.isProbe }
}
