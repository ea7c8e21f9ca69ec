import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { seeded } from '#test/support/seeded.ts'
import { Health, type JudgedCall } from './health.ts'

function call(startedMs: number, how: Partial<JudgedCall> = {}): JudgedCall {
  return { startedMs, isProbe: false, isAlone: false, wasOverdue: false, ...how }
}

function failing(health: Health, times: number, nowMs: number, how: Partial<JudgedCall> = {}): void {
  for (let time = 0; time < times; time += 1) health.failed(call(nowMs, how), nowMs)
}

/** Sends a probe and ends it at once. */
function probe(health: Health, nowMs: number, isGood: boolean, how: Partial<JudgedCall> = {}): void {
  const sent = call(nowMs, { isProbe: true, ...how })
  assert.ok(health.mayProbe(nowMs, sent.isAlone), `no probe at ${nowMs}`)
  health.probeSent(sent, nowMs)
  assert.ok(!health.mayProbe(nowMs, true), 'a second probe beside the first')
  if (isGood) health.succeeded(sent, nowMs)
  else health.failed(sent, nowMs)
}

test('five failures in a row eject, four do not, and a success between them resets the count', () => {
  const health = new Health()
  for (let time = 0; time < 100; time += 1) health.succeeded(call(0), 0)
  failing(health, 4, 1)
  assert.ok(health.isHealthy)
  health.succeeded(call(1), 1)
  failing(health, 4, 1)
  assert.ok(health.isHealthy)
  failing(health, 1, 1)
  assert.ok(!health.isHealthy)
})

test('half of the calls failing ejects, though never five in a row', () => {
  const health = new Health()
  for (let pair = 0; pair < 10 && health.isHealthy; pair += 1) {
    health.succeeded(call(pair), pair)
    health.failed(call(pair), pair)
  }
  assert.ok(!health.isHealthy)
})

test('one call in twenty failing does not eject within 100,000 calls', () => {
  const [health, random] = [new Health(), seeded(5)]
  for (let nowMs = 0; nowMs < 100_000; nowMs += 1) {
    if (random() < 0.05) health.failed(call(nowMs), nowMs)
    else health.succeeded(call(nowMs), nowMs)
    assert.ok(health.isHealthy)
  }
})

test('each repetition lasts twice as long, up to a minute; time in health forgives', () => {
  const health = new Health()
  let nowMs = 1000
  failing(health, 5, nowMs)
  for (const expectedMs of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
    assert.equal(health.probeFromMs(false) - nowMs, expectedMs)
    nowMs = health.probeFromMs(false)
    assert.ok(!health.mayProbe(nowMs - 1, false))
    probe(health, nowMs, false)
  }
  nowMs = health.probeFromMs(false)
  for (let good = 0; good < 3; good += 1) probe(health, nowMs, true)
  assert.ok(health.isHealthy)
  nowMs += 5 * 60_000
  failing(health, 5, nowMs)
  assert.equal(health.probeFromMs(false) - nowMs, 1000)
})

test('three good probes end an ejection; of slow ones a single one does', () => {
  const quick = new Health()
  failing(quick, 5, 0)
  probe(quick, 1000, true)
  probe(quick, 1001, true)
  assert.ok(!quick.isHealthy)
  probe(quick, 1002, true)
  assert.ok(quick.isHealthy)

  const slow = new Health()
  failing(slow, 5, 0)
  const sent = call(1000, { isProbe: true })
  slow.probeSent(sent, 1000)
  assert.ok(slow.succeeded(sent, 31_000))
})

test('a wrong credential ejects at once, for half a minute', () => {
  const health = new Health()
  health.rejectedUs(call(0), 0)
  assert.equal(health.probeFromMs(false), 30_000)
  assert.equal(health.probeFromMs(true), 1000)
})

test('failures of calls sent before the illness was over, or during it, make nothing worse', () => {
  const health = new Health()
  failing(health, 5, 0)
  const untilMs = health.probeFromMs(false)
  failing(health, 50, 500)
  assert.equal(health.probeFromMs(false), untilMs)
  for (let good = 0; good < 3; good += 1) probe(health, untilMs, true)
  for (let late = 0; late < 50; late += 1) health.failed(call(400), untilMs + 100)
  assert.ok(health.isHealthy)
})

test('a hang is known by one overdue call if nothing came back since; else it counts as one failure', () => {
  const silent = new Health()
  silent.succeeded(call(0), 0)
  silent.overdue(call(1), 1500)
  assert.ok(!silent.isHealthy)

  const answering = new Health()
  for (let nowMs = 0; nowMs < 1500; nowMs += 10) answering.succeeded(call(nowMs), nowMs + 5)
  answering.overdue(call(1), 1500)
  assert.ok(answering.isHealthy)
})

test('what was taken for a hang and answers after all is let back', () => {
  const health = new Health()
  health.overdue(call(1), 1500)
  assert.ok(!health.isHealthy)
  assert.ok(health.succeeded(call(1, { wasOverdue: true }), 1600))
  assert.ok(health.isHealthy)
})

test('alone: unhealthy is not ejected, dead is; a second later it is probed, and one good probe is enough', () => {
  const [unhealthy, random] = [new Health(), seeded(9)]
  for (let nowMs = 0; nowMs < 60_000; nowMs += 10) {
    if (random() < 0.6) unhealthy.failed(call(nowMs, { isAlone: true }), nowMs)
    else unhealthy.succeeded(call(nowMs, { isAlone: true }), nowMs)
    assert.ok(unhealthy.isHealthy, `ejected at ${nowMs}`)
  }
  const dead = new Health()
  for (let nowMs = 0; nowMs < 5000; nowMs += 10) dead.succeeded(call(nowMs), nowMs)
  let nowMs = 5000
  for (; nowMs < 10_000 && dead.isHealthy; nowMs += 10) dead.failed(call(nowMs, { isAlone: true }), nowMs)
  assert.ok(!dead.isHealthy && nowMs < 7000, `after ${nowMs - 5000} ms`)
  for (let repeat = 0; repeat < 10; repeat += 1) {
    const fromMs = dead.probeFromMs(true)
    assert.ok(fromMs - nowMs <= 1000)
    nowMs = fromMs
    probe(dead, nowMs, false, { isAlone: true })
  }
  nowMs = dead.probeFromMs(true)
  probe(dead, nowMs, true, { isAlone: true })
  assert.ok(dead.isHealthy)
})

test('whatever happens: one probe at a time, ejections of at most a minute, and a way back', () => {
  const step = fc.record({
    kind: fc.constantFrom('good', 'bad', 'overdue', 'rejected', 'probeGood', 'probeBad', 'probeLeft'),
    afterMs: fc.oneof(fc.nat(20), fc.nat(5000)),
    agoMs: fc.nat(3000),
    isAlone: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const health = new Health()
      let nowMs = 0
      for (const { kind, afterMs, agoMs, isAlone } of steps) {
        nowMs += afterMs
        const ended = call(Math.max(0, nowMs - agoMs), { isAlone })
        if (kind === 'good') health.succeeded(ended, nowMs)
        else if (kind === 'bad') health.failed(ended, nowMs)
        else if (kind === 'overdue') health.overdue(ended, nowMs)
        else if (kind === 'rejected') health.rejectedUs(ended, nowMs)
        else if (health.mayProbe(nowMs, isAlone)) {
          if (kind !== 'probeLeft') probe(health, nowMs, kind === 'probeGood', { isAlone })
          else {
            const sent = call(nowMs, { isProbe: true, isAlone })
            health.probeSent(sent, nowMs)
            health.ended(sent)
          }
        }
        assert.ok(health.probeFromMs(false) <= nowMs + 60_000)
        assert.ok(health.probeFromMs(true) <= Math.max(nowMs + 2000, 0))
        assert.ok(health.failureShare(nowMs) >= 0 && health.failureShare(nowMs) < 1)
        if (health.isHealthy) assert.ok(!health.mayProbe(nowMs, true))
      }
      nowMs = Math.max(nowMs, health.probeFromMs(false))
      for (let good = 0; good < 3 && !health.isHealthy; good += 1) probe(health, nowMs, true)
      assert.ok(health.isHealthy)
    }),
    runs(2000),
  )
})

test('failures of one project eject nothing that another project calls well', () => {
  for (const isAlone of [true, false]) {
    const health = new Health()
    for (let nowMs = 0; nowMs < 20_000; nowMs += 16) {
      health.failed(call(nowMs, { isAlone, project: 'poison' }), nowMs)
      if (nowMs % 480 === 0) health.succeeded(call(nowMs, { isAlone, project: 'honest' }), nowMs)
      assert.ok(health.isHealthy, `ejected after ${nowMs} ms`)
    }
  }
})

test('a deployment that dies is ejected as soon as a second project finds out', () => {
  for (const isAlone of [true, false]) {
    const health = new Health()
    for (let time = 0; time < 3; time += 1) health.succeeded(call(0, { project: 'other', isAlone }), 0)
    for (let time = 0; time < 60; time += 1) health.failed(call(1, { project: 'busy', isAlone }), 1)
    assert.ok(health.isHealthy)
    health.failed(call(2, { project: 'other', isAlone }), 2)
    assert.ok(!health.isHealthy)
  }
})

test('a project that calls alone, or whose neighbours have been quiet for a while, judges as one', () => {
  const alone = new Health()
  failing(alone, 5, 1, { project: 'only' })
  assert.ok(!alone.isHealthy)
  const quiet = new Health()
  quiet.succeeded(call(0, { project: 'other' }), 0)
  failing(quiet, 5, 3000, { project: 'only' })
  assert.ok(quiet.isHealthy)
  failing(quiet, 1, 4000, { project: 'only' })
  assert.ok(!quiet.isHealthy)
})

test('a share of failures counts only if others see it too', () => {
  const health = new Health()
  const both = (nowMs: number, isOtherGood: boolean): void => {
    health.failed(call(nowMs, { project: 'poison' }), nowMs)
    if (isOtherGood) health.succeeded(call(nowMs, { project: 'honest' }), nowMs)
    else health.failed(call(nowMs, { project: 'honest' }), nowMs)
  }
  for (let nowMs = 1; nowMs < 500; nowMs += 1) both(nowMs, true)
  assert.ok(health.isHealthy)
  for (let nowMs = 500; nowMs < 505; nowMs += 1) both(nowMs, false)
  assert.ok(!health.isHealthy)
})

test('failures of one project eject nothing while others fail in less than half of their calls', () => {
  const health = new Health()
  for (let nowMs = 1; nowMs < 500; nowMs += 1) {
    health.failed(call(nowMs, { project: 'poison' }), nowMs)
    if (nowMs % 5 === 0) health.failed(call(nowMs, { project: 'honest' }), nowMs)
    else health.succeeded(call(nowMs, { project: 'honest' }), nowMs)
    assert.ok(health.isHealthy, `ejected after ${nowMs} ms`)
  }
})

test('alone and busy, a deployment is dead after twenty failures in a row and a second without an answer', () => {
  for (const [nowMs, failures, isDead] of [
    [1000, 19, false],
    [1000, 20, true],
    [999, 20, false],
  ] as const) {
    const health = new Health()
    for (let time = 0; time < 1000; time += 1) health.succeeded(call(0), 0)
    failing(health, failures, nowMs, { isAlone: true })
    assert.equal(health.isHealthy, !isDead, `${failures} failures after ${nowMs} ms`)
  }
})
