/** The usage of a batch equals the ledger, to the nano-dollar; and nodes of the version before do not harm what this one writes. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { LedgerEntry } from '#core/money/ledger.ts'
import type { WantedChunks } from '#ports/batches.ts'
import { PostgresBatches } from '#stores/postgres/jobs/batches.ts'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import { openPostgres } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { runs } from '#test/support/arbitraries.ts'
import { anEntry } from '#test/support/entries.ts'
import { testPostgres } from '#test/support/servers.ts'
import { aBatch, chunksOf, madeEnd } from './batches-open.ts'
import { nextId } from './image-jobs-open.ts'

const { url } = await testPostgres()
const database = openPostgres(url)
await migrate(database)
after(() => database.close())
const batches = new PostgresBatches(database)
const ledger = new PostgresLedger(database)

const NODES = [nextId(), nextId()] as const
for (const id of NODES) await ledger.startNode({ id, host: 'test', version: '1' })

async function onlyOf(batchId: string): Promise<WantedChunks> {
  const others = await database.query<{ batch_id: string }>(
    'SELECT batch_id FROM batches WHERE batch_id <> $1',
    [batchId],
  )
  return { notOfBatches: others.map(({ batch_id }) => batch_id) }
}

test('however entries of a batch come, again, late, or as an unknown that is resolved, its sums are those of the ledger', async () => {
  const call = fc.record({
    kind: fc.constantFrom('post', 'unknown', 'unknown then post', 'unknown then void'),
    nanoUsd: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    reserved: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    tokens: fc.nat(100_000),
    node: fc.constantFrom(...NODES),
    isOfBatch: fc.boolean(),
    times: fc.integer({ min: 1, max: 3 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 12 }), async (calls) => {
      const batch = aBatch()
      await batches.create(batch, 1_000_000)
      for (const { kind, nanoUsd, reserved, tokens, node, isOfBatch, times } of calls) {
        const named = { requestId: nextId(), callId: nextId(), batchId: isOfBatch ? batch.id : undefined }
        const post: LedgerEntry = anEntry({ ...named, kind: 'post', amountNanoUsd: nanoUsd, tokens })
        const unknown = anEntry({ ...named, kind: 'unknown', amountNanoUsd: reserved, tokens: undefined })
        for (let time = 0; time < times; time += 1) {
          if (kind === 'post') await ledger.append(node, [post])
          else await ledger.append(node, [unknown])
        }
        if (kind === 'unknown then post') await ledger.appendLate(node, [post])
        if (kind === 'unknown then void')
          await ledger.resolveUnknown({
            ...named,
            attempt: unknown.attempt,
            kind: 'void',
            actor: { kind: 'member', name: 'ada' },
          })
      }
      const [sums] = await database.query<{ tokens: bigint; nano: bigint; unknown: bigint }>(
        `SELECT coalesce(sum(tokens), 0)::bigint AS tokens, coalesce(sum(amount_nano), 0)::bigint AS nano,
           coalesce(sum(unknown_nano), 0)::bigint AS unknown FROM usage_events WHERE batch_id = $1`,
        [batch.id],
      )
      const found = await batches.find(batch.id, batch.project)
      assert.deepEqual(
        [BigInt(found?.tokens ?? -1), found?.costNanoUsd, found?.unknownNanoUsd],
        [sums?.tokens, sums?.nano, sums?.unknown],
      )
      const open = calls.filter(({ kind, isOfBatch }) => isOfBatch && kind === 'unknown')
      assert.equal(
        found?.unknownNanoUsd,
        open.reduce((sum, { reserved }) => sum + reserved, 0n),
      )
    }),
    runs(25),
  )
})

test('what chunks of the version before used is added to what the ledger says', async () => {
  const batch = aBatch({ chunks: chunksOf(1) })
  await batches.create(batch, 1_000_000)
  await ledger.append(NODES[0], [anEntry({ requestId: nextId(), batchId: batch.id, amountNanoUsd: 7n })])
  const [held] = await batches.claim(NODES[0], 1, await onlyOf(batch.id))
  assert.ok(held)
  await batches.finish(held.hold, madeEnd(held, 'd'))
  const found = await batches.find(batch.id, batch.project)
  assert.deepEqual([found?.costNanoUsd, found?.tokens], [17n, 40])
})
