import assert from 'node:assert/strict'
import { test } from 'node:test'
import { meanWaitMs, Shedding } from './shedding.ts'

test('the wait of an event is that at a random moment: one long turn weighs more than many short ones', () => {
  assert.equal(meanWaitMs([], 10), 0)
  assert.equal(meanWaitMs([10, 10, 10], 10), 0)
  assert.equal(meanWaitMs([100], 10), 45)
  assert.equal(meanWaitMs([...Array.from({ length: 10 }, () => 10), 100], 10), 22.5)
})

test('a few long turns refuse nobody, nor does a loop that is always busy but quick', () => {
  const shedding = new Shedding()
  for (let look = 0; look < 3; look += 1) shedding.look(80, 1, 0)
  assert.equal(shedding.share, 0)
  for (let look = 0; look < 100; look += 1) {
    shedding.look(7, 1, 10)
    assert.equal(shedding.share, 0)
  }
})

/** A processor that takes 0.5 ms for an answer and 0.1 ms for a refusal; what is not done waits. */
function serve(times: number, seconds: number) {
  const shedding = new Shedding()
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
    // Of what is ready half is done before.
    const waitMs = (waiting * 0.5) / 2
    if (tenth > 30) worstMs = Math.max(worstMs, waitMs)
    shedding.look(waitMs, waiting > 0 ? 1 : (done * 0.5) / 100, 0)
  }
  return { share: answered / (200 * seconds * 10), worstMs, waiting }
}

for (const [times, least] of [
  [2, 0.7],
  [3, 0.45],
] as const) {
  test(`at ${times} times what it can do, a node still answers most of what it could, in time`, () => {
    const { share, worstMs } = serve(times, 20)
    assert.ok(share >= least, `${share.toFixed(2)} of what it could`)
    assert.ok(worstMs < 400, `a wait of ${worstMs.toFixed(0)} ms`)
  })
}

test('a node that spends its time on refusals refuses earlier; one that has time does not', () => {
  const [busy, idle] = [new Shedding(), new Shedding()]
  for (let look = 0; look < 10; look += 1) {
    busy.look(3, 1, 200)
    idle.look(3, 0.6, 200)
  }
  assert.ok(busy.share > 0.3)
  assert.equal(idle.share, 0)
})

test('when the overload is over, all is taken on again within two seconds', () => {
  const shedding = new Shedding()
  for (let look = 0; look < 50; look += 1) shedding.look(200, 1, 0)
  assert.ok(shedding.share >= 0.9)
  for (let look = 0; look < 20; look += 1) shedding.look(0, 0.3, 1000)
  assert.equal(shedding.share, 0)
})
