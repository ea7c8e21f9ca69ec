import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { ByteBudget } from './byte-budget.ts'

const forever = () => new Promise(() => {})

test('no more bytes are out at once than there are, and everybody gets a turn', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(150), { maxLength: 30 }), async (wishes) => {
      const budget = new ByteBudget(100)
      let out = 0
      let most = 0
      await Promise.all(
        wishes.map(async (bytes) => {
          using taken = await budget.take(bytes, 1000, forever)
          assert.ok(taken)
          out += Math.min(bytes, 100)
          most = Math.max(most, out)
          await Promise.resolve()
          out -= Math.min(bytes, 100)
        }),
      )
      assert.ok(most <= 100)
      assert.ok(await budget.take(100, 0, forever))
    }),
    { numRuns: 500 },
  )
})

test('who waits too long goes without, and those behind it go on', async () => {
  const budget = new ByteBudget(100)
  const first = await budget.take(60, 0, forever)
  const large = budget.take(90, 5, delay)
  const small = budget.take(40, 1000, forever)
  assert.equal(await large, undefined)
  assert.ok(await small)
  first?.[Symbol.dispose]()
  first?.[Symbol.dispose]()
  assert.ok(await budget.take(60, 0, forever))
})
