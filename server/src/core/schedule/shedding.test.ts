import assert from 'node:assert/strict'
import { test } from 'node:test'
import { meanWaitMs, Shedding } from './shedding.ts'

test('the wait of an event is that at a random moment: one long turn weighs more than many short ones', () => {
  assert.equal(meanWaitMs([], 10), 0)
  assert.equal(meanWaitMs([10, 10, 10], 10), 0)
  assert.equal(meanWaitMs([100], 10), 45)
  assert.equal(meanWaitMs([...Array.from({ length: 10 }, () => 10), 100], 10), 22.5)
})

const PATIENCE_MS = 2000

test('neither a few long turns nor a busy loop that answers in time refuse a request', () => {
  const shedding = new Shedding(PATIENCE_MS)
  for (let look = 0; look < 3; look += 1) shedding.look({ workMs: 800, slowdown: 1, utilization: 1 })
  assert.equal(shedding.share, 0)
  for (let look = 0; look < 100; look += 1) {
    shedding.look({ workMs: 350, slowdown: 1, utilization: 1 })
    assert.equal(shedding.share, 0)
  }
})

test('a node that gets little of its processor refuses nothing that it answers in time', () => {
  const shedding = new Shedding(PATIENCE_MS)
  // 256 requests are ahead of each event, and the process runs a tenth of the time.
  for (let look = 0; look < 100; look += 1) shedding.look({ workMs: 30, slowdown: 10, utilization: 1 })
  assert.equal(shedding.share, 0)
  // A pause of the host: no work is queued.
  for (let look = 0; look < 10; look += 1) shedding.look({ workMs: 2, slowdown: 100, utilization: 1 })
  assert.equal(shedding.share, 0)
  // A request that would wait for seconds is refused, for the same reason as on a dedicated core.
  for (let look = 0; look < 10; look += 1) shedding.look({ workMs: 60, slowdown: 10, utilization: 1 })
  assert.ok(shedding.share > 0)
})

/** A CPU that takes 0.5 ms for an answer and 0.1 ms for a refusal; the rest waits. */
function serve(times: number, seconds: number) {
  const shedding = new Shedding(PATIENCE_MS)
  const perTenth = 200 * times
  let waiting = 0
  let answered = 0
  let worstMs = 0
  for (let tenth = 0; tenth < seconds * 10; tenth += 1) {
    const refused = perTenth * shedding.share
    waiting += perTenth - refused
    const done = Math.min(waiting, Math.max(0, 100 - refused * 0.1) / 0.5)
    waiting -= done
    answered += done
    // Half of the ready work is done before.
    const workMs = (waiting * 0.5) / 2
    if (tenth > 100) worstMs = Math.max(worstMs, workMs)
    shedding.look({ workMs, slowdown: 1, utilization: waiting > 0 ? 1 : (done * 0.5) / 100 })
  }
  return { share: answered / (200 * seconds * 10), worstMs, waiting }
}

for (const [times, least] of [
  [2, 0.7],
  [3, 0.45],
] as const) {
  test(`at ${times} times what it can do, a node still answers most of what it could, in time`, () => {
    const { share, worstMs } = serve(times, 40)
    assert.ok(share >= least, `${share.toFixed(2)} of what it could`)
    assert.ok(worstMs < PATIENCE_MS, `a wait of ${worstMs.toFixed(0)} ms`)
  })
}

test('when the overload is over, all is taken on again within two seconds', () => {
  const shedding = new Shedding(PATIENCE_MS)
  for (let look = 0; look < 50; look += 1) shedding.look({ workMs: 2000, slowdown: 1, utilization: 1 })
  assert.ok(shedding.share >= 0.9)
  for (let look = 0; look < 20; look += 1) shedding.look({ workMs: 0, slowdown: 1, utilization: 0.3 })
  assert.equal(shedding.share, 0)
})

/** With work of 400 ms before each event, a request waits as long as it may. */
const OVERLOADS: readonly (readonly [why: string, workMs: number, shares: readonly number[]])[] = [
  ['only from the fourth sign on', 480, [0, 0, 0, 0.06, 0.12]],
  ['in proportion to the wait', 800, [0, 0, 0, 0.1, 0.2]],
  ['in steps of 15 % at most, and never all', 4000, [0, 0, 0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 0.95, 0.95]],
]
const rounded = (share: number): number => Number(share.toFixed(6))

for (const [why, workMs, shares] of OVERLOADS)
  test(`an overloaded node refuses more and more: ${why}`, () => {
    const shedding = new Shedding(PATIENCE_MS)
    const seen = shares.map(() => (shedding.look({ workMs, slowdown: 1, utilization: 1 }), shedding.share))
    assert.deepEqual(seen.map(rounded), shares)
  })

const EASINGS: readonly (readonly [why: string, workMs: number, utilization: number, less: number])[] = [
  ['time to spare', 0, 0.89, 0.1],
  ['hardly time to spare, and no wait', 0, 0.95, 0.05],
  ['hardly time to spare, and half the wait', 200, 0.95, 0.025],
  ['hardly time to spare, and nearly the whole wait', 400, 1, 0.01],
]

for (const [why, workMs, utilization, less] of EASINGS)
  test(`a node that is no longer overloaded refuses ${less} less at each look: ${why}`, () => {
    const shedding = new Shedding(PATIENCE_MS)
    shedding.share = 0.5
    shedding.look({ workMs, slowdown: 1, utilization })
    assert.equal(rounded(shedding.share), rounded(0.5 - less))
  })
