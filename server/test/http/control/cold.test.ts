/** The routes that read entries, about days that PostgreSQL has dropped. */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { decimalOf } from '#core/money/price.ts'
import { WorkerLedgerFiles } from '#runtime/ledger-files.ts'
import { DiskBlobs } from '#stores/blobs/disk.ts'
import { openPostgres } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { testFolder } from '#test/support/disk.ts'
import { fillDay, LAKE_DAYS, openTestLake, sealDays } from '#test/support/lake.ts'
import { hasPostgres, testPostgres } from '#test/support/servers.ts'

const ENTRIES = 40
const LATE = 20
const [DAY] = LAKE_DAYS

interface Entry {
  readonly request_id: string
  readonly call_id: string
  readonly project: string
  readonly kind: string
  readonly amount_nano: bigint | null
}

/** A node on a ledger whose days were all dropped, and the entries that they had. */
async function started() {
  const folder = testFolder()
  const { url } = await testPostgres()
  const database = openPostgres(url)
  after(() => database.close())
  await migrate(database)
  await sealDays(database, ENTRIES)
  await fillDay(database, DAY, LATE, 'late', 'late')
  const entries = await database.query<Entry>(
    'SELECT request_id, call_id, project, kind, amount_nano FROM usage_events ORDER BY request_id, attempt, kind',
  )
  await database.query(
    `INSERT INTO image_jobs (job_id, project, key_id, model, digest, state, token, lease_until, created_at, ended_at)
     SELECT request_id, project, key_id, model, '', 'failed', 1, now(), now(), now() FROM usage_events
     WHERE project = 'project 1' AND kind = 'post' ORDER BY request_id LIMIT 1`,
  )
  const files = new WorkerLedgerFiles()
  const { lake, store } = openTestLake(database, await DiskBlobs.open(folder), files, { keepDays: 35 })
  await lake.round()
  await files.close()
  assert.equal(await store.keptFrom(), '2026-10-16')
  assert.deepEqual(await database.query('SELECT 1 FROM usage_events'), [])
  const node = await startConsoleNode({
    env: { DATABASE_URL: url, ASSETS_URL: pathToFileURL(folder).href },
  })
  const ask = async (path: string, token = NODE_TOKEN) => {
    const answer = await node.control('GET', path, { token })
    assert.equal(answer.status, 200, answer.text)
    return answer
  }
  const find = async (id: string, token?: string) =>
    ((await ask(`/resolve?q=${id}`, token)).body['data'] as { type: string; id: string }[]).map(
      (hit) => `${hit.type} ${hit.id}`,
    )
  const developer = await node.tokenOf('developer', { projects: ['project 1'] })
  return { folder, node, entries, ask, find, developer }
}

const skip = hasPostgres ? false : 'there is no PostgreSQL on this machine'

test(
  'what PostgreSQL has dropped is exported, shown and found from its files, by those who may see it',
  { skip },
  async (t) => {
    const { folder, node, entries, ask, find, developer } = await started()
    const own = entries.find(({ project, kind }) => project === 'project 1' && kind === 'post') as Entry
    const other = entries.find(({ project }) => project === 'project 2') as Entry

    await t.test('the export of usage has every entry, corrections among them', async () => {
      const span = `from=${LAKE_DAYS[0]}T00:00:00Z&to=2026-09-05T00:00:00Z&rows=ledger&format=ndjson`
      const lines = (await ask(`/usage/export?${span}`)).text.trim().split('\n').slice(0, -1)
      const exported = lines.map((line) => JSON.parse(line) as Entry)
      assert.equal(exported.length, ENTRIES * LAKE_DAYS.length + LATE)
      assert.deepEqual(
        exported.map((one) => `${one.request_id} ${one.call_id}`),
        entries.map((one) => `${one.request_id} ${one.call_id}`),
      )
      const { text } = await ask(`/usage/export?${span}&project=project+1`)
      const seen = text
        .trim()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Entry)
      assert.equal(seen.length, entries.filter(({ project }) => project === 'project 1').length)
      assert.ok(seen.every(({ project }) => project === 'project 1'))
    })

    await t.test('a request is shown with its entries', async () => {
      const { body } = await ask(`/requests/${own.request_id}`, developer)
      const [entry] = body['ledger'] as Entry[]
      assert.deepEqual([body['log'], entry?.call_id], ['deleted', own.call_id])
    })

    await t.test('the id of a request and that of a call lead to the request', async () => {
      for (const token of [NODE_TOKEN, developer]) {
        assert.deepEqual(await find(own.request_id, token), [`request ${own.request_id}`])
        assert.deepEqual(await find(own.call_id, token), [`call ${own.request_id}`])
      }
      assert.deepEqual(await find(other.call_id), [`call ${other.request_id}`])
      assert.deepEqual(await find(other.call_id, developer), [])
      assert.deepEqual(await find('00000000-0000-4000-8000-000000000000'), [])
      assert.deepEqual(await find('ffffffff-ffff-4fff-bfff-ffffffffffff'), [])
    })

    await t.test('the list of image jobs says that a cost is in files, and the request has it', async () => {
      const [job] = (await ask('/image-jobs')).body['data'] as Record<string, unknown>[]
      assert.deepEqual([job?.['id'], job?.['cost_usd'], job?.['cost_in_files']], [own.request_id, null, true])
      const { body } = await ask(`/requests/${own.request_id}`)
      assert.equal(body['posted_usd'], decimalOf(own.amount_nano ?? 0n))
    })

    await t.test('files that cannot be read are named, and PostgreSQL is not blamed', async () => {
      rmSync(join(folder, 'ledger'), { recursive: true })
      const { status, text } = await node.control('GET', `/requests/${own.request_id}`, { token: NODE_TOKEN })
      assert.deepEqual([status, /part-0001\.parquet is missing/.test(text)], [503, true], text)
      assert.doesNotMatch(text, /PostgreSQL/)
    })
  },
)
