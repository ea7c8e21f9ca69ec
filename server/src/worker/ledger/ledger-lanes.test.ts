import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import fc from 'fast-check'
import type { LedgerEntry } from '#core/money/ledger.ts'
import { systemClock } from '#runtime/clock.ts'
import { runs } from '#test/support/arbitraries.ts'
import { MemoryLedgerStore } from '#test/support/stores/ledger-store.ts'
import { FileJournal } from '#stores/spool/journal.ts'
import { FileSpool } from '#stores/spool/spool.ts'
import { testFolder } from '#test/support/disk.ts'
import { numbered } from '#test/support/entries.ts'
import { BatchedLedger } from './batched-ledger.ts'

const NODE = '01930000-0000-7000-8000-00000000000a'

interface Append {
  readonly lane: number
  readonly isLeased: boolean
  readonly entries: number
}

/** A ledger that takes some rounds of the event loop for each batch, and records which were in progress together. */
class SlowLedgerStore extends MemoryLedgerStore {
  readonly #rounds: readonly number[]
  readonly underWay = new Set<Append>()
  /** The batches in progress whenever one began. */
  readonly seen: (readonly Append[])[] = []

  constructor(rounds: readonly number[]) {
    super(systemClock)
    this.#rounds = rounds
  }

  override async append(nodeId: string, entries: readonly LedgerEntry[], lane = 0): Promise<void> {
    const isLeased = entries.some(({ keyLeaseNanoUsd }) => keyLeaseNanoUsd > 0n)
    const append = { lane, isLeased, entries: entries.length }
    this.underWay.add(append)
    this.seen.push([...this.underWay])
    const rounds = this.#rounds[this.seen.length % this.#rounds.length] ?? 1
    for (let round = 0; round < rounds; round += 1) await yieldLoop()
    this.underWay.delete(append)
    return super.append(nodeId, entries)
  }
}

async function aLedger(memory: SlowLedgerStore): Promise<BatchedLedger> {
  await memory.startNode({ id: NODE })
  const folder = testFolder()
  const fail = (error: unknown): never => {
    throw error as Error
  }
  const ledger = new BatchedLedger({
    nodeId: NODE,
    store: memory,
    spool: new FileSpool(join(folder, 'spool')),
    journal: new FileJournal(folder),
    events: {
      written: () => {},
      storeUnreachable: fail,
      storeBack: () => {},
      refused: fail,
      spoolFailed: fail,
      journalFailed: fail,
      diskBack: () => {},
      nodeEnded: () => {},
    },
    connect: async () => {},
    monotonicMs: () => 0,
    yieldLoop,
  })
  await ledger.drain()
  return ledger
}

test('however records come: each is written once, two batches at a time at most, each in a lane of its own, one with leases', async () => {
  const bursts = fc.array(
    fc.record({ records: fc.integer({ min: 1, max: 120 }), leased: fc.nat(4), pauseRounds: fc.nat(3) }),
    { minLength: 1, maxLength: 8 },
  )
  await fc.assert(
    fc.asyncProperty(bursts, fc.array(fc.nat(6), { minLength: 1, maxLength: 4 }), async (given, rounds) => {
      const memory = new SlowLedgerStore(rounds)
      const ledger = await aLedger(memory)
      let number = 0
      const writes: Promise<void>[] = []
      for (const { records, leased, pauseRounds } of given) {
        for (let record = 0; record < records; record += 1) {
          number += 1
          // In some bursts every record uses up a lease, in some every second or third one, in some none.
          const keyLeaseNanoUsd = leased > 0 && number % leased === 0 ? 1n : 0n
          writes.push(ledger.write([{ ...numbered(number), keyLeaseNanoUsd }]))
        }
        for (let round = 0; round < pauseRounds; round += 1) await yieldLoop()
      }
      await ledger.settled()
      assert.equal(memory.entries().length, number)
      await Promise.all(writes)
      for (const together of memory.seen) {
        assert.ok(together.length <= 2)
        assert.equal(new Set(together.map(({ lane }) => lane)).size, together.length)
        assert.ok(together.filter(({ isLeased }) => isLeased).length <= 1)
      }
    }),
    runs(40),
  )
})

test('a few records wait for the batch that is under way; many are sent beside it', async () => {
  const memory = new SlowLedgerStore([20])
  const ledger = await aLedger(memory)
  const write = (from: number, count: number): Promise<void>[] =>
    Array.from({ length: count }, (_, index) => ledger.write([numbered(from + index)]))
  const first = write(1, 1)
  await yieldLoop()
  await yieldLoop()
  const few = write(2, 31)
  await yieldLoop()
  assert.deepEqual(
    memory.seen.at(-1)?.map(({ entries }) => entries),
    [1],
  )
  const oneMore = write(33, 1)
  await yieldLoop()
  await yieldLoop()
  assert.deepEqual(
    memory.seen.at(-1)?.map(({ entries }) => entries),
    [1, 32],
  )
  await Promise.all([...first, ...few, ...oneMore])
})
