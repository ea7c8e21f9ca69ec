/** An edit and its files, when the process that accepted them dies: bought once, or not at all, and reported in words. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { rowsIn } from '#test/e2e/money/ledger-rows.ts'
import { startNodeProcess, type NodeProcess, type NodeProcessOptions } from '#test/support/cluster.ts'
import {
  aMask,
  aPicture,
  askForm,
  digestsOf,
  EDITS,
  editsAt,
  fidelityOf,
  filePart,
  givenTo,
} from '#test/support/edits.ts'
import { GATEWAY_KEY, type GatewayOptions } from '#test/support/gateway.ts'
import { picturesIn, sha256, type ImagesAsked } from '#test/support/image-answers.ts'
import { eventually, SOURCE_PROGRAM, temporaryFolder } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'

const price = { usdPerImage: 0.04 }
const options: GatewayOptions = {
  images: {
    'kept-image': { on: 'plain', capabilities: { edits: EDITS }, price },
    'white-image': { on: 'mask-white', capabilities: { edits: { mask: 'white' } }, price },
    'lost-image': { on: 'plain+key-lost', capabilities: { edits: EDITS }, price },
    'polled-image': {
      on: 'pending-4000',
      upstream: { base: 'bfl/v1', dialect: 'ai-sdk', provider: 'black-forest-labs' },
      upstreamModel: 'flux-pro-1.0-fill',
      capabilities: { formats: ['jpeg', 'png'], edits: { mask: 'white' } },
      price,
    },
  },
}
const provider = await startFakeProvider()
after(() => provider.close())
const { url: databaseUrl } = await testPostgres()
const database: Database = openPostgres(databaseUrl, { poolSize: 2 })
after(() => database.close())
/** As an S3 bucket would be, all nodes see it. */
const assets = temporaryFolder()
const arrivals = join(temporaryFolder(), 'arrivals')

/** Holds every job for ever before its first call is noted. */
function probe(): string[] {
  const url = pathToFileURL(join(import.meta.dirname, '../../../../lab/chaos/images/gap-probe.ts'))
  url.searchParams.set('place', 'before-dispatch')
  url.searchParams.set('file', arrivals)
  return ['--import', url.href]
}

const start = (hooked: Pick<NodeProcessOptions, 'nodeArgs' | 'program'> = {}): Promise<NodeProcess> =>
  startNodeProcess(options, provider.url, {
    env: { DATABASE_URL: databaseUrl, ASSETS_URL: `file://${assets}` },
    ...hooked,
  })

const picture = await aPicture(40, 30)
const isEdited = (x: number, y: number): boolean => x > 30 || y % 7 === 0
const mask = await aMask(40, 30, isEdited)
const files = [filePart('image', picture), filePart('mask', mask)]

interface Job {
  readonly id: string
  readonly status: string
  readonly result?: { readonly data: readonly { readonly b64_json: string }[] }
  readonly error?: { readonly code: string; readonly message: string }
}

async function begin(node: NodeProcess, model: string): Promise<string> {
  const answer = await askForm(node, { model }, files, { headers: { prefer: 'respond-async' } })
  assert.equal(answer.status, 202, answer.text)
  return (answer.body as unknown as Job).id
}

function end(node: NodeProcess, id: string): Promise<Job> {
  return eventually(async () => {
    const answer = await fetch(`${node.url}/v1/images/jobs/${id}`, {
      headers: { authorization: `Bearer ${GATEWAY_KEY}` },
    })
    const job = (await answer.json()) as Job
    assert.ok(!['queued', 'running'].includes(job.status), job.status)
    return job
  })
}

async function openJobOf(model: string): Promise<string> {
  const [row] = await database.query<{ job_id: string }>(
    'SELECT job_id FROM image_jobs WHERE model = $1 AND ended_at IS NULL',
    [model],
  )
  return row?.job_id ?? 'none'
}

async function kill(node: NodeProcess): Promise<void> {
  node.child.kill('SIGKILL')
  await node.exit
  // As if the minute had passed for which a dead node's word is good.
  await database.query('UPDATE image_jobs SET lease_until = now() WHERE ended_at IS NULL')
}

const inputsOf = (id: string): string[] => {
  const folder = join(assets, 'inputs', id)
  return existsSync(folder) ? readdirSync(folder) : []
}

async function assertPainted(job: Job, scenario: string): Promise<void> {
  assert.equal(job.status, 'succeeded', JSON.stringify(job.error))
  const made = Buffer.from(job.result?.data[0]?.b64_json ?? '', 'base64')
  const { wrong, unchanged } = await fidelityOf(picture, made, isEdited)
  assert.deepEqual([wrong, unchanged], [0, 0])
  const [entry, ...more] = editsAt(provider, scenario)
  assert.deepEqual([entry?.pictures?.[0]?.sha256, more], [sha256(made), []], 'it was bought again')
}

/** The sum of a job's ledger entries. */
function assertCharged(id: string, nanoUsd: number): Promise<void> {
  return eventually(async () => {
    const rows = (await rowsIn(database)).filter(({ requestId }) => requestId === id)
    const sum = rows.reduce((total, row) => total + row.nanoUsd, 0)
    assert.deepEqual(
      [rows.at(-1)?.kind, sum],
      [nanoUsd === 0 ? undefined : 'post', nanoUsd],
      JSON.stringify(rows),
    )
  })
}

/** One test, since a process ends with the test that started it. */
test('edits whose node is killed are finished from their copies, followed without them, or given up unbought', async () => {
  const first = await start({ nodeArgs: probe(), program: SOURCE_PROGRAM })
  const kept = await begin(first, 'kept-image')
  const translated = await begin(first, 'white-image')
  const headers = { 'idempotency-key': 'nobody-has-them' }
  const waiting = askForm(first, { model: 'lost-image' }, files, { headers }).catch(() => undefined)
  await eventually(async () => {
    const lines = existsSync(arrivals) ? readFileSync(arrivals, 'utf8').split('\n').filter(Boolean) : []
    assert.equal(new Set(lines).size, 3)
  })
  const lost = await openJobOf('lost-image')
  assert.deepEqual(
    [kept, translated, lost].map((id) => inputsOf(id).length),
    [2, 2, 0],
  )
  await kill(first)
  assert.equal(await waiting, undefined)
  assert.deepEqual(editsAt(provider), [], 'it was bought before it was killed')
  assert.deepEqual(readdirSync(join(first.folder, 'data', 'uploads')), [])

  const second = await start()
  await finishedFromCopies(second, { kept, translated })
  await givenUpUnbought(second, lost, headers)
  await followedWithoutFiles(second)
})

async function finishedFromCopies(
  node: NodeProcess,
  { kept, translated }: { readonly kept: string; readonly translated: string },
): Promise<void> {
  await assertPainted(await end(node, kept), 'plain')
  assert.deepEqual(givenTo(editsAt(provider, 'plain')[0]), digestsOf(picture, mask))
  await assertPainted(await end(node, translated), 'mask-white')
  for (const id of [kept, translated]) {
    await assertCharged(id, 40_000_000)
    await eventually(async () => assert.deepEqual(inputsOf(id), []))
  }
}

/** Its sender was waiting and has seen its connection break: a repeated request, with its files, is served. */
async function givenUpUnbought(
  node: NodeProcess,
  lost: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const job = await end(node, lost)
  assert.deepEqual([job.status, job.error?.code, job.result], ['failed', 'image_files_lost', undefined])
  assert.deepEqual(editsAt(provider, 'plain+key-lost'), [])
  await assertCharged(lost, 0)
  const again: ImagesAsked = await askForm(node, { model: 'lost-image' }, files, { headers })
  await picturesIn(again)
  assert.notEqual(again.headers.get('x-torana-job'), lost)
  assert.equal(editsAt(provider, 'plain+key-lost').length, 1)
}

/** Only the upstream has the files, since a caller was waiting. */
async function followedWithoutFiles(node: NodeProcess): Promise<void> {
  const texts = { model: 'polled-image', output_format: 'png' }
  const waiting = askForm(node, texts, files).catch(() => undefined)
  await eventually(async () => {
    const polls = provider
      .entries()
      .filter(({ scenario, operation }) => scenario === 'pending-4000' && operation === 'poll')
    assert.ok(polls.length > 0)
  })
  const followed = await openJobOf('polled-image')
  await kill(node)
  assert.equal(await waiting, undefined)
  assert.deepEqual(inputsOf(followed), [])
  const next = await start()
  await assertPainted(await end(next, followed), 'pending-4000')
  await assertCharged(followed, 40_000_000)
}
