import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Semaphore } from './semaphore.ts'

/** Work that ends when the test says so. */
function heldWork(): { readonly work: () => Promise<void>; readonly end: PromiseWithResolvers<void> } {
  const end = Promise.withResolvers<void>()
  return { work: () => end.promise, end }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('never do more run at once than there are places, and they begin in the order in which they came', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.record({ steps: fc.nat(4), fails: fc.boolean() }), { maxLength: 30 }),
      async (places, works) => {
        const semaphore = new Semaphore(places)
        const begun: number[] = []
        let running = 0
        const ends = works.map(({ steps, fails }, index) =>
          semaphore.run(async () => {
            begun.push(index)
            running += 1
            assert.ok(running <= places)
            for (let step = 0; step < steps; step += 1) await Promise.resolve()
            running -= 1
            if (fails) throw new Error(`work ${index}`)
            return index
          }),
        )
        assert.equal(semaphore.waiting, Math.max(0, works.length - places))
        for (const [index, end] of (await Promise.allSettled(ends)).entries())
          assert.equal(end.status === 'fulfilled' ? end.value : `${end.reason}`, endOf(index, works))
        assert.deepEqual(begun, [...works.keys()])
        assert.equal(semaphore.waiting, 0)
      },
    ),
  )
})

function endOf(index: number, works: readonly { readonly fails: boolean }[]): number | string {
  return works[index]?.fails === true ? `Error: work ${index}` : index
}

test('a place that becomes free goes to the first in line, not to one that comes in that moment', async () => {
  const semaphore = new Semaphore(1)
  const order: string[] = []
  const [first, second, third] = [heldWork(), heldWork(), heldWork()]
  const named = (name: string, work: () => Promise<void>) => () => (order.push(name), work())
  const ends = [semaphore.run(named('first', first.work)), semaphore.run(named('second', second.work))]
  first.end.resolve()
  await ends[0]
  ends.push(semaphore.run(named('third', third.work)))
  await settle()
  assert.deepEqual(order, ['first', 'second'])
  second.end.resolve()
  third.end.resolve()
  await Promise.all(ends)
  assert.deepEqual(order, ['first', 'second', 'third'])
})

test('those refused in line get the error and no place; what runs keeps its own', async () => {
  const semaphore = new Semaphore(1)
  const running = heldWork()
  const first = semaphore.run(running.work)
  let wasBegun = false
  const refused = Promise.allSettled([1, 2].map(() => semaphore.run(async () => void (wasBegun = true))))
  semaphore.refuseWaiting(new Error('closed'))
  for (const end of await refused)
    assert.equal(end.status === 'rejected' && (end.reason as Error).message, 'closed')
  assert.equal(semaphore.waiting, 0)
  const later = semaphore.run(async () => 'served')
  assert.equal(semaphore.waiting, 1, 'the work that runs still has its place')
  running.end.resolve()
  await first
  assert.equal(await later, 'served')
  assert.equal(wasBegun, false)
})
