/** Batches at the control API: what each caller sees, and what a cancellation leaves behind. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partName } from '#core/batch/part.ts'
import { resultSegments } from '#request/batches/result-segments.ts'
import { systemClock } from '#runtime/clock.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { PostgresAudit } from '#stores/postgres/audit.ts'
import { PostgresBatches } from '#stores/postgres/jobs/batches.ts'
import { PostgresFiles } from '#stores/postgres/jobs/files.ts'
import { batchTopic } from '#control/batches/routes.ts'
import { nodeCaller } from '#control/shared/caller.ts'
import { postgresStores } from '#test/support/ledger-stores.ts'
import { assertFault } from '#test/support/errors.ts'
import { startScopedControl } from '#test/support/scoped-control.ts'
import { absent } from '#test/support/stores/absent.ts'
import { aBatch, chunksOf, doneEnd } from '../../contract/batches-open.ts'
import type { NewBatch } from '#ports/batches.ts'

const open = postgresStores()
const MANY = 1000

interface Row {
  readonly id: string
  readonly state: string
  readonly lines: { readonly total: number; readonly completed: number; readonly failed: number }
  readonly cost_usd: string
  readonly output: { readonly bytes: number }
}
interface List {
  readonly data: readonly Row[]
  readonly next: string | null
}
interface Detail extends Row {
  readonly faults: readonly { readonly code: string; readonly lines: number }[]
  readonly lines_per_second: number | null
  readonly series: { readonly slot_ms: number; readonly lines: readonly number[] }
  readonly metadata: Readonly<Record<string, string>>
}

async function world() {
  const { database, nodeId } = await open()
  await database.query('TRUNCATE batches, batch_chunks, files CASCADE')
  const batches = new PostgresBatches(database)
  const files = new PostgresFiles(database, systemClock)
  const blobs = new MemoryBlobs(systemClock)
  const control = await startScopedControl({
    node: absent('node', {
      reports: database,
      batches,
      files,
      fileBlobs: blobs,
      segmentsOf: async ({ source }) => (source.kind === 'batch' ? resultSegments(source, batches) : []),
      clock: systemClock,
    }),
  })
  const made = async (overrides: Partial<NewBatch> = {}): Promise<string> => {
    const batch = aBatch({ project: 'search', keyId: 'search/indexer', ...overrides })
    await batches.create(batch, MANY)
    return batch.id
  }
  return { ...control, database, nodeId, batches, blobs, made }
}

const ids = ({ data }: List): string[] => data.map(({ id }) => id)

test('batches are listed newest first, page by page, each caller its own projects', async () => {
  const { askAs, made } = await world()
  const own = [await made(), await made(), await made()].toReversed()
  const other = await made({ project: 'ads', keyId: 'ads/website' })
  assert.deepEqual(ids((await askAs<List>('admin', '/batches')).body), [other, ...own])
  const { body } = await askAs<List>('search', '/batches?limit=2')
  assert.deepEqual(ids(body), own.slice(0, 2))
  assert.deepEqual(ids((await askAs<List>('search', `/batches?after=${body.next}`)).body), own.slice(2))
  assertFault(await askAs('search', '/batches?project=ads'), 'forbidden')
  assertFault(await askAs('search', `/batches/${other}`), 'not_found')
  assertFault(await askAs('search', `/batches/${other}/output`), 'not_found')
  assertFault(await askAs('search', `/batches/${other}/cancel`, { method: 'POST' }), 'not_found')
  assertFault(await askAs('admin', '/batches/batch_of_nobody'), 'not_found')
})

test('a batch that runs tells how far it is, how fast it goes and how its lines failed', async () => {
  const { askAs, batches, nodeId, made, database } = await world()
  const id = await made({ chunks: chunksOf(3) })
  for (const faults of [{ input_too_long: 2, content_policy_violation: 1 }, { input_too_long: 4 }]) {
    const [held] = await batches.claim(nodeId, 1)
    assert.ok(held)
    const failed = Object.values(faults).reduce((sum, lines) => sum + lines, 0)
    await batches.finish(held.hold, doneEnd(held, { completed: held.lines - failed, failed, faults }))
  }
  await database.query(
    `UPDATE batches SET created_at = now() - interval '2 minutes' WHERE batch_id = '${id}';
     UPDATE batch_chunks SET done_at = now() - interval '90 seconds' WHERE batch_id = '${id}' AND chunk = 0`,
  )
  const { body, text } = await askAs<Detail>('search', `/batches/${id}`)
  assert.deepEqual([body.state, body.lines], ['in_progress', { total: 30, completed: 13, failed: 7 }])
  assert.deepEqual(body.faults, [
    { code: 'input_too_long', lines: 6 },
    { code: 'content_policy_violation', lines: 1 },
  ])
  assert.equal(
    body.series.lines.reduce((sum, lines) => sum + lines, 0),
    20,
  )
  assert.equal(body.series.lines.filter((lines) => lines > 0).length, 2)
  // 20 lines in two minutes.
  assert.ok(body.lines_per_second !== null && Math.abs(body.lines_per_second - 20 / 120) < 0.06)
  assert.equal(body.cost_usd, '0.000000020')
  assert.deepEqual(body.metadata, { corpus: 'wiki' })
  assert.ok(!text.includes('terms'), 'what its key allowed is for those who run it')
})

test('results are sent as far as they are there, whole or a range, to those who may see the project', async () => {
  const { fetchAs, askAs, batches, blobs, nodeId, made } = await world()
  const id = await made({ chunks: chunksOf(1) })
  assertFault(await askAs('search', `/batches/${id}/output`), 'not_found')
  const [held] = await batches.claim(nodeId, 1)
  assert.ok(held)
  const bytes = new TextEncoder().encode('head\n{"custom_id":"a"}\n{"custom_id":"b"}\n')
  await blobs.put(partName(id, held.hold.chunk, held.hold.token), bytes)
  const part = { token: held.hold.token, headBytes: 5, outputBytes: 18, errorBytes: 18 }
  const counts = doneEnd(held, { completed: 9, failed: 1, faults: { input_too_long: 1 } }).counts
  await batches.finish(held.hold, { counts, part })
  const output = await fetchAs('search', `/batches/${id}/output`)
  assert.match(output.headers.get('content-disposition') ?? '', /^attachment/)
  assert.deepEqual([output.status, await output.text()], [200, '{"custom_id":"a"}\n'])
  const errors = await fetchAs('admin', `/batches/${id}/errors`)
  assert.deepEqual([errors.status, await errors.text()], [200, '{"custom_id":"b"}\n'])
  assertFault(await askAs('ads', `/batches/${id}/errors`), 'not_found')
})

test('cancelling ends what has not begun, and the audit names the person, once', async () => {
  const { askAs, database, made } = await world()
  const id = await made()
  const cancel = () => askAs<Row>('search', `/batches/${id}/cancel`, { method: 'POST' })
  assert.equal((await cancel()).body.state, 'cancelled')
  assert.equal((await cancel()).body.state, 'cancelled')
  const entries = await new PostgresAudit(database, systemClock).list({ limit: 10, target: id })
  assert.deepEqual(
    entries.map(({ actor, action, detail }) => [actor, action, detail['project'], detail['done']]),
    [['developer of search', 'batch.cancel', 'search', 0]],
  )
  assert.deepEqual(ids((await askAs<List>('search', '/batches?state=open')).body), [])
  assert.deepEqual(ids((await askAs<List>('search', '/batches?state=cancelled')).body), [id])
})

test('the live topic tells each change of a batch once, and nothing of other projects', async () => {
  const { batches, nodeId, database, made } = await world()
  const id = await made({ chunks: chunksOf(1) })
  const feed = batchTopic({ reports: database, clock: systemClock }).open({
    caller: nodeCaller('admin'),
    projects: ['search'],
    query: {},
  })
  assert.deepEqual(await feed.news(), [])
  await made({ project: 'ads' })
  assert.deepEqual(await feed.news(), [])
  const held = (await batches.claim(nodeId, 2)).find(({ batch }) => batch.id === id)
  assert.ok(held)
  await batches.finish(held.hold, doneEnd(held))
  const news = (await feed.news()) as readonly Row[]
  assert.deepEqual(
    news.map((one) => [one.id, one.state, one.lines.completed]),
    [[id, 'completed', 10]],
  )
  assert.deepEqual(await feed.news(), [])
})
