import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { FairQueue, type Place } from './fair-queue.ts'

/** The same rules, written for readability instead of speed. */
class PlainQueue {
  lines: { readonly project: string; readonly entries: number[] }[] = []
  readonly maxEntries: number

  constructor(maxEntries: number) {
    this.maxEntries = maxEntries
  }

  get size(): number {
    return this.lines.reduce((sum, { entries }) => sum + entries.length, 0)
  }

  get longest(): number {
    return Math.max(0, ...this.lines.map(({ entries }) => entries.length))
  }

  take(): number | undefined {
    const line = this.lines.shift()
    const entry = line?.entries.shift()
    if (line && line.entries.length > 0) this.lines.push(line)
    return entry
  }

  remove(entry: number): boolean {
    const line = this.lines.find(({ entries }) => entries.includes(entry))
    line?.entries.splice(line.entries.indexOf(entry), 1)
    this.lines = this.lines.filter(({ entries }) => entries.length > 0)
    return line !== undefined
  }

  add(project: string, entry: number): void {
    const line = this.lines.find((one) => one.project === project)
    if (line) line.entries.push(entry)
    else this.lines.push({ project, entries: [entry] })
  }
}

const projects = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const actions = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('join' as const), project: projects }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('take' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave' as const), which: fc.nat() }) },
  ),
  { maxLength: 200 },
)
const UNLIMITED = Number.MAX_SAFE_INTEGER

test('it does what the plain rules say, action by action', () => {
  fc.assert(
    fc.property(actions, fc.integer({ min: 1, max: 12 }), (actions, maxEntries) => {
      const queue = new FairQueue<number>({ maxEntries, maxWaitMs: UNLIMITED })
      const plain = new PlainQueue(maxEntries)
      const places: Place<number>[] = []
      for (const [entry, action] of actions.entries()) {
        if (action.kind === 'take') assert.equal(queue.take(0)?.entry, plain.take())
        else if (action.kind === 'leave') {
          const place = places[action.which % Math.max(1, places.length)]
          if (place) assert.equal(queue.leave(place), plain.remove(place.entry))
        } else {
          const own = plain.lines.find(({ project }) => project === action.project)?.entries.length ?? 0
          const isFull = plain.size === maxEntries
          const joined = queue.join(action.project, entry, 0)
          if (isFull && own + 1 >= plain.longest) assert.equal(joined.kind, 'refused')
          else if (joined.kind === 'refused') assert.fail('refused though there was room')
          else {
            assert.equal(joined.place.entry, entry)
            places.push(joined.place)
            const { pushedOut } = joined
            assert.equal(pushedOut !== undefined, isFull)
            if (pushedOut) {
              const line = plain.lines.find(({ project }) => project === pushedOut.project)
              assert.equal(line?.entries.length, plain.longest)
              assert.equal(line?.entries.at(-1), pushedOut.entry)
              plain.remove(pushedOut.entry)
            }
            plain.add(action.project, entry)
          }
        }
        assert.equal(queue.size, plain.size)
        assert.equal(queue.peek()?.entry, plain.lines[0]?.entries[0])
        assert.ok(queue.size <= maxEntries)
      }
    }),
    runs(2000),
  )
})

test('while a project waits, no other is served twice before it', () => {
  fc.assert(
    fc.property(actions, (actions) => {
      const queue = new FairQueue<number>({ maxEntries: 50, maxWaitMs: UNLIMITED })
      const waiting = new Map<string, Set<number>>()
      const servedSince = new Map<string, Set<string>>()
      const gone = (project: string, entry: number): void => {
        waiting.get(project)?.delete(entry)
        if (waiting.get(project)?.size) return
        waiting.delete(project)
        servedSince.delete(project)
      }
      for (const [entry, action] of actions.entries()) {
        if (action.kind === 'join') {
          const joined = queue.join(action.project, entry, 0)
          if (joined.kind === 'refused') continue
          if (joined.pushedOut) gone(joined.pushedOut.project, joined.pushedOut.entry)
          waiting.set(action.project, (waiting.get(action.project) ?? new Set()).add(entry))
          if (!servedSince.has(action.project)) servedSince.set(action.project, new Set())
        } else if (action.kind === 'take') {
          const served = queue.take(0)
          if (!served) continue
          for (const [project, others] of servedSince) {
            if (project === served.project) others.clear()
            else {
              assert.ok(!others.has(served.project), `${served.project} went twice before ${project}`)
              others.add(served.project)
            }
          }
          gone(served.project, served.entry)
        }
      }
    }),
    runs(2000),
  )
})

test('one project with a thousand entries costs another one turn', () => {
  const queue = new FairQueue<string>({ maxEntries: 1000, maxWaitMs: UNLIMITED })
  for (let entry = 0; entry < 1000; entry += 1) queue.join('loud', `loud ${entry}`, 0)
  const joined = queue.join('quiet', 'quiet', 0)
  assert.equal(joined.kind === 'waiting' && joined.pushedOut?.entry, 'loud 999')
  assert.deepEqual([queue.take(1)?.entry, queue.take(2)?.entry], ['loud 0', 'quiet'])
})

test('an entry that would wait too long is refused at once, and no other', () => {
  const queue = new FairQueue<number>({ maxEntries: 10_000, maxWaitMs: 2000 })
  for (let entry = 0; entry < 100; entry += 1) queue.join('loud', entry, 0)
  // Ten per second.
  for (let turn = 1; turn <= 60; turn += 1) queue.take(turn * 100)
  const refused = queue.join('loud', 0, 6000)
  assert.equal(refused.kind === 'refused' && refused.why, 'tooLong')
  assert.ok(refused.kind === 'refused' && refused.expectedWaitMs > 3000 && refused.expectedWaitMs < 5000)
  assert.equal(queue.join('quiet', 1, 6000).kind, 'waiting')
})

test('a short standstill does not make the whole queue look slow', () => {
  const queue = new FairQueue<number>({ maxEntries: 10_000, maxWaitMs: 2000 })
  for (let entry = 0; entry < 300; entry += 1) queue.join('one', entry, 0)
  for (let turn = 1; turn <= 100; turn += 1) queue.take(turn * 4)
  assert.equal(queue.join('one', 0, 900).kind, 'waiting')
})

test('batches of a project take turns: a small one does not wait behind a large one', () => {
  const queue = new FairQueue<string>({ maxEntries: 100, maxWaitMs: Number.POSITIVE_INFINITY })
  for (let call = 0; call < 5; call += 1) queue.join('p', `large ${call}`, 0, 'large')
  for (let call = 0; call < 2; call += 1) queue.join('p', `small ${call}`, 0, 'small')
  queue.join('p', 'large 5', 0, 'large')
  const order = Array.from({ length: 8 }, () => queue.take(1)?.entry)
  assert.deepEqual(order, [
    'large 0',
    'small 0',
    'large 1',
    'small 1',
    'large 2',
    'large 3',
    'large 4',
    'large 5',
  ])
})

/** Entries of one project, of which none is served: each takes a millisecond, as long as nothing else is known. */
const WAITS: readonly (readonly [why: string, joinedAtMs: number, askedAtMs: number, waitMs: number])[] = [
  ['a queue that has just begun', 0, 0, 2],
  ['a queue that was empty for long has not stood still', 100_000, 100_000, 2],
  ['a pause of 30 ms is no standstill', 100_000, 100_030, 2],
  ['a standstill may last as long again', 100_000, 100_330, 302],
]

for (const [why, joinedAtMs, askedAtMs, waitMs] of WAITS)
  test(`the expected wait behind one entry is ${waitMs} ms: ${why}`, () => {
    const queue = new FairQueue<number>({ maxEntries: 10, maxWaitMs: UNLIMITED })
    assert.equal(queue.expectedWaitMs('p', joinedAtMs), 0)
    queue.join('p', 1, joinedAtMs)
    assert.equal(queue.expectedWaitMs('p', askedAtMs), waitMs)
  })
