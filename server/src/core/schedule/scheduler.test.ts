import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { seeded } from '#test/support/seeded.ts'
import type { CallEnd } from './deployment.ts'
import type { DeploymentLimits } from '../limits/limit.ts'
import { DEPLOYMENT_STATES, Scheduler, type PickResult, type Schedulable } from './scheduler.ts'

interface Given {
  readonly priority?: number
  readonly weight?: number
  readonly emulated?: readonly string[]
  readonly limits?: DeploymentLimits
}

function offer(id: string, { priority = 0, weight = 1, emulated = [], limits }: Given = {}): Schedulable {
  return { deployment: { id, priority, weight, limits }, emulated }
}

class Bench {
  readonly scheduler: Scheduler
  readonly random = seeded(3)
  nowMs = 0

  constructor(nodes = 1) {
    this.scheduler = new Scheduler({ nodes: () => nodes })
  }

  pick(offers: readonly Schedulable[], tokens = 10, isRetry = false): PickResult<Schedulable> {
    return this.scheduler.pick(offers, { nowMs: this.nowMs, random: this.random, tokens, images: 0, isRetry })
  }

  go(offers: readonly Schedulable[], tokens = 10): Extract<PickResult<Schedulable>, { kind: 'go' }> {
    const picked = this.pick(offers, tokens)
    assert.ok(picked.kind === 'go', JSON.stringify(picked))
    return picked
  }

  /** One call with a duration. */
  call(offers: readonly Schedulable[], end: CallEnd['kind'] = 'ok', durationMs = 50): string {
    const { offer, end: ended } = this.go(offers)
    this.nowMs += durationMs
    if (end === 'ok' || end === 'refused' || end === 'failed') ended({ kind: end, durationMs }, this.nowMs)
    else if (end === 'limited') ended({ kind: end, retryAfterMs: undefined }, this.nowMs)
    else ended({ kind: end }, this.nowMs)
    return offer.deployment.id
  }

  state(id: string): string | undefined {
    return this.scheduler.states(this.nowMs).find(({ deployment }) => deployment === id)?.state
  }
}

test('a deployment that waits for its comparison may be let in at any moment, a quarantined one may not: callers get the first reason', () => {
  const bench = new Bench()
  const offers = [offer('new'), offer('bad')]
  bench.scheduler.hold('new', 'held-back')
  bench.scheduler.hold('bad', 'quarantined')
  assert.deepEqual(bench.pick(offers), { kind: 'none', untilMs: Infinity, why: 'held-back' })
  assert.deepEqual([bench.state('new'), bench.state('bad')], ['held-back', 'quarantined'])
  bench.scheduler.hold('new', 'quarantined')
  assert.deepEqual(bench.pick(offers), { kind: 'none', untilMs: Infinity, why: 'quarantined' })
  bench.scheduler.hold('new', undefined)
  assert.equal(bench.call(offers), 'new')
})

test('an offer of a deployment that was withdrawn gets no turn, not even as a probe, and leaves nothing behind', () => {
  const withdrawn = new Set<unknown>()
  const scheduler = new Scheduler({ nodes: () => 1, isWithdrawn: (one) => withdrawn.has(one) })
  const [before, other] = [offer('one'), offer('other')]
  const asking = { nowMs: 0, random: () => 0, tokens: 1, images: 0 }
  const idOf = (offers: readonly ReturnType<typeof offer>[]) => {
    const picked = scheduler.pick(offers, asking)
    if (picked.kind !== 'go') return picked
    picked.end({ kind: 'ok', durationMs: 1 }, 0)
    return picked.offer.deployment.id
  }
  assert.equal(idOf([before, other]), 'one')
  withdrawn.add(before.deployment)
  scheduler.forgetAllBut(new Set(['other']))
  assert.equal(idOf([before, other]), 'other')
  assert.deepEqual(idOf([before]), { kind: 'none', untilMs: Infinity, why: 'held-back' })
  assert.deepEqual(
    scheduler.states(0).map(({ deployment }) => deployment),
    ['other'],
  )
  // Another deployment under its id.
  assert.equal(idOf([offer('one'), other]), 'one')
})

test('priority goes first, then native before emulating; a re-wrapping is no emulation', () => {
  const bench = new Bench()
  const offers = [
    offer('spare', { priority: 1, weight: 1000 }),
    offer('emulating', { emulated: ['dimensions'], weight: 1000 }),
    offer('native', { emulated: ['encoding_format'], weight: 0.001 }),
  ]
  for (let call = 0; call < 50; call += 1) assert.equal(bench.call(offers), 'native')
  bench.scheduler.hold('native', 'quarantined')
  for (let call = 0; call < 50; call += 1) assert.equal(bench.call(offers), 'emulating')
  bench.scheduler.hold('emulating', 'quarantined')
  assert.equal(bench.call(offers), 'spare')
  bench.scheduler.hold('spare', 'quarantined')
  assert.deepEqual(bench.pick(offers), { kind: 'none', untilMs: Infinity, why: 'quarantined' })
  bench.scheduler.hold('native', undefined)
  assert.equal(bench.call(offers), 'native')
})

test('a tier that is full is left for the next; when all are full it is worth waiting', () => {
  const bench = new Bench()
  const offers = [
    offer('first', { limits: { concurrency: 3 } }),
    offer('second', { priority: 1, limits: { concurrency: 2 } }),
  ]
  const went = [1, 2, 3, 4, 5].map(() => bench.go(offers).offer.deployment.id)
  assert.deepEqual(went, ['first', 'first', 'first', 'second', 'second'])
  assert.deepEqual(bench.pick(offers), { kind: 'full' })
})

test('idle equals share by weight', () => {
  const bench = new Bench()
  const offers = [offer('one'), offer('nine', { weight: 9 })]
  let ones = 0
  for (let call = 0; call < 5000; call += 1) if (bench.call(offers) === 'one') ones += 1
  assert.ok(ones > 400 && ones < 600, String(ones))
})

test('under load what is under way is shared by weight', () => {
  const bench = new Bench()
  const offers = [offer('one', { weight: 1 }), offer('three', { weight: 3 })]
  for (let call = 0; call < 64; call += 1) bench.go(offers)
  const [one, three] = bench.scheduler.states(0)
  const ratio = (three?.inFlight ?? 0) / (one?.inFlight ?? 1)
  assert.ok(ratio > 2 && ratio < 4.5, String(ratio))
})

test('one whose first calls were slow gets its share back once it is quick, within seconds', () => {
  const bench = new Bench()
  const offers = [offer('quick'), offer('other')]
  let others = 0
  for (let call = 0; bench.nowMs < 30_000; call += 1) {
    const { offer, end } = bench.go(offers)
    const isOther = offer.deployment.id === 'other'
    if (isOther && bench.nowMs > 15_000) others += 1
    const durationMs = isOther && bench.nowMs < 3000 ? 300 : 3
    bench.nowMs += durationMs
    end({ kind: 'ok', durationMs }, bench.nowMs)
  }
  assert.ok(others > 1000, `${others} of 5000`)
})

test('one ten times as slow gets next to nothing, and a trial now and then', () => {
  const bench = new Bench()
  const offers = [offer('quick'), offer('slow')]
  let slow = 0
  for (let call = 0; call < 2000; call += 1) {
    const { offer, end } = bench.go(offers)
    const durationMs = offer.deployment.id === 'slow' ? 500 : 50
    if (durationMs === 500) slow += 1
    bench.nowMs += durationMs
    end({ kind: 'ok', durationMs }, bench.nowMs)
  }
  assert.ok(slow >= 2 && slow < 40, String(slow))
})

test('a failing deployment is left alone, then probed by one request at a time, then back', () => {
  const bench = new Bench()
  const offers = [offer('ill'), offer('spare', { priority: 1 })]
  for (let call = 0; call < 5; call += 1) bench.call(offers, 'failed', 1)
  assert.equal(bench.state('ill'), 'ejected')
  for (let call = 0; call < 10; call += 1) assert.equal(bench.call(offers, 'ok', 50), 'spare')
  bench.nowMs += 1000
  const probe = bench.go(offers)
  assert.deepEqual([probe.offer.deployment.id, probe.isProbe], ['ill', true])
  assert.equal(bench.go(offers).offer.deployment.id, 'spare')
  probe.end({ kind: 'ok', durationMs: 10 }, bench.nowMs)
  for (let call = 0; call < 2; call += 1) assert.equal(bench.call(offers), 'ill')
  assert.equal(bench.state('ill'), 'healthy')
})

test('a retry is no probe while another deployment is healthy', () => {
  const bench = new Bench()
  const offers = [offer('ill'), offer('spare', { priority: 1 })]
  for (let call = 0; call < 5; call += 1) bench.call(offers, 'failed', 1)
  bench.nowMs += 5000
  const picked = bench.pick(offers, 10, true)
  assert.ok(picked.kind === 'go' && picked.offer.deployment.id === 'spare')
})

test('Retry-After closes a deployment, is bounded, and is no illness', () => {
  for (const [retryAfterMs, closedMs] of [
    [3000, 3000],
    [7_200_000, 60_000],
  ] as const) {
    const bench = new Bench()
    const offers = [offer('one')]
    bench.go(offers).end({ kind: 'limited', retryAfterMs }, 0)
    assert.deepEqual(bench.pick(offers), { kind: 'none', untilMs: closedMs, why: 'limited' })
    bench.nowMs = closedMs
    const { isProbe } = bench.go(offers)
    assert.equal(isProbe, false)
  }
})

test('without Retry-After it is asked again later each time; answers to calls already sent count once', () => {
  const bench = new Bench()
  const offers = [offer('one')]
  for (const closedMs of [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000]) {
    const calls = [bench.go(offers)]
    for (let next = bench.pick(offers); next.kind === 'go'; next = bench.pick(offers)) calls.push(next)
    for (const { end } of calls) end({ kind: 'limited', retryAfterMs: undefined }, bench.nowMs + 1)
    bench.nowMs += 1
    const picked = bench.pick(offers)
    assert.ok(picked.kind === 'none' && picked.why === 'limited')
    assert.equal(picked.untilMs - bench.nowMs, closedMs)
    bench.nowMs = picked.untilMs
  }
  bench.call(offers, 'ok')
  bench.go(offers).end({ kind: 'limited', retryAfterMs: undefined }, bench.nowMs)
  const picked = bench.pick(offers)
  assert.ok(picked.kind === 'none' && picked.untilMs - bench.nowMs === 250)
})

test("a node keeps within its share of a deployment's limits a minute", () => {
  const limits = { requestsPerMinute: 120, tokensPerMinute: 60_000 }
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 2000 }), (nodes, tokens) => {
      const bench = new Bench(nodes)
      const offers = [offer('one', { limits })]
      let sent = 0
      for (; bench.nowMs < 120_000; bench.nowMs += 50) {
        const picked = bench.pick(offers, tokens)
        if (picked.kind !== 'go') continue
        sent += 1
        picked.end({ kind: 'ok', durationMs: 1 }, bench.nowMs)
      }
      // The amount of a minute at once, and of two more minutes.
      assert.ok(sent <= (3 * 120) / nodes + 1)
      assert.ok(sent * tokens <= (3 * 60_000) / nodes + tokens)
    }),
    runs(30),
  )
})

test('a call that was never sent gives back what it took of the limits', () => {
  const bench = new Bench()
  const offers = [offer('one', { limits: { requestsPerMinute: 1 } })]
  for (let call = 0; call < 10; call += 1) bench.go(offers).end({ kind: 'abandoned' }, 0)
  bench.go(offers)
  assert.equal(bench.pick(offers).kind, 'none')
})

test('a hang is noticed after a second, not after its time-out', () => {
  const bench = new Bench()
  const offers = [offer('hanging'), offer('spare', { priority: 1 })]
  for (let call = 0; call < 20; call += 1) bench.call(offers)
  const hung = bench.go(offers)
  bench.nowMs += 950
  assert.equal(bench.go(offers).offer.deployment.id, 'hanging')
  bench.nowMs += 101
  assert.equal(bench.go(offers).offer.deployment.id, 'spare')
  assert.equal(bench.state('hanging'), 'ejected')
  hung.end({ kind: 'ok', durationMs: 1051 }, bench.nowMs)
  assert.equal(bench.state('hanging'), 'healthy')
})

test('a long input may take its time where short ones are quick', () => {
  const bench = new Bench()
  const offers = [offer('one'), offer('spare', { priority: 1 })]
  for (let call = 0; call < 20; call += 1) bench.call(offers)
  bench.go(offers, 100_000)
  bench.nowMs += 5000
  assert.equal(bench.go(offers).offer.deployment.id, 'one')
})

test('hung calls take no room from those after them', () => {
  const bench = new Bench()
  const offers = [offer('one')]
  for (let call = 0; call < 20; call += 1) bench.call(offers)
  for (let next = bench.pick(offers); next.kind === 'go'; next = bench.pick(offers));
  bench.nowMs += 30_000
  assert.equal(bench.go(offers).offer.deployment.id, 'one')
})

test('a wrong credential sends callers elsewhere for half a minute', () => {
  const bench = new Bench()
  const offers = [offer('refusing'), offer('spare', { priority: 1 })]
  bench.call(offers, 'rejectedUs', 0)
  bench.nowMs = 29_999
  assert.equal(bench.call(offers, 'ok', 0), 'spare')
  bench.nowMs = 30_000
  assert.equal(bench.call(offers, 'ok', 0), 'refusing')
})

test('an end that is reported twice counts once; a forgotten deployment starts from nothing', () => {
  const bench = new Bench()
  const offers = [offer('one'), offer('two')]
  const { end } = bench.go(offers)
  bench.go(offers)
  for (let time = 0; time < 9; time += 1) end({ kind: 'failed', durationMs: 1 }, 0)
  assert.equal(
    bench.scheduler.states(0).reduce((sum, { inFlight }) => sum + inFlight, 0),
    1,
  )
  assert.ok(bench.scheduler.states(0).every(({ state }) => state === 'healthy'))
  bench.scheduler.forgetAllBut(new Set(['two']))
  assert.deepEqual(
    bench.scheduler.states(0).map(({ deployment }) => deployment),
    ['two'],
  )
})

test('whatever happens, no call goes where none may go, and all that went comes home', () => {
  const ids = ['a', 'b', 'c']
  const step = fc.record({
    kind: fc.constantFrom('pick', 'pick', 'pick', 'end', 'end', 'quarantine'),
    which: fc.nat(),
    end: fc.constantFrom<CallEnd['kind']>(
      'ok',
      'ok',
      'refused',
      'limited',
      'failed',
      'rejectedUs',
      'abandoned',
    ),
    afterMs: fc.oneof(fc.nat(30), fc.nat(3000)),
  })
  const given = fc.record({
    priority: fc.nat(1),
    weight: fc.constantFrom(0, 1, 5),
    limits: fc.record({ concurrency: fc.integer({ min: 1, max: 8 }) }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.tuple(given, given, given), (steps, givens) => {
      const bench = new Bench()
      const offers = ids.map((id, index) => offer(id, givens[index]))
      const quarantined = new Set<string>()
      const out: {
        readonly id: string
        readonly sentMs: number
        readonly end: (end: CallEnd, nowMs: number) => void
      }[] = []
      for (const { kind, which, end, afterMs } of steps) {
        bench.nowMs += afterMs
        if (kind === 'pick') {
          const picked = bench.pick(offers)
          if (picked.kind === 'none') assert.ok(picked.untilMs > bench.nowMs)
          if (picked.kind !== 'go') continue
          const { id, limits } = picked.offer.deployment
          assert.ok(!quarantined.has(id))
          assert.equal(bench.state(id), picked.isProbe ? 'probing' : 'healthy')
          out.push({ id, sentMs: bench.nowMs, end: picked.end })
          assert.ok(out.filter((call) => call.id === id).length <= (limits?.concurrency ?? 0))
        } else if (kind === 'end' && out.length > 0) {
          const [call] = out.splice(which % out.length, 1)
          const durationMs = bench.nowMs - (call?.sentMs ?? 0)
          if (end === 'limited') call?.end({ kind: end, retryAfterMs: which % 5000 }, bench.nowMs)
          else call?.end({ kind: end, durationMs }, bench.nowMs)
        } else if (kind === 'quarantine') {
          const id = ids[which % 3] as string
          const isQuarantined = !quarantined.delete(id)
          if (isQuarantined) quarantined.add(id)
          bench.scheduler.hold(id, isQuarantined ? 'quarantined' : undefined)
        }
      }
      for (const { end } of out) end({ kind: 'abandoned' }, bench.nowMs)
      assert.ok(bench.scheduler.states(bench.nowMs).every(({ inFlight }) => inFlight === 0))
    }),
    runs(2000),
  )
})

test('a drained deployment gets no more calls and no probes, what is under way ends, and its siblings take over', () => {
  const bench = new Bench()
  const [one, two] = [offer('one'), offer('two')]
  const underWay = bench.go([one])
  bench.scheduler.drain('one', true)
  for (let call = 0; call < 20; call += 1) assert.equal(bench.call([one, two]), 'two')
  underWay.end({ kind: 'ok', durationMs: 50 }, bench.nowMs)
  assert.equal(
    bench.scheduler.states(bench.nowMs).find(({ deployment }) => deployment === 'one')?.inFlight,
    0,
  )
  bench.scheduler.drain('two', true)
  assert.deepEqual(bench.pick([one, two]), { kind: 'none', untilMs: Infinity, why: 'drained' })
  assert.deepEqual([bench.state('one'), bench.state('two')], ['drained', 'drained'])
  bench.scheduler.drain('one', false)
  assert.equal(bench.call([one, two]), 'one')
})

const one = offer('one')
/** What happens to a deployment, the state that is reported then, and for how long it is closed. */
const REPORTS: readonly (readonly [
  state: (typeof DEPLOYMENT_STATES)[number],
  happens: (bench: Bench) => void,
  closedForMs?: number,
])[] = [
  ['drained', ({ scheduler }) => scheduler.drain('one', true)],
  ['held-back', ({ scheduler }) => scheduler.hold('one', 'held-back')],
  ['healthy', () => {}],
  ['limited', (bench) => bench.go([one]).end({ kind: 'limited', retryAfterMs: 5000 }, bench.nowMs), 5000],
  [
    'probing',
    (bench) => {
      bench.call([one], 'rejectedUs')
      bench.nowMs += 30_000
      bench.go([one])
    },
  ],
  ['ejected', (bench) => bench.go([one]).end({ kind: 'rejectedUs' }, bench.nowMs), 30_000],
  ['quarantined', ({ scheduler }) => scheduler.hold('one', 'quarantined')],
]

test('the states of a deployment are reported from the least to the worst for callers', () => {
  assert.deepEqual(
    DEPLOYMENT_STATES,
    REPORTS.map(([state]) => state),
  )
})

for (const [state, happens, closedForMs] of REPORTS)
  test(`a deployment that is ${state} is reported as such, closed for ${closedForMs ?? 'no'} ms`, () => {
    const bench = new Bench()
    bench.call([one])
    happens(bench)
    const [report] = bench.scheduler.states(bench.nowMs)
    assert.deepEqual(
      [report?.state, report?.closedUntilMs],
      [state, closedForMs === undefined ? undefined : bench.nowMs + closedForMs],
    )
  })

test('the last healthy one of several deployments is not ejected unless it is dead', () => {
  const bench = new Bench()
  const offers = [offer('bad', { priority: 1 }), offer('good')]
  bench.scheduler.drain('bad', true)
  for (let call = 0; call < 100; call += 1) bench.call(offers, 'ok', 1)
  for (let call = 0; call < 6; call += 1) bench.call(offers, 'failed', 1)
  assert.equal(bench.state('good'), 'healthy')
  bench.scheduler.drain('bad', false)
  for (let call = 0; call < 6 && bench.state('good') === 'healthy'; call += 1) bench.call(offers, 'failed', 1)
  assert.equal(bench.state('good'), 'ejected')
})

for (const [usualMs, afterMs, state] of [
  [50, 999, 'healthy'],
  [50, 1000, 'ejected'],
  [200, 1999, 'healthy'],
  [200, 2000, 'ejected'],
] as const)
  test(`a call that usually takes ${usualMs} ms leaves its deployment ${state} after ${afterMs} ms without an answer`, () => {
    const bench = new Bench()
    const offers = [one, offer('spare', { priority: 1 })]
    for (let call = 0; call < 10; call += 1) bench.call(offers, 'ok', usualMs)
    bench.go(offers)
    bench.nowMs += afterMs
    assert.equal(bench.state('one'), state)
  })
