import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { FairShare, type Holding } from './fair-share.ts'

/** Grants to waiters are known after their promises have settled. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Piece {
  readonly project: string
  readonly amount: number
  readonly leave: () => boolean
  holding: Holding | undefined
}

test('never more is held than there is, nothing that fits waits, and everything comes back', async () => {
  const action = fc.record({
    kind: fc.constantFrom('take', 'wait', 'wait', 'end', 'leave'),
    project: fc.constantFrom('a', 'b', 'c', 'd'),
    amount: fc.integer({ min: 0, max: 14 }),
    which: fc.nat(),
  })
  const headrooms = fc.constantFrom(1, 3, Infinity)
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), headrooms, async (actions, headroom) => {
      const capacity = 12
      const share = new FairShare({ capacity, headroom, maxWaiting: 5 })
      const pieces: Piece[] = []
      for (const { kind, project, amount, which } of actions) {
        const held = pieces.filter(({ holding }) => holding)
        const waiting = pieces.filter(({ holding }) => !holding)
        if (kind === 'take') {
          const holding = share.take(project, amount)
          if (holding)
            pieces.push({ project, amount: Math.min(amount, capacity), leave: () => false, holding })
        } else if (kind === 'wait') {
          const awaited = share.wait(project, amount)
          const own = waiting.filter((piece) => piece.project === project)
          assert.equal(awaited === undefined, own.length >= 5 && amount > 0)
          if (awaited) {
            const piece: Piece = {
              project,
              amount: Math.min(amount, capacity),
              leave: () => awaited.leave(),
              holding: undefined,
            }
            pieces.push(piece)
            void awaited.holding.then((holding) => (piece.holding = holding))
          }
        } else {
          const among = kind === 'end' ? held : waiting
          const piece = among[which % Math.max(1, among.length)]
          if (piece) {
            pieces.splice(pieces.indexOf(piece), 1)
            if (kind === 'end') piece.holding?.[Symbol.dispose]()
            else assert.ok(piece.leave())
          }
        }
        await settled()
        const sums = Map.groupBy(
          pieces.filter(({ holding }) => holding),
          (piece) => piece.project,
        )
        const heldBy = (name: string): number =>
          (sums.get(name) ?? []).reduce((sum, piece) => sum + piece.amount, 0)
        const all = ['a', 'b', 'c', 'd'].reduce((sum, name) => sum + heldBy(name), 0)
        assert.ok(all <= capacity)
        assert.equal(share.free, capacity - all)
        for (const name of ['a', 'b', 'c', 'd']) assert.equal(share.heldBy(name), heldBy(name))
        // A waiter waits for a reason: its amount does not fit, or a project ahead keeps the free amount for its own.
        const firsts = ['a', 'b', 'c', 'd'].flatMap((name) => {
          const first = pieces.find((piece) => piece.project === name && !piece.holding)
          return first ? [first] : []
        })
        if (firsts.length > 0) {
          const fits = firsts.every(({ project: name, amount: wanted }) => {
            const isWithin =
              heldBy(name) === 0 ||
              headroom === Infinity ||
              heldBy(name) + wanted <= (share.free - wanted) * headroom
            return isWithin && wanted <= share.free
          })
          assert.ok(!fits, 'every project that waits could have been served')
        }
      }
      for (const piece of pieces) if (!piece.holding) piece.leave()
      await settled()
      for (const piece of pieces) piece.holding?.[Symbol.dispose]()
      assert.equal(share.free, capacity)
    }),
  )
})

test('one project that wants everything leaves room for the next', () => {
  const share = new FairShare({ capacity: 100, headroom: 3, maxWaiting: 10 })
  const takeAll = (project: string): number => {
    let taken = 0
    while (share.take(project, 1)) taken += 1
    return taken
  }
  assert.equal(takeAll('greedy'), 75)
  assert.equal(takeAll('second'), 18)
  assert.ok(takeAll('third') > 0)
  assert.ok(share.take('newcomer', 1))
})

test('projects that wait are served in turn, however many pieces of one wait', async () => {
  const share = new FairShare({ capacity: 1, headroom: Infinity, maxWaiting: 100 })
  const order: string[] = []
  const first = share.take('a', 1)
  const join = (project: string): void => {
    void share.wait(project, 1)?.holding.then((holding) => {
      order.push(project)
      holding[Symbol.dispose]()
    })
  }
  for (let piece = 0; piece < 10; piece += 1) join('a')
  join('b')
  first?.[Symbol.dispose]()
  await settled()
  assert.ok(order.indexOf('b') <= 1, order.join(''))
  assert.equal(order.length, 11)
})

test('a large piece is not starved by small ones of others', async () => {
  const share = new FairShare({ capacity: 10, headroom: Infinity, maxWaiting: 10 })
  const small = Array.from({ length: 10 }, () => share.take('small', 1))
  let large: Holding | undefined
  void share.wait('large', 8)?.holding.then((holding) => (large = holding))
  for (const piece of small.slice(0, 7)) piece?.[Symbol.dispose]()
  assert.equal(share.take('small', 1), undefined)
  small[7]?.[Symbol.dispose]()
  await settled()
  assert.ok(large)
})

test('nothing is asked for nothing, also while others wait', () => {
  const share = new FairShare({ capacity: 1, headroom: 1, maxWaiting: 1 })
  share.take('a', 1)
  assert.ok(share.wait('b', 1))
  assert.ok(share.take('c', 0))
})

test('who waits too long goes without, and a smaller piece behind it goes on', async () => {
  const share = new FairShare({ capacity: 100, headroom: Infinity, maxWaiting: 10 })
  const never = (): Promise<unknown> => new Promise(() => {})
  const first = await share.takeBefore('a', 60, never)
  const late = Promise.withResolvers<void>()
  const large = share.takeBefore('b', 90, () => late.promise)
  const small = share.takeBefore('c', 40, never)
  late.resolve()
  assert.equal(await large, undefined)
  assert.ok(await small)
  first?.[Symbol.dispose]()
  first?.[Symbol.dispose]()
  assert.equal(share.free, 60)
})

test('a holding that comes at the last moment belongs to the waiter', async () => {
  const share = new FairShare({ capacity: 1, headroom: Infinity, maxWaiting: 1 })
  const first = share.take('a', 1)
  const late = Promise.withResolvers<void>()
  const second = share.takeBefore('b', 1, () => late.promise)
  assert.equal(await share.takeBefore('b', 1, () => late.promise), undefined, 'too many wait')
  first?.[Symbol.dispose]()
  late.resolve()
  const held = await second
  assert.ok(held)
  assert.equal(share.free, 0)
  held[Symbol.dispose]()
  assert.equal(share.free, 1)
})
