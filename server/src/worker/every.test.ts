import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '#test/support/process.ts'
import { every } from './every.ts'

function unexpected(): never {
  assert.fail()
}

test('work that takes longer than its interval never overlaps with itself', async () => {
  let underWay = 0
  let most = 0
  let times = 0
  const repeating = every(
    1,
    async () => {
      underWay += 1
      most = Math.max(most, underWay)
      times += 1
      await delay(10)
      underWay -= 1
    },
    unexpected,
  )
  await eventually(async () => assert.ok(times > 2))
  await repeating.stop()
  assert.equal(most, 1)
})

test('what work rejects with or throws is reported, and the next time comes as usual', async () => {
  const errors: unknown[] = []
  const repeating = every(
    1,
    () => {
      if (errors.length === 0) throw new Error('thrown')
      return Promise.reject(new Error('rejected'))
    },
    (error) => errors.push((error as Error).message),
  )
  await eventually(async () => assert.ok(errors.length > 2))
  await repeating.stop()
  assert.deepEqual(errors.slice(0, 3), ['thrown', 'rejected', 'rejected'])
})

test('stop waits for the work under way, and nothing begins after it', async () => {
  let begun = 0
  let ended = 0
  const { promise: work, resolve: endWork } = Promise.withResolvers<void>()
  const repeating = every(
    5,
    async () => {
      begun += 1
      await work
      ended += 1
    },
    unexpected,
  )
  await eventually(async () => assert.equal(begun, 1))
  const stopped = repeating.stop().then(() => assert.equal(ended, 1))
  endWork()
  await stopped
  await delay(30)
  assert.equal(begun, 1)
})

test('work that was never begun holds up nobody who stops', async () => {
  const repeating = every(60_000, unexpected, unexpected)
  await repeating.stop()
})
