/** A job outlives the process that began it: a polled purchase is followed to its end, and never made a second time. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { rowsIn } from '#test/e2e/money/ledger-rows.ts'
import { askAt, startNodeProcess, type NodeProcess } from '#test/support/cluster.ts'
import { GATEWAY_KEY, type Asked, type GatewayOptions } from '#test/support/gateway.ts'
import { billedPictures, IMAGES_PATH, purchasesAt, servedBy, sha256 } from '#test/support/image-answers.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'

const bfl = {
  upstream: { base: 'bfl/v1', dialect: 'ai-sdk', provider: 'black-forest-labs' },
  upstreamModel: 'flux-pro-1.1',
  capabilities: { formats: ['jpeg'] },
  price: { usdPerImage: 0.04 },
}
const options: GatewayOptions = {
  images: {
    'drained-image': { on: 'pending-3000', ...bfl },
    'killed-image': { on: 'pending-8000', ...bfl },
    'retried-image': { on: 'pending-8000+key-retried', ...bfl },
    'hung-image': { on: 'serves-then-hangs', price: { usdPerImage: 0.04 } },
  },
}
const provider = await startFakeProvider()
after(() => provider.close())
const { url: databaseUrl } = await testPostgres()
const database: Database = openPostgres(databaseUrl, { poolSize: 2 })
after(() => database.close())

const start = (folder?: string): Promise<NodeProcess> =>
  startNodeProcess(options, provider.url, {
    env: { DATABASE_URL: databaseUrl },
    ...(folder !== undefined && { folder }),
  })

interface Job {
  readonly id: string
  readonly status: string
  readonly result?: { readonly data: readonly { readonly b64_json: string }[] }
  readonly error?: { readonly code: string }
}

async function begin(node: NodeProcess, model: string): Promise<string> {
  const answer: Asked = await askAt(
    node.url,
    { model, prompt: 'a red bicycle', size: '256x256' },
    { key: GATEWAY_KEY, path: IMAGES_PATH, headers: { prefer: 'respond-async' } },
  )
  assert.equal(answer.status, 202, answer.text)
  return (answer.body as unknown as Job).id
}

async function look(node: NodeProcess, id: string): Promise<Job> {
  const answer = await fetch(`${node.url}/v1/images/jobs/${id}`, {
    headers: { authorization: `Bearer ${GATEWAY_KEY}` },
  })
  assert.equal(answer.status, 200)
  return (await answer.json()) as Job
}

const end = (node: NodeProcess, id: string): Promise<Job> =>
  eventually(async () => {
    const job = await look(node, id)
    assert.ok(!['queued', 'running'].includes(job.status), job.status)
    return job
  })

function assertBoughtOnce(job: Job, scenario: string): void {
  assert.equal(job.status, 'succeeded', JSON.stringify(job.error))
  const bytes = Buffer.from(job.result?.data[0]?.b64_json ?? '', 'base64')
  assert.deepEqual(billedPictures(provider, scenario), [sha256(bytes)])
  assert.equal(purchasesAt(provider, scenario).length, 1, 'it was submitted again')
}

/** The call is in the ledger, once and with its cost. */
function assertPosted(jobId: string): Promise<void> {
  return eventually(async () => {
    const rows = (await rowsIn(database)).filter(({ requestId }) => requestId === jobId)
    // A temporary unknown is settled by a further row: together they are one purchase.
    const sum = rows.reduce((total, { nanoUsd }) => total + nanoUsd, 0)
    assert.deepEqual([rows.at(-1)?.kind, sum], ['post', 40_000_000], JSON.stringify(rows))
  })
}

/** As if the minute had passed for which a dead node's word is good. */
async function letLeasesRunOut(): Promise<void> {
  await database.query('UPDATE image_jobs SET lease_until = now() WHERE ended_at IS NULL')
}

/** One test, since a process ends with the test that started it; there are three of them, in one folder. */
test('a job is ended before SIGTERM ends its node, and followed by another after SIGKILL: nothing is bought twice', async () => {
  const second = await afterSigterm(await start())
  await afterSigkill(second)
})

/** The next node has the results of the first one's jobs. */
async function afterSigterm(first: NodeProcess): Promise<NodeProcess> {
  const id = await begin(first, 'drained-image')
  await eventually(async () => assert.equal(purchasesAt(provider, 'pending-3000').length, 1))
  first.child.kill('SIGTERM')
  const second = await start(first.folder)
  assertBoughtOnce(await end(second, id), 'pending-3000')
  assert.equal(await first.exit, 0, first.stderr())
  await assertPosted(id)
  return second
}

/** A purchase that was written down is followed to its end; one that left no trace is not known, and not repeated. */
async function afterSigkill(node: NodeProcess): Promise<void> {
  const followed = await begin(node, 'killed-image')
  const lost = await begin(node, 'hung-image')
  const broken = askRetried(node)
  await eventually(async () => {
    const polls = provider
      .entries()
      .filter(({ scenario, operation }) => scenario === 'pending-8000' && operation === 'poll')
    assert.ok(polls.length > 0)
    assert.equal(servedBy(provider, 'serves-then-hangs').length, 1)
    assert.equal(purchasesAt(provider, RETRIED).length, 1)
  })
  node.child.kill('SIGKILL')
  await assert.rejects(broken)
  await node.exit
  assert.deepEqual(
    [await stateOf(followed), await stateOf(lost)],
    ['dispatched', 'dispatched'],
    'it ended before it was killed',
  )
  await letLeasesRunOut()
  const next = await start(node.folder)
  const retried = askRetried(next, { 'x-stainless-retry-count': '1' })

  const job = await end(next, lost)
  assert.deepEqual([job.status, job.error?.code], ['unknown', 'outcome_unknown'])
  assert.equal(purchasesAt(provider, 'serves-then-hangs').length, 1)
  await eventually(async () => {
    const rows = (await rowsIn(database)).filter(({ requestId }) => requestId === lost)
    assert.deepEqual(
      rows.map(({ kind, nanoUsd }) => [kind, nanoUsd]),
      [['unknown', 40_000_000]],
    )
  })

  assertBoughtOnce(await end(next, followed), 'pending-8000')
  await assertPosted(followed)
  // The client of a dead node waits no longer: its SDK's own retry joins the job.
  const answer = await retried
  assert.equal(answer.status, 200, answer.text)
  assert.equal(purchasesAt(provider, RETRIED).length, 1, 'it was submitted again')
}

const RETRIED = 'pending-8000+key-retried'

function askRetried(node: NodeProcess, headers: Readonly<Record<string, string>> = {}): Promise<Asked> {
  const body = { model: 'retried-image', prompt: 'a red bicycle', size: '256x256' }
  return askAt(node.url, body, { key: GATEWAY_KEY, path: IMAGES_PATH, headers })
}

async function stateOf(jobId: string): Promise<string> {
  const [row] = await database.query<{ state: string }>('SELECT state FROM image_jobs WHERE job_id = $1', [
    jobId,
  ])
  return row?.state ?? 'nothing'
}
