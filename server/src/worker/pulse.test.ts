import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as drained } from 'node:timers/promises'
import type { WaitingWork } from '#ports/ledger.ts'
import { Pulse, PULSE_MS } from './pulse.ts'

const IDLE: WaitingWork = {
  directory: '1',
  isEldest: true,
  webhooks: false,
  notices: false,
  alerts: false,
  batches: false,
  imageJobs: false,
  files: false,
  standings: '0/',
  suspects: false,
  news: false,
}

/** A clock that the test moves. */
function aPulse() {
  let nowMs = 0
  const timers = new Set<{ readonly atMs: number; readonly ring: () => void }>()
  const pulse = new Pulse({
    monotonicMs: () => nowMs,
    after: (ms, ring) => {
      const timer = { atMs: nowMs + ms, ring }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
  })
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms
    for (const timer of timers) {
      if (timer.atMs > nowMs) continue
      timers.delete(timer)
      timer.ring()
    }
    await drained()
  }
  const beat = async (work: Partial<WaitingWork> = {}, askedMs = nowMs): Promise<void> => {
    pulse.beat({ ...IDLE, ...work }, askedMs)
    await drained()
  }
  return { pulse, timers, pass, beat }
}

function unexpected(error: unknown): never {
  throw error as Error
}

test('a worker runs after a heartbeat that says there is work, and after no other', async () => {
  const { pulse, beat, pass } = aPulse()
  let runs = 0
  const repetition = pulse.on('webhooks')(async () => void (runs += 1), unexpected)
  for (let second = 0; second < 20; second += 1) {
    await beat()
    await pass(PULSE_MS)
  }
  assert.equal(runs, 0)
  await beat({ webhooks: true })
  await beat({ webhooks: true })
  assert.equal(runs, 2)
  await beat()
  assert.equal(runs, 2)
  await repetition.stop()
  await beat({ webhooks: true })
  assert.equal(runs, 2)
})

test('a place that is known by its state is read once for each change, and again if that failed', async () => {
  const { pulse, beat } = aPulse()
  const runs: string[] = []
  const errors: unknown[] = []
  const repetition = pulse.on('standings')(
    async () => {
      runs.push(pulse.said('standings') as string)
      if (runs.length === 2) throw new Error('lost')
    },
    (error) => errors.push(error),
  )
  for (const standings of ['a', 'a', 'b', 'b', 'b', 'a']) await beat({ standings })
  assert.deepEqual(runs, ['a', 'b', 'b', 'a'])
  assert.equal(errors.length, 1)
  await repetition.stop()
})

test('workers ask by themselves while heartbeats fail, and where the store does not say', async () => {
  const { pulse, beat, pass } = aPulse()
  let runs = 0
  const repetition = pulse.on('webhooks')(async () => void (runs += 1), unexpected)
  await beat()
  assert.equal(pulse.may('webhooks'), false)
  await pass(2 * PULSE_MS)
  assert.equal(runs, 1)
  assert.equal(pulse.may('webhooks'), true)
  assert.equal(pulse.said('isEldest'), undefined)
  pulse.beat(undefined, 2 * PULSE_MS)
  await drained()
  assert.equal(runs, 2)
  await beat()
  assert.equal(runs, 2, 'the store is back, and says that nothing waits')
  pulse.missed()
  await drained()
  assert.equal(runs, 3, 'a heartbeat that fails is not waited for')
  assert.equal(pulse.said('directory'), undefined)
  await repetition.stop()
})

test('a worker that fails runs again at the next heartbeat, and not before', async () => {
  const { pulse, beat, pass } = aPulse()
  const errors: unknown[] = []
  const works = [
    () => Promise.reject(new Error('later')),
    () => {
      throw new Error('at once')
    },
  ]
  const repetitions = works.map((work) => pulse.always(work, (error) => errors.push(error)))
  await drained()
  assert.equal(errors.length, 0)
  await beat()
  assert.equal(errors.length, 2)
  await drained()
  assert.equal(errors.length, 2)
  pulse.missed()
  await drained()
  assert.equal(errors.length, 4)
  await pass(2 * PULSE_MS)
  assert.equal(errors.length, 6)
  await beat()
  assert.equal(errors.length, 8)
  await Promise.all(repetitions.map((one) => one.stop()))
})

test('an answer is as old as its question', async () => {
  const { pulse, beat, pass } = aPulse()
  await pass(10 * PULSE_MS)
  await beat({}, 9 * PULSE_MS)
  assert.equal(pulse.said('isEldest'), true)
  await beat({}, 8 * PULSE_MS)
  assert.equal(pulse.said('isEldest'), undefined)
})

test('a heartbeat during a run leads to another run', async () => {
  const { pulse, beat } = aPulse()
  let gate = Promise.withResolvers<void>()
  const runs: unknown[] = []
  const repetitions = [
    pulse.on('webhooks')(() => (runs.push('webhooks'), gate.promise), unexpected),
    pulse.on('standings')(() => (runs.push(pulse.said('standings')), gate.promise), unexpected),
    pulse.always(() => (runs.push('always'), gate.promise), unexpected),
  ]
  await beat({ webhooks: true, standings: 'a' })
  await beat({ webhooks: true, standings: 'b' })
  assert.deepEqual(runs, ['webhooks', 'a', 'always'])
  const before = gate
  gate = Promise.withResolvers()
  before.resolve()
  await drained()
  assert.deepEqual(runs.slice(3).toSorted(), ['always', 'b', 'webhooks'])
  gate.resolve()
  await drained()
  assert.equal(runs.length, 6)
  await Promise.all(repetitions.map((one) => one.stop()))
})

test('what this process raises is looked at without a heartbeat, also during a run', async () => {
  const { pulse, beat } = aPulse()
  await beat()
  let runs = 0
  let gate = Promise.withResolvers<void>()
  const repetition = pulse.on('batches')(() => ((runs += 1), gate.promise), unexpected)
  await drained()
  assert.equal(runs, 0)
  pulse.raise('batches')
  await drained()
  assert.equal(runs, 1)
  pulse.raise('batches')
  await drained()
  assert.equal(runs, 1, 'runs do not overlap')
  gate.resolve()
  gate = Promise.withResolvers<void>()
  await drained()
  assert.equal(runs, 2, 'it may have come after the look')
  gate.resolve()
  await repetition.stop()
})

test('work that is done at every heartbeat is done while they fail, too, and leaves no timer', async () => {
  const { pulse, beat, pass, timers } = aPulse()
  let runs = 0
  const repetition = pulse.always(async () => void (runs += 1), unexpected)
  await beat()
  await beat()
  await pass(2 * PULSE_MS)
  assert.equal(runs, 3)
  await repetition.stop()
  assert.equal(timers.size, 0)
})
