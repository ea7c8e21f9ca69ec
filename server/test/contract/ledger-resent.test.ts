/** The usual statement of the ledger expects that no entry is there already: whatever it meets, an entry counts once. */
import assert from 'node:assert/strict'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { windowOf, type Budget } from '#core/money/budget.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { openPostgres } from '#stores/postgres/database.ts'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import { hasPostgres, testPostgres } from '#test/support/servers.ts'
import { anEntry, aNode, aProject, nextId, postgresLedger, requestIdAt, sumsOf } from './open-ledger.ts'

const skip = hasPostgres ? false : 'needs PostgreSQL'
const { url } = hasPostgres ? await testPostgres() : { url: '' }
const stores = hasPostgres ? await postgresLedger(url) : undefined

/** A link to the database that can lose an answer: the statement is committed, and the connection breaks before it is heard of. */
async function losingLink() {
  const link = { losesAnswer: false, url: '' }
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => socket.destroy()))
    client.pipe(upstream)
    upstream.on('data', (chunk) => {
      if (!link.losesAnswer) return client.write(chunk)
      link.losesAnswer = false
      client.destroy()
      return upstream.destroy()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const through = new URL(url)
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  link.url = through.href
  after(() => {
    server.close()
    sockets.forEach((socket) => socket.destroy())
  })
  return link
}

const isLabelled = { labels: { user: 'ada', tags: { team: 'search' } } }

for (const [what, overrides] of [
  ['entries', {}],
  ['entries with labels', isLabelled],
] as const)
  test(
    `${what} whose commit was not heard of count once, in sums, budgets and leases, however they are sent again`,
    { skip },
    async () => {
      if (stores === undefined) return
      const link = await losingLink()
      const database = openPostgres(link.url, { poolSize: 1 })
      const ledger = new PostgresLedger(database)
      for (const again of ['append', 'appendLate'] as const) {
        const node: string = await aNode(stores)
        const project = aProject()
        const budget: Budget = { id: `project:${project}`, limitNanoUsd: 10n ** 9n, per: 'day', hard: true }
        const window = windowOf('day', Date.now())
        const lease = {
          budget,
          window,
          nodeId: node,
          operation: nextId(),
          neededNanoUsd: 1000n,
          liveNodes: 1,
        }
        await stores.budgets.lease(lease)
        const held = await stores.inspect.leaseNanoUsd(budget.id, window, node)
        const batch = Array.from({ length: 5 }, () =>
          anEntry(project, { amountNanoUsd: 100n, projectLeaseNanoUsd: 100n, ...overrides }),
        )
        // The first statement of a connection is its preparation as well.
        await ledger.append(node, [anEntry(aProject(), overrides)])
        link.losesAnswer = true
        await assert.rejects(ledger.append(node, batch), StoreUnreachable)
        assert.equal(link.losesAnswer, false)
        await stores.ledger[again](node, [...batch, anEntry(project, { amountNanoUsd: 7n, ...overrides })])
        await stores.ledger[again](node, batch.toReversed())
        const kept = await stores.inspect.entries(project)
        assert.equal(kept.length, 6)
        assert.deepEqual(await stores.inspect.rollups(project), sumsOf(kept))
        assert.deepEqual((await stores.inspect.budgetState(budget.id, window))?.spentNanoUsd, 507n)
        assert.equal(await stores.inspect.leaseNanoUsd(budget.id, window, node), held - 500n)
      }
      await database.close()
    },
  )

test(
  'two nodes with two lanes each write to the same keys at once: no deadlock, and every sum is right',
  { skip },
  async () => {
    if (stores === undefined) return
    const project = aProject()
    const nodes = [await aNode(stores), await aNode(stores)]
    const sent: LedgerEntry[] = []
    await Promise.all(
      nodes.flatMap((node) =>
        [0, 1].map(async (lane) => {
          for (let time = 0; time < 40; time += 1) {
            const batch = Array.from({ length: 12 }, (_, index) =>
              anEntry(project, {
                keyId: `${project}/${(index * 7 + time * (lane + 1)) % 12}`,
                amountNanoUsd: 3n,
              }),
            )
            sent.push(...batch)
            await stores.ledger.append(node, batch, lane)
          }
        }),
      ),
    )
    assert.deepEqual(await stores.inspect.rollups(project), sumsOf(sent))
    const [row] = await stores.database.query<{ deadlocks: bigint }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    )
    assert.equal(row?.deadlocks, 0n)
  },
)

test('an entry of a sealed hour is a correction, and counts beside what was sealed', { skip }, async () => {
  if (stores === undefined) return
  const [node, project] = [await aNode(stores), aProject()]
  const { database } = stores
  const [before] = await database.query<{ through: Date | number }>('SELECT through FROM ledger_seal')
  const ofAnHourAgo = () => anEntry(project, { requestId: requestIdAt(Date.now() - 3_600_000) })
  const usual = ofAnHourAgo()
  await stores.ledger.append(node, [usual])
  await database.query(`UPDATE ledger_seal SET through = date_trunc('hour', now())`)
  const late = ofAnHourAgo()
  await stores.ledger.append(node, [late])
  await database.query('UPDATE ledger_seal SET through = $1', [before?.through])
  const shards = await database.query<{ is_late: boolean }>(
    'SELECT shard >= 100 AS is_late FROM usage_hours WHERE project = $1 ORDER BY shard',
    [project],
  )
  assert.deepEqual(
    shards.map(({ is_late }) => is_late),
    [false, true],
  )
  const corrections = await database.query('SELECT request_id FROM ledger_corrections WHERE project = $1', [
    project,
  ])
  assert.deepEqual(corrections, [{ request_id: late.requestId }])
  assert.deepEqual(await stores.inspect.rollups(project), sumsOf([usual, late]))
})
