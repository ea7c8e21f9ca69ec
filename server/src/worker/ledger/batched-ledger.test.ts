import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import { Fault } from '#core/fault/fault.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import { systemClock } from '#runtime/clock.ts'
import { EntriesRefused } from '#ports/ledger.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { MemoryLedgerStore } from '#test/support/stores/ledger-store.ts'
import { FileJournal, readOpenCalls } from '#stores/spool/journal.ts'
import { FileSpool } from '#stores/spool/spool.ts'
import { testFolder } from '#test/support/disk.ts'
import { numbered } from '#test/support/entries.ts'
import { behind, Link } from '#test/support/losing-store.ts'
import { BatchedLedger, type LedgerEvents } from './batched-ledger.ts'
import { recover } from './recover.ts'

const NODE = '01930000-0000-7000-8000-00000000000a'

/** A ledger that refuses some entries, as PostgreSQL refuses an amount that is too large. */
class PickyLedgerStore extends MemoryLedgerStore {
  readonly batches: number[] = []
  isRefused = ({ model }: LedgerEntry): boolean => model === 'poison'
  /** A fault of the schema: a table has another name. */
  isBroken = false

  override append(nodeId: string, entries: readonly LedgerEntry[]): Promise<void> {
    this.batches.push(entries.length)
    this.#check(entries)
    return super.append(nodeId, entries)
  }

  override appendLate(nodeId: string, entries: readonly LedgerEntry[]): Promise<void> {
    this.#check(entries)
    return super.appendLate(nodeId, entries)
  }

  #check(entries: readonly LedgerEntry[]): void {
    if (this.isBroken) throw new StoreUnreachable('relation "usage_hours" does not exist')
    if (entries.some(this.isRefused)) throw new EntriesRefused('out of range')
  }
}

/** A node with real files, on a ledger behind a link that can fail. */
async function aNode() {
  const memory = new PickyLedgerStore(systemClock)
  await memory.startNode({ id: NODE })
  const link = new Link()
  const store = behind(link, memory)
  const folder = testFolder()
  const journal = new FileJournal(folder)
  const spool = new FileSpool(join(folder, 'spool'))
  after(() => spool.close())
  const events: string[] = []
  const time = { nowMs: 0 }
  const listener: LedgerEvents = {
    written: ({ entries, where }) => events.push(`${entries} to ${where}`),
    storeUnreachable: () => events.push('away'),
    storeBack: (interruptions) => events.push(`back after ${interruptions}`),
    refused: ({ tokens }) => events.push(`${tokens} refused`),
    spoolFailed: () => events.push('spool failed'),
    journalFailed: () => events.push('journal failed'),
    diskBack: () => events.push('disk back'),
    nodeEnded: () => events.push('ended'),
  }
  const ledger = new BatchedLedger({
    nodeId: NODE,
    store,
    spool,
    journal,
    events: listener,
    connect: async () => void (await store.heartbeat(NODE)),
    monotonicMs: () => time.nowMs,
    yieldLoop,
  })
  await ledger.drain()
  link.calls = 0
  return { ledger, memory, link, journal, spool, events, listener, folder, time }
}

function kept(memory: MemoryLedgerStore): (number | undefined)[] {
  return memory
    .entries()
    .map(({ tokens }) => tokens)
    .toSorted((a = 0, b = 0) => a - b)
}

function isUnavailable(error: unknown): boolean {
  return error instanceof Fault && error.code === 'ledger_unavailable'
}

test('records that wait at the same time are written together', async () => {
  const { ledger, memory, link, events } = await aNode()
  link.rounds = 3
  await Promise.all(Array.from({ length: 500 }, (_, index) => ledger.write([numbered(index + 1)])))
  assert.equal(memory.entries().length, 500)
  assert.ok(link.calls < 10, `${link.calls} appends`)
  assert.ok(events.every((event) => event.endsWith('to store')))
})

test('a batch has a bound, and nobody is forgotten beyond it', async () => {
  const { ledger, memory } = await aNode()
  await Promise.all(
    Array.from({ length: 350 }, (_, index) =>
      ledger.write(Array.from({ length: 10 }, (_, more) => numbered(10 * index + more))),
    ),
  )
  assert.equal(memory.entries().length, 3500)
  assert.ok(Math.max(...memory.batches) < 1010)
  assert.ok(memory.batches.length < 8)
})

test('records that come one after another wait for no others', async () => {
  const { ledger, link } = await aNode()
  for (let number = 1; number <= 5; number += 1) await ledger.write([numbered(number)])
  assert.equal(link.calls, 5)
  await ledger.write([])
  assert.equal(link.calls, 5)
})

test('while the store is away records go to the spool, and from there into the ledger', async () => {
  const { ledger, memory, link, spool, events } = await aNode()
  link.otherwise = 'before'
  await ledger.write([numbered(1)])
  await Promise.all([ledger.write([numbered(2)]), ledger.write([numbered(3)])])
  await ledger.drain()
  assert.deepEqual([ledger.isStoreUnreachable, spool.waiting, kept(memory)], [true, 3, []])
  link.otherwise = 'none'
  await ledger.drain()
  assert.deepEqual([ledger.isStoreUnreachable, spool.waiting, kept(memory)], [false, 0, [1, 2, 3]])
  await ledger.write([numbered(4)])
  assert.deepEqual(events, ['away', '1 to spool', '2 to spool', '1 to store'])
})

test('a store that comes and goes is one outage: it counts as back once it stays', async () => {
  const { ledger, memory, link, events, time } = await aNode()
  const changes = (): string[] => events.filter((event) => /away|back/.test(event))
  for (let number = 1; number <= 14; number += 1) {
    link.otherwise = 'before'
    await ledger.write([numbered(number)])
    link.otherwise = 'none'
    time.nowMs += 10_000
    await ledger.drainDue()
    assert.equal(ledger.isStoreUnreachable, false)
    await ledger.drainDue()
  }
  assert.deepEqual(changes(), ['away'])
  assert.equal(kept(memory).length, 14)
  time.nowMs += 14_999
  await ledger.drainDue()
  assert.deepEqual(changes(), ['away'])
  time.nowMs += 1
  await ledger.drainDue()
  await ledger.drainDue()
  assert.deepEqual(changes(), ['away', 'back after 14'])
  link.planned.push('before')
  await ledger.write([numbered(99)])
  assert.deepEqual(changes(), ['away', 'back after 14', 'away'])
})

test('while the store can write no entry, none is refused: they wait in the spool, and the tries become rarer', async () => {
  const { ledger, memory, spool, events, time, link } = await aNode()
  memory.isBroken = true
  await ledger.write([numbered(1)])
  await ledger.write([numbered(2)])
  const pausesMs: number[] = []
  for (let atMs = 0; pausesMs.length < 6; time.nowMs += 50) {
    const before = link.calls
    await ledger.drainDue()
    if (link.calls === before) continue
    pausesMs.push(time.nowMs - atMs)
    atMs = time.nowMs
    assert.equal(ledger.isStoreUnreachable, true, 'a connection does not show that entries can be written')
  }
  assert.deepEqual(pausesMs, [0, 250, 500, 1000, 2000, 2000])
  assert.equal(spool.waiting, 2)
  memory.isBroken = false
  time.nowMs += 2000
  await ledger.drainDue()
  assert.deepEqual([kept(memory), memory.aside(), spool.waiting], [[1, 2], [], 0])
  assert.deepEqual(events, ['away', '1 to spool', '1 to spool'])
})

test('an entry is set aside only when it is refused twice, the second time alone', async () => {
  const { ledger, memory, spool, events } = await aNode()
  let tries = 0
  memory.isRefused = ({ tokens }) => tokens === 2 && (tries += 1) <= 2
  await ledger.write([numbered(1), numbered(2)])
  await ledger.drain()
  assert.deepEqual([kept(memory), memory.aside(), spool.waiting], [[1, 2], [], 0])
  memory.isRefused = ({ tokens }) => tokens === 3
  await ledger.write([numbered(3)])
  await ledger.drain()
  assert.deepEqual(events.at(-1), '3 refused')
  assert.deepEqual(
    memory.aside().map(({ tokens }) => tokens),
    [3],
  )
})

test('before the store was ever reached records go to the spool', async () => {
  const { memory, link, spool, listener, journal } = await aNode()
  const store = behind(link, memory)
  link.otherwise = 'before'
  const connect = async (): Promise<void> => void (await store.heartbeat(NODE))
  const parts = { nodeId: NODE, store, spool, journal, events: listener, connect, yieldLoop }
  const ledger = new BatchedLedger({ ...parts, monotonicMs: () => 0 })
  await ledger.write([numbered(1)])
  assert.deepEqual([spool.waiting, kept(memory)], [1, []])
  link.otherwise = 'none'
  await ledger.drain()
  assert.deepEqual([spool.waiting, kept(memory)], [0, [1]])
})

test('a record whose commit was done but not heard of counts once', async () => {
  const { ledger, memory, link, spool } = await aNode()
  link.planned.push('after')
  await ledger.write([numbered(1), numbered(2)])
  assert.deepEqual([spool.waiting, kept(memory)], [2, [1, 2]])
  // The drain's own answer is lost as well: the heartbeat gets through, and what follows is done twice.
  link.planned.push('none', 'after')
  await ledger.drain()
  await ledger.drain()
  assert.deepEqual([spool.waiting, kept(memory)], [0, [1, 2]])
})

test('a record that the store refuses holds up no other, is set aside once, and is written once the store takes it', async () => {
  const { ledger, memory, spool, events } = await aNode()
  await Promise.all([
    ledger.write([numbered(1), numbered(2, { model: 'poison' })]),
    ledger.write([numbered(3)]),
  ])
  assert.equal(ledger.isStoreUnreachable, false)
  assert.equal(spool.waiting, 3)
  await ledger.write([numbered(4)])
  await ledger.drain()
  assert.deepEqual(kept(memory), [1, 3, 4])
  assert.equal(spool.waiting, 0)
  assert.deepEqual(events, ['3 to spool', '1 to store', '2 refused'])
  assert.deepEqual(
    memory.aside().map(({ tokens }) => tokens),
    [2],
  )
  assert.deepEqual(await memory.retryRefused(), { written: 0, refused: 1 })
  memory.isRefused = () => false
  assert.deepEqual(await memory.retryRefused(), { written: 1, refused: 0 })
  assert.deepEqual([kept(memory), memory.aside()], [[1, 2, 3, 4], []])
})

/** The cost and the outcome that the ledger holds of this call. */
function inLedger(memory: MemoryLedgerStore): (readonly [number | undefined, string])[] {
  return memory.entries().map(({ tokens, kind }) => [tokens, kind] as const)
}

for (const [first, come] of [
  ['the store', ['store', 'disk']],
  ['the disk', ['disk', 'store']],
] as const)
  test(`without store and spool no call is begun; what was already bought is written exactly once ${first} is back`, async () => {
    const { ledger, memory, link, journal, spool, events, folder } = await aNode()
    await ledger.begin(numbered(1, { kind: 'unknown' }))
    const path = join(folder, 'spool')
    link.otherwise = 'before'
    renameSync(path, `${path}-away`)
    await assert.rejects(ledger.write([numbered(1)]), isUnavailable)
    await assert.rejects(ledger.begin(numbered(2, { kind: 'unknown' })), isUnavailable)
    assert.equal(journal.size, 1, 'the refused call is not open')
    for (let times = 0; times < 3; times += 1) {
      await ledger.checkDisk()
      await ledger.drain()
      assert.match(ledger.failure ?? '', /spool/, 'not ready, however often it looks')
    }
    assert.deepEqual([...new Set(events)], ['away', 'spool failed'])
    assert.deepEqual(kept(memory), [])
    for (const back of come) {
      if (back === 'disk') renameSync(`${path}-away`, path)
      else link.otherwise = 'none'
      await ledger.checkDisk()
      await ledger.drain()
      assert.equal(ledger.failure, undefined)
      assert.equal(journal.size, 0, `its call is ended with ${back}`)
      await ledger.begin(numbered(3, { kind: 'unknown' }))
      ledger.forget(numbered(3).requestId, 0)
    }
    assert.deepEqual(inLedger(memory), [[1, 'post']])
    assert.equal(spool.waiting, 0)
    await yieldLoop()
    assert.equal(readOpenCalls(folder).calls.length, 0)
  })

test('what could be written nowhere waits until it is written, however often that fails', async () => {
  const { ledger, memory, link, folder } = await aNode()
  await ledger.begin(numbered(1, { kind: 'unknown' }))
  link.otherwise = 'before'
  rmSync(join(folder, 'spool'), { recursive: true })
  await assert.rejects(ledger.write([numbered(1)]), isUnavailable)
  link.otherwise = 'none'
  for (let times = 0; times < 2; times += 1) {
    // The store is lost again between the heartbeat and the entry.
    link.planned.push('none', 'before')
    await ledger.drain()
    assert.deepEqual(inLedger(memory), [])
  }
  await ledger.drain()
  assert.deepEqual(inLedger(memory), [[1, 'post']])
})

test('what an answer without a call would have recorded is not kept: the answer did not leave', async () => {
  const { ledger, memory, link, folder } = await aNode()
  link.otherwise = 'before'
  rmSync(join(folder, 'spool'), { recursive: true })
  await assert.rejects(ledger.write([numbered(1)]), isUnavailable)
  link.otherwise = 'none'
  await ledger.drain()
  assert.deepEqual(kept(memory), [])
})

test('a spool folder that is exchanged under the node takes no entry: it would be found by no later process', async () => {
  const { ledger, link, folder, events } = await aNode()
  const path = join(folder, 'spool')
  await ledger.checkDisk()
  link.otherwise = 'before'
  await ledger.begin(numbered(1, { kind: 'unknown' }))
  rmSync(path, { recursive: true })
  mkdirSync(path)
  await assert.rejects(ledger.write([numbered(1)]), isUnavailable)
  assert.match(ledger.failure ?? '', /exchanged/)
  assert.ok(events.includes('spool failed'))
})

test('the file of the spool is open before it is needed: a folder that takes no more files loses nothing', async () => {
  const { ledger, link, folder, spool } = await aNode()
  await ledger.checkDisk()
  assert.deepEqual(readdirSync(join(folder, 'spool')), ['spool-1'])
  link.otherwise = 'before'
  await ledger.write([numbered(1)])
  link.otherwise = 'none'
  await ledger.drain()
  await ledger.checkDisk()
  assert.deepEqual([spool.waiting, readdirSync(join(folder, 'spool'))], [0, ['spool-2']])
})

test('a spool that can’t be written keeps no call from beginning while the store is there, and is known before it is needed', async () => {
  const { ledger, link, folder, events } = await aNode()
  rmSync(join(folder, 'spool'), { recursive: true })
  await ledger.checkDisk()
  assert.deepEqual(events, ['spool failed'])
  assert.equal(ledger.failure, undefined)
  await ledger.begin(numbered(1, { kind: 'unknown' }))
  await ledger.write([numbered(1)])
  link.planned.push('before')
  await assert.rejects(ledger.write([numbered(2)]), isUnavailable)
  assert.match(ledger.failure ?? '', /spool/)
  await assert.rejects(ledger.begin(numbered(3, { kind: 'unknown' })), isUnavailable)
  await ledger.drain()
  assert.equal(ledger.failure, undefined)
  await ledger.write([numbered(4)])
})

test('a journal whose folder is gone notes no call: no later process would find it', async () => {
  const { ledger, events, folder } = await aNode()
  renameSync(folder, `${folder}-away`)
  await ledger.checkDisk()
  assert.match(ledger.failure ?? '', /journal.*exchanged/)
  assert.deepEqual(events, ['journal failed'])
  renameSync(`${folder}-away`, folder)
  await ledger.checkDisk()
  assert.equal(ledger.failure, undefined)
  assert.deepEqual(events, ['journal failed', 'disk back'])
})

test('a call is noted on disk before it is sent, until its record is durable', async () => {
  const { ledger, link, journal, folder } = await aNode()
  const calls = [1, 2, 3].map((number) => numbered(number, { kind: 'unknown' }))
  await Promise.all(calls.map((call) => ledger.begin(call)))
  assert.deepEqual(readOpenCalls(folder).calls, calls)
  link.rounds = 5
  const writing = ledger.write([numbered(1)])
  await yieldLoop()
  assert.equal(journal.size, 3)
  await writing
  assert.equal(journal.size, 2)
  ledger.forget(numbered(2).requestId, 0)
  await yieldLoop()
  assert.deepEqual(readOpenCalls(folder).calls, calls.slice(2))
})

test('a call that could not be noted is not begun', async () => {
  const { ledger, journal } = await aNode()
  journal.end()
  await assert.rejects(ledger.begin(numbered(1, { kind: 'unknown' })), isUnavailable)
  assert.equal(journal.size, 0)
})

test('a node that was ended says so, and what it still knows reaches the ledger all the same', async () => {
  const { ledger, memory, spool, events, listener, link } = await aNode()
  const open = numbered(1, { kind: 'unknown', amountNanoUsd: 50n, tokens: undefined })
  await ledger.begin(open)
  await memory.endNode(NODE, [open])
  await ledger.write([numbered(1)])
  await ledger.drain()
  assert.deepEqual(events, ['ended', 'away', '1 to spool'], 'once')
  assert.equal(spool.waiting, 1)
  const left = {
    nodeId: NODE,
    spool,
    openCalls: { calls: [open], damagedLines: 0 },
    discard: () => events.push('discarded'),
    release: () => events.push('released'),
  }
  link.planned.push('after')
  await assert.rejects(recover([left], behind(link, memory), listener))
  assert.equal(events.pop(), 'released')
  await recover([left], behind(link, memory), listener)
  assert.equal(events.pop(), 'discarded')
  const sum = memory.entries().reduce((total, { amountNanoUsd }) => total + (amountNanoUsd ?? 0n), 0n)
  assert.equal(sum, 1n)
})

test('what waits in memory has a bound: beyond it results are refused, not lost', async () => {
  const { ledger, memory, link } = await aNode()
  link.rounds = 2
  const first = ledger.write(Array.from({ length: 50_001 }, (_, index) => numbered(index)))
  const second = ledger.write([numbered(60_000)])
  await assert.rejects(second, isUnavailable)
  await first
  await ledger.settled()
  assert.equal(memory.entries().length, 50_001)
  await ledger.write([numbered(60_001)])
})

test('what could be written nowhere counts towards the bound of what waits in memory', async () => {
  const { ledger, link, folder } = await aNode()
  await ledger.begin(numbered(0, { kind: 'unknown' }))
  link.otherwise = 'before'
  rmSync(join(folder, 'spool'), { recursive: true })
  await assert.rejects(ledger.write([numbered(0)]), { message: /could not write/ })
  const waiting = ledger.write(Array.from({ length: 50_000 }, (_, index) => numbered(index + 1)))
  const beyond = ledger.write([numbered(50_001)])
  await assert.rejects(beyond, { message: /^Too many usage records/ })
  await assert.rejects(waiting, { message: /could not write/ })
})

test('records whose tags are being registered count towards the bound of what waits in memory', async () => {
  const { ledger, memory } = await aNode()
  const { promise: registered, resolve } = Promise.withResolvers<void>()
  Object.assign(memory, { register: () => registered })
  const waiting = ledger.write(Array.from({ length: 50_001 }, (_, index) => numbered(index)))
  const beyond = ledger.write([numbered(60_000)])
  resolve()
  await assert.rejects(beyond, { message: /^Too many usage records/ })
  await waiting
})

test('settled means that nothing waits in memory', async () => {
  const { ledger, memory, link } = await aNode()
  link.rounds = 4
  const writing = [1, 2, 3].map((number) => ledger.write([numbered(number)]))
  await ledger.settled()
  assert.equal(memory.entries().length, 3)
  await Promise.all(writing)
})

test('while calls can’t be noted on disk the node is not ready, though the store is there, and it finds out by itself when they can', async (t) => {
  const { ledger, journal, events } = await aNode()
  const full = (): Promise<never> => Promise.reject(new Error('ENOSPC: no space left on device'))
  const opening = t.mock.method(journal, 'open', full)
  const probing = t.mock.method(journal, 'probe', full)
  for (const number of [1, 2])
    await assert.rejects(ledger.begin(numbered(number, { kind: 'unknown' })), isUnavailable)
  assert.match(ledger.failure ?? '', /journal.*ENOSPC/)
  await ledger.checkDisk()
  assert.match(ledger.failure ?? '', /journal.*ENOSPC/)
  opening.mock.restore()
  probing.mock.restore()
  await ledger.checkDisk()
  assert.equal(ledger.failure, undefined)
  await ledger.checkDisk()
  assert.deepEqual(
    events.filter((event) => /journal|disk/.test(event)),
    ['journal failed', 'disk back'],
  )
  await ledger.begin(numbered(3, { kind: 'unknown' }))
})
