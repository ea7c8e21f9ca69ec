import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '#test/support/key-nodes.ts'
import { endingOf } from './ending.ts'

const DRAIN_MS = 10_000
const STOP_DELAY_MS = 3000

/** A node whose steps are noted with the time that they were given. Every wait passes at once on its clock. */
function anEnding({ isWatched = false, openCalls = 0, hangs = false } = {}) {
  const clock = new TestClock()
  const steps: string[] = []
  const step = (name: string) => () => void steps.push(name)
  const timed = (name: string) => async (ms: number) => void steps.push(`${name} ${ms}`)
  const wait = async (ms: number): Promise<void> => {
    steps.push(`wait ${ms}`)
    clock.advance(ms)
  }
  const stop = endingOf({
    clock,
    wait,
    after(ms, ring) {
      steps.push(`close within ${ms}`)
      if (hangs) ring()
      return () => {}
    },
    limits: { drainMs: DRAIN_MS, stopDelayMs: STOP_DELAY_MS },
    file: { close: step('file') },
    readiness: { isWatched },
    listeners: {
      leave: step('leave'),
      refuse: step('refuse'),
      release: step('release'),
      unconnected: timed('unconnected'),
      unasked: timed('unasked'),
      drain: timed('drain'),
      close: async () => void steps.push('listeners'),
    },
    images: { drain: timed('images') },
    bulk: { drain: timed('bulk') },
    openCalls: () => openCalls--,
    parts: { [Symbol.asyncDispose]: () => (hangs ? new Promise(() => {}) : Promise.resolve()) },
    onLate: step('late'),
  })
  return { stop, steps }
}

const BEGIN = ['file', 'bulk 10000']
const endAfter = (ms: number): string[] => {
  const left = DRAIN_MS - ms
  return [`drain ${left}`, `images ${left}`, 'listeners', `close within ${left + 4500}`]
}

for (const [name, options, isWatched, steps] of [
  ['a terminal', {}, true, ['leave', ...endAfter(0)]],
  [
    'an orchestrator whose balancer checks readiness',
    { gently: true },
    true,
    ['leave', 'wait 3000', 'unasked 3000', ...endAfter(3000)],
  ],
  [
    'an orchestrator whose balancer only connects',
    { gently: true },
    false,
    ['refuse', 'unconnected 3000', ...endAfter(0)],
  ],
  [
    'a process that took over',
    { gently: true, isReplaced: true },
    true,
    ['release', 'wait 3000', ...endAfter(3000)],
  ],
] as const)
  test(`a node that is stopped by ${name} takes these steps in this order`, async () => {
    const ending = anEnding({ isWatched })
    await ending.stop(options)
    assert.deepEqual(ending.steps, [...BEGIN, ...steps])
  })

test('calls without a client get the rest of the time, and a second stop changes nothing', async () => {
  const { stop, steps } = anEnding({ openCalls: 2 })
  const stopping = stop()
  assert.equal(stop({ gently: true }), stopping)
  await stopping
  assert.deepEqual(
    steps.filter((one) => one.startsWith('wait')),
    ['wait 20', 'wait 20'],
  )
})

test('calls that never end hold a node up no longer than its limit', async () => {
  const { stop, steps } = anEnding({ openCalls: Number.POSITIVE_INFINITY })
  await stop()
  assert.equal(steps.filter((one) => one === 'wait 20').length, DRAIN_MS / 20)
})

test('a part that does not close is left after its time', async () => {
  const { stop, steps } = anEnding({ hangs: true })
  await stop()
  assert.equal(steps.at(-1), 'late')
})
