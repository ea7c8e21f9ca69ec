/** New users and tags on their way into the ledger: they hold up no records but their own, and are counted under their own names. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import { MAX_LABEL_VALUES } from '#core/money/labels.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { Database } from '#stores/postgres/database.ts'
import { LabelRegistry } from '#stores/postgres/ledger/label-registry.ts'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import { FileJournal } from '#stores/spool/journal.ts'
import { FileSpool } from '#stores/spool/spool.ts'
import { BatchedLedger } from '#worker/ledger/batched-ledger.ts'
import { testFolder } from '#test/support/disk.ts'
import { postgresStores, type LedgerStores } from '#test/support/ledger-stores.ts'
import { eventually } from '#test/support/process.ts'

const open = postgresStores()

/** A database whose transactions wait for a gate, and that counts what it is asked. */
class GatedDatabase {
  /** Transactions wait for it. */
  gate: Promise<void> = Promise.resolve()
  transactions = 0
  /** Statements outside of transactions. */
  statements = 0
  /** Rows that transactions read. */
  rows = 0
  readonly sql: Database

  constructor(database: Database) {
    const gated: Pick<Database, 'query' | 'transaction'> = {
      query: (...args) => {
        this.statements += 1
        return database.query(...args)
      },
      transaction: async (work) => {
        this.transactions += 1
        await this.gate
        return database.transaction((sql) =>
          work({
            ...sql,
            query: async (...args) => {
              const rows = await sql.query<never>(...args)
              this.rows += rows.length
              return rows
            },
          }),
        )
      },
    }
    this.sql = { ...database, ...gated }
  }
}

async function aNode() {
  const stores = await open()
  const database = new GatedDatabase(stores.database)
  const folder = testFolder()
  const spool = new FileSpool(join(folder, 'spool'))
  after(() => spool.close())
  const events: string[] = []
  const ledger = new BatchedLedger({
    nodeId: stores.nodeId,
    store: new PostgresLedger(database.sql),
    spool,
    journal: new FileJournal(folder),
    events: {
      written: ({ entries, where }) => events.push(`${entries} to ${where}`),
      storeUnreachable: () => events.push('away'),
      storeBack: () => events.push('back'),
      refused: (_, error) => events.push(`refused: ${error.message}`),
      spoolFailed: (error) => events.push(error.message),
      journalFailed: (error) => events.push(error.message),
      diskBack: () => {},
      nodeEnded: () => {},
    },
    connect: async () => {},
    monotonicMs: () => 0,
    yieldLoop,
  })
  await ledger.drain()
  return { ...stores, ledger, gated: database, events }
}

async function spentBy({ rows }: Pick<LedgerStores, 'rows'>): Promise<Record<string, bigint>> {
  const sums = await rows<{ name: string; nano: bigint }>(
    `SELECT label || '=' || value AS name, sum(amount_nano)::bigint AS nano FROM usage_label_hours GROUP BY 1 ORDER BY 1`,
  )
  return Object.fromEntries(sums.map(({ name, nano }) => [name, nano]))
}

test('a new user or tag holds up its own records and no others, and nothing of it is counted elsewhere', async () => {
  const node = await aNode()
  const { ledger, gated, entry, reconciler } = node
  await ledger.write([entry({ labels: { user: 'known' }, amountNanoUsd: 1n })])
  const gate = Promise.withResolvers<void>()
  gated.gate = gate.promise
  let isWritten = false
  const labels = { user: 'new', tags: { team: 'red' } }
  const first = ledger.write([entry({ labels, amountNanoUsd: 10n })]).then(() => (isWritten = true))
  const second = ledger.write([entry({ labels, amountNanoUsd: 100n })])
  await ledger.write([entry()])
  await ledger.write([entry({ labels: { user: 'known' }, amountNanoUsd: 1000n })])
  assert.equal(isWritten, false)
  gate.resolve()
  await Promise.all([first, second, ledger.settled()])
  assert.deepEqual(await spentBy(node), { 'user=known': 1001n, 'user=new': 110n, 'tag:team=red': 110n })
  assert.deepEqual((await reconciler.reconcile(1)).differences, [])
})

test('a batch with new users is the same one statement as a batch without, and what comes together is registered together', async () => {
  const { ledger, gated, entry, events } = await aNode()
  const statementsFor = async (userOf: (index: number) => string): Promise<number> => {
    const before = gated.statements
    const users = Array.from({ length: 20 }, (_, index) => userOf(index))
    await Promise.all(users.map((user) => ledger.write([entry({ labels: { user } })])))
    return gated.statements - before
  }
  await ledger.write([entry({ labels: { user: 'known' } })])
  gated.transactions = 0
  assert.equal(await statementsFor(() => 'known'), 1)
  assert.equal(gated.transactions, 0)
  assert.equal(await statementsFor((index) => `new-${index}`), 1)
  assert.equal(gated.transactions, 1)
  assert.deepEqual(events.slice(-2), ['20 to store', '20 to store'])
})

test('values that come during a round wait for the next one, so that a node registers on one connection', async () => {
  const node = await aNode()
  const { ledger, gated, entry } = node
  const gate = Promise.withResolvers<void>()
  gated.gate = gate.promise
  const users = ['a', 'b', 'c', 'd']
  const writes: Promise<void>[] = []
  for (const user of [...users, 'a']) {
    writes.push(ledger.write([entry({ labels: { user }, amountNanoUsd: 1n })]))
    await yieldLoop()
    assert.equal(gated.transactions, 1)
  }
  gate.resolve()
  await Promise.all(writes)
  assert.equal(gated.transactions, 2)
  assert.equal(Object.keys(await spentBy(node)).length, users.length)
  // Registered by the round that is in progress: the next one has nothing to do.
  const twice = Array.from({ length: 2 }, () => entry({ labels: { user: 'e' } }))
  const rounds = [ledger.write(twice.slice(0, 1))]
  await yieldLoop()
  rounds.push(ledger.write(twice.slice(1)))
  await Promise.all(rounds)
  assert.equal(gated.transactions, 3)
})

test('records of a new user are in the spool while the store is unreachable, and count for that user afterwards', async () => {
  const node = await aNode()
  const { ledger, gated, entry, events } = node
  gated.gate = Promise.reject(new StoreUnreachable('cut'))
  gated.gate.catch(() => {})
  await ledger.write([entry({ labels: { user: 'new' }, amountNanoUsd: 7n })])
  assert.deepEqual(events, ['away', '1 to spool'])
  assert.equal(gated.transactions, 1, 'the record waits for one time-out, not for two')
  gated.gate = Promise.resolve()
  await eventually(async () => {
    await ledger.drain()
    assert.deepEqual(await spentBy(node), { 'user=new': 7n })
  })
})

test('a round that the store refuses stops neither its own records nor the next round', async () => {
  const node = await aNode()
  const { ledger, gated, entry, events } = node
  gated.gate = Promise.reject(new RangeError('refused'))
  const later = gated.gate.catch(() => void (gated.gate = Promise.resolve()))
  const first = ledger.write([entry({ labels: { user: 'first' }, amountNanoUsd: 1n })])
  await later
  await Promise.all([first, ledger.write([entry({ labels: { user: 'second' }, amountNanoUsd: 2n })])])
  assert.deepEqual(await spentBy(node), { 'user=first': 1n, 'user=second': 2n })
  assert.ok(
    events.every((event) => event.endsWith('to store')),
    events.join(),
  )
  const registry = new LabelRegistry(gated.sql)
  gated.gate = Promise.reject(new RangeError('refused'))
  const third = [entry({ labels: { user: 'third' } })]
  await assert.rejects(async () => registry.register(third), RangeError)
  gated.gate = Promise.resolve()
  await registry.register(third)
  assert.equal(registry.register(third), undefined)
})

/** Eight full tags of a project, known to the registry of one node. */
async function fullTags(maxRemembered?: number) {
  const { database, entry } = await open()
  const gated = new GatedDatabase(database)
  const registry = new LabelRegistry(gated.sql, maxRemembered)
  const tagsOf = (index: number) =>
    Object.fromEntries(Array.from({ length: 8 }, (_, key) => [`k${key}`, `v${index}`]))
  const all = Array.from({ length: MAX_LABEL_VALUES }, (_, index) =>
    entry({ labels: { user: 'u', tags: tagsOf(index) } }),
  )
  await registry.register(all)
  return { registry, gated, entry, tagsOf }
}

test('the values of full tags are read once, however many new users follow', async () => {
  const { registry, gated, entry, tagsOf } = await fullTags()
  gated.rows = 0
  for (let index = 0; index < 10; index += 1)
    await registry.register([entry({ labels: { user: `new-${index}`, tags: tagsOf(5000 + index) } })])
  assert.ok(gated.rows < 10 * 20, `${gated.rows} rows`)
  const other = new LabelRegistry(gated.sql)
  gated.rows = 0
  await other.register([entry({ labels: { tags: tagsOf(7000) } })])
  assert.ok(gated.rows >= 8 * MAX_LABEL_VALUES, 'another node has to read them')
  gated.rows = 0
  await other.register([entry({ labels: { user: 'newer', tags: tagsOf(7001) } })])
  assert.ok(gated.rows < 20, `${gated.rows} rows`)
})

test('a node forgets nothing while what it remembers is below its limit', async () => {
  const values = 8 * (MAX_LABEL_VALUES + 1)
  const { registry, entry, tagsOf } = await fullTags(values + 100)
  const users = Array.from({ length: 90 }, (_, index) => entry({ labels: { user: `new-${index}` } }))
  for (const user of users) await registry.register([user])
  assert.equal(registry.register([entry({ labels: { tags: tagsOf(1) } }), ...users]), undefined)
  for (let index = 0; index < 20; index += 1)
    await registry.register([entry({ labels: { user: `last-${index}` } })])
  assert.notEqual(registry.register(users), undefined, 'beyond the limit it reads again')
})
