import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { Gate, type Size, type Turn } from './capacity.ts'
import { startFakeProvider, type FakeProvider } from './server.ts'
import { embed } from './test-client.ts'

const anySize = fc.record({
  slots: fc.integer({ min: 1, max: 5 }),
  serviceMs: fc.integer({ min: 1, max: 20 }),
  maxWaiting: fc.oneof(fc.constant(Infinity), fc.integer({ min: 0, max: 6 })),
})
const anyGaps = fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 80 })

type Arrival = { atMs: number; turn: Turn | null }

function arrivalsAt(gaps: number[], size: Size): Arrival[] {
  const gate = new Gate()
  let atMs = 0
  return gaps.map((gapMs) => ({ atMs: (atMs += gapMs), turn: gate.enter(atMs, size) }))
}

/** The textbook queue, event by event, beside which the arithmetic has to stand. */
function expectedAt(gaps: number[], { slots, serviceMs, maxWaiting }: Size): (Turn | null)[] {
  const turns: Turn[] = []
  let atMs = 0
  return gaps.map((gapMs) => {
    atMs += gapMs
    const waiting = turns.filter(({ startMs }) => startMs > atMs).length
    let startMs = atMs
    const busyAt = (moment: number) => turns.filter((turn) => turn.startMs <= moment && moment < turn.endMs)
    while (turns.some((turn) => turn.startMs > startMs) || busyAt(startMs).length >= slots) startMs += 1
    if (startMs > atMs && waiting >= maxWaiting) return null
    const turn = { startMs, endMs: startMs + serviceMs }
    turns.push(turn)
    return turn
  })
}

describe('a gate', () => {
  it('serves as the textbook says: so many at once, first come, first served, none idle while one waits', () => {
    fc.assert(
      fc.property(anyGaps, anySize, (gaps, size) => {
        const turns = arrivalsAt(gaps, size).map(({ turn }) => turn)
        assert.deepEqual(turns, expectedAt(gaps, size))
      }),
    )
  })

  it('has exactly the rate of its size under overload: 20 slots of 50 ms are 400 calls a second', () => {
    const gate = new Gate()
    const size = { slots: 20, serviceMs: 50, maxWaiting: Infinity }
    const turns = Array.from({ length: 6000 }, (_, call) => gate.enter(call, size))
    const inTheSecond = turns.filter((turn) => turn !== null && turn.endMs > 5000 && turn.endMs <= 6000)
    assert.equal(inTheSecond.length, 400)
  })

  it('finishes what is under way when it becomes smaller, and keeps the order when it grows', () => {
    const gate = new Gate()
    const size = (slots: number) => ({ slots, serviceMs: 10, maxWaiting: Infinity })
    for (let call = 0; call < 4; call++) assert.equal(gate.enter(0, size(4))?.startMs, 0)
    assert.deepEqual([gate.enter(1, size(1))?.startMs, gate.enter(2, size(1))?.startMs], [10, 20])
    assert.equal(gate.enter(3, size(8))?.startMs, 20)
  })
})

describe('capacity-N', () => {
  let provider: FakeProvider
  before(async () => {
    provider = await startFakeProvider()
  })
  after(() => provider.close())

  it('makes calls wait, and the log says how long', async () => {
    const scenario = 'capacity-2+service-1000+key-waits'
    await Promise.all(Array.from({ length: 6 }, () => embed(`${provider.url}/${scenario}`)))
    const rounds = provider.entries().map(({ waitedMs = assert.fail() }) => Math.ceil(waitedMs / 1000))
    assert.deepEqual(rounds, [0, 0, 1, 1, 2, 2])
  })

  it('keeps its rate when all calls come at once', async () => {
    const scenario = 'capacity-20+service-50+key-rate'
    const startMs = performance.now()
    const calls = Array.from({ length: 400 }, () => embed(`${provider.url}/${scenario}`, { input: 'x' }))
    const answers = await Promise.all(calls)
    const elapsedMs = performance.now() - startMs
    assert.ok(answers.every(({ status }) => status === 200))
    assert.ok(elapsedMs >= 999, `20 rounds of 50 ms took ${elapsedMs} ms`)
  })

  it('queue-N refuses what would wait behind N others, and tells when to come back', async () => {
    const url = `${provider.url}/capacity-1+service-1000+queue-2`
    const answers = await Promise.all(Array.from({ length: 5 }, () => embed(url)))
    const refused = answers.filter(({ status }) => status === 503)
    assert.equal(refused.length, 2)
    assert.equal(answers.filter(({ status }) => status === 200).length, 3)
    assert.equal(refused[0]?.headers.get('retry-after'), '1')
    assert.equal(refused[0]?.json().error?.code, 'overloaded')
    const entries = provider.entries().filter(({ status }) => status === 503)
    assert.ok(entries.every(({ served, waitedMs }) => !served && waitedMs === undefined))
  })

  it('counts for each key and each scenario', async () => {
    const url = `${provider.url}/capacity-1+service-500+queue-0`
    const answers = await Promise.all([
      embed(url, {}, { 'api-key': 'one' }),
      embed(url, {}, { 'api-key': 'two' }),
      embed(`${url}+key-other`, {}, { 'api-key': 'one' }),
    ])
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    )
  })

  it('needs both of its traits', async () => {
    for (const scenario of ['capacity-2', 'service-50', 'queue-3', 'capacity-0+service-50']) {
      assert.equal((await embed(`${provider.url}/${scenario}`)).status, 404)
    }
  })

  it('a refusal costs no time', async () => {
    const url = `${provider.url}/capacity-1+service-60000+max-inputs-1`
    const answers = await Promise.all([embed(url), embed(url)])
    assert.ok(answers.every(({ status }) => status === 400))
  })
})
