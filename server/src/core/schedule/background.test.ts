/** What background calls do to a learnt limit, and what they may not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seeded } from '#test/support/seeded.ts'
import type { CallEnd } from './deployment.ts'
import { Scheduler, type Schedulable } from './scheduler.ts'

const OFFERS: readonly Schedulable[] = [{ deployment: { id: 'one', priority: 0, weight: 1 }, emulated: [] }]
const START_LIMIT = 64
const STEP_MS = 10

class World {
  readonly #scheduler = new Scheduler({ nodes: () => 1 })
  readonly #random = seeded(5)
  readonly #background: ((end: CallEnd, nowMs: number) => void)[] = []
  nowMs = 0

  get limit(): number {
    return this.#scheduler.states(this.nowMs)[0]?.limit ?? START_LIMIT
  }

  begin(isBackground: boolean): ((end: CallEnd, nowMs: number) => void) | undefined {
    const call = { nowMs: this.nowMs, random: this.#random, tokens: isBackground ? 1000 : 10, images: 0 }
    const picked = this.#scheduler.pick(OFFERS, { ...call, isBackground })
    return picked.kind === 'go' ? picked.end : undefined
  }

  /** The background takes all it gets, and one of its calls ends. */
  fill(durationMs: number): void {
    for (let end = this.begin(true); end !== undefined; end = this.begin(true)) this.#background.push(end)
    this.#background.shift()?.({ kind: 'ok', durationMs }, this.nowMs)
  }

  /** A caller's call that takes as long as always. */
  person(): boolean {
    const end = this.begin(false)
    end?.({ kind: 'ok', durationMs: 100 }, this.nowMs)
    return end !== undefined
  }

  /** Runs until the limit is below where it was: a step down is being tried. */
  untilStepDown(): number {
    for (let durationMs = 200; durationMs < 20_000; durationMs *= 1.01) {
      const before = this.limit
      this.nowMs += STEP_MS
      this.fill(durationMs)
      if (this.limit < before) return before
    }
    throw new Error('the limit was never stepped down')
  }
}

test('however long calls in the background take, a limit does not fall while the calls of people take as long as ever', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 50, max: 5000 }), { minLength: 200, maxLength: 600 }),
      (durations) => {
        const world = new World()
        world.person()
        // Ascending, so that it looks like a growing queue.
        for (const durationMs of durations.sort((a, b) => a - b)) {
          world.nowMs += STEP_MS
          world.fill(durationMs)
          assert.ok(world.person())
          assert.ok(world.limit >= START_LIMIT, `${world.limit}`)
        }
      },
    ),
  )
})

test('without waiting callers, the limit learns from background calls', () => {
  const world = new World()
  assert.ok(world.untilStepDown() >= START_LIMIT)
})

test('a step down that is tried binds the background, and who comes then gets a turn and has the limit back', () => {
  const world = new World()
  const before = world.untilStepDown()
  assert.equal(world.begin(true), undefined)
  assert.ok(world.person())
  assert.equal(world.limit, before)
})

test('background calls leave slots free while there were recent callers, and otherwise take all', () => {
  const world = new World()
  const taken = (): number => {
    const ends: ((end: CallEnd, nowMs: number) => void)[] = []
    for (let end = world.begin(true); end !== undefined; end = world.begin(true)) ends.push(end)
    for (const end of ends) end({ kind: 'abandoned' }, world.nowMs)
    return ends.length
  }
  assert.ok(world.person())
  const beside = taken()
  assert.ok(beside < START_LIMIT && beside >= START_LIMIT * 0.9, `${beside}`)
  world.nowMs += 60_000
  assert.equal(taken(), START_LIMIT)
})
