/** Compares the CPU time of turns, so nothing else may run beside it. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { defaultLimits } from '#core/settings.ts'
import { Scheduler, type Schedulable } from '#core/schedule/scheduler.ts'
import { after, systemClock } from '#runtime/clock.ts'
import { Dispatch } from '#request/traffic/dispatch.ts'

const DEPLOYMENTS = 12
const CALLS = 2000
const ROUNDS = 20

const offers = Array.from({ length: DEPLOYMENTS }, (_, index): Schedulable => ({
  deployment: { id: `m/${index}`, priority: 0, weight: 1, limits: { concurrency: 4 } },
  emulated: [],
}))

/** A dispatch in which a call has waited for each of these combinations. */
async function dispatchAfter(combinations: readonly (readonly Schedulable[])[]) {
  const dispatch = new Dispatch({
    scheduler: new Scheduler({ nodes: () => 1 }),
    clock: systemClock,
    random: Math.random,
    ownWaitMs: () => 0,
    limits: defaultLimits,
    newBudget: () => ({ begun: () => {}, mayRetry: () => true }),
    after,
  })
  const deadlineMs = systemClock.monotonicMs() + 1e6
  const asked = { model: 'm', project: 'p', tokens: 1, images: 0, deadlineMs }
  const turns = Array.from({ length: DEPLOYMENTS * 4 }, () => dispatch.turnNow(offers, asked))
  for (const some of combinations) {
    const caller = Object.assign(new EventEmitter(), { destroyed: false })
    const waiting = assert.rejects(async () => dispatch.turn(some, { ...asked, caller }))
    caller.emit('close')
    await waiting
  }
  for (const turn of turns) turn?.giveBack()
  return (): number => {
    const before = process.cpuUsage()
    for (let call = 0; call < CALLS; call += 1) dispatch.turnNow(offers, asked)?.giveBack()
    return process.cpuUsage(before).user
  }
}

test('a turn takes as long after calls waited for every combination of twelve deployments as after two', async () => {
  const every = Array.from({ length: 2 ** DEPLOYMENTS - 1 }, (_, index) =>
    offers.filter((_offer, place) => (index + 1) & (1 << place)),
  )
  const [few, all] = [await dispatchAfter(every.slice(-2)), await dispatchAfter(every)]
  const ratios = Array.from({ length: ROUNDS }, () => {
    const [one, other] = [few(), all()]
    return other / one
  })
  const median = ratios.toSorted((left, right) => left - right)[ROUNDS / 2]!
  assert.ok(median < 1.3, `${median.toFixed(2)} times`)
})
