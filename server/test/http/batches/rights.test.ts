/** What happens to a batch when its key, its project or their budgets change while it runs. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { momentOf } from '#core/money/ledger.ts'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { ADMIN, control } from '#test/e2e/spaces/guarded.ts'
import { BatchCaller, chunkLines, chunkTexts, requestLines, tryAgain } from '#test/support/batches.ts'
import { HeldUpstream } from '#test/support/held-upstream.ts'
import { eventually } from '#test/support/process.ts'

const LINES = 6
/** Names decide nothing: the second and the third look like those of the playground and of a token of the node. */
const KEY_NAMES = ['nightly', 'console.x', 'console.local-admin']
/** One for each test. */
const HELD_MODELS = 12
const heldName = (number: number): string => `held-${number}`
const aDollarPerToken = { price: { usdPerMillionTokens: 1_000_000 } }

const { gateway, database } = await startGatewayOnPostgres({
  models: {
    ...Object.fromEntries(
      Array.from({ length: HELD_MODELS }, (_, index) => [
        `${heldName(index + 1)}-w8`,
        { on: `mode-${heldName(index + 1)}`, ...aDollarPerToken, deploymentLimits: { concurrency: 1 } },
      ]),
    ),
    'dear-w8': { on: 'plain', ...aDollarPerToken },
    'other-w8': { on: 'plain', price: { usdPerMillionTokens: 1 } },
  },
  env: ADMIN,
})

interface Shown {
  readonly state: string
  readonly continued: boolean
  readonly cancelled_because: string | null
  readonly pause: { readonly code: string } | null
  readonly lines: { readonly total: number; readonly completed: number; readonly failed: number }
}

let projects = 0

/** A project of its own, with a batch whose first call is held at the upstream. The other lines wait for it. */
async function running({
  linesFor = (model: string): string => chunkLines(model, texts(LINES)),
  name = 'nightly',
} = {}) {
  projects += 1
  const [held, project] = [heldName(projects), `rights-${projects}`]
  const upstream = new HeldUpstream(gateway.provider, held)
  await upstream.hold()
  const { secret } = await control<{ secret: string }>(gateway, 'POST', '/keys', { project, name })
  const caller = new BatchCaller(gateway.url, secret)
  const lines = linesFor(`${held}-w8`)
  const { id } = await caller.create(await caller.upload(lines))
  const shown = (): Promise<Shown> => control<Shown>(gateway, 'GET', `/batches/${id}`)
  const calls = (): Promise<readonly { request_id: string; key_id: string }[]> =>
    database.query('SELECT request_id, key_id FROM usage_events WHERE batch_id = $1', [id])
  await upstream.isAsked()
  return { project, id, caller, secret, lines, shown, calls, upstream, keyPath: `/keys/${project}/${name}` }
}

type Running = Awaited<ReturnType<typeof running>>

function texts(count: number): readonly string[] {
  return Array.from({ length: count }, (_, line) => `text ${line}`)
}

/** The node knows of a change that takes a right away: it refuses what the key asks for. */
async function heard(secret: string): Promise<number> {
  await eventually(async () => {
    const { status } = await gateway.ask({ model: 'dear-w8', input: 'x' }, { key: secret })
    assert.ok([401, 403, 429].includes(status), `${status}`)
  })
  return Date.now()
}

/** The change is heard while the first call is in progress. Returns when. */
async function changed({ secret, upstream }: Running, change: () => Promise<unknown>): Promise<number> {
  await change()
  const heardMs = await heard(secret)
  await upstream.release()
  return heardMs
}

async function assertNoneBegunSince({ calls }: Running, heardMs: number): Promise<void> {
  const made = await calls()
  assert.ok(made.length > 0, 'nothing was begun before the change')
  const late = made.filter(({ request_id }) => momentOf(request_id) > heardMs)
  assert.deepEqual(late, [], 'calls were begun after the change was known')
}

/** Nothing is begun after the change is known, not even when the batch is tried once more, and the batch says why. */
async function pausedBy(batch: Running, code: string, heardMs: number): Promise<void> {
  await eventually(async () => assert.equal((await batch.shown()).pause?.code, code))
  await triedAgain(batch)
  await assertNoneBegunSince(batch, heardMs)
  const { state, pause, lines } = await batch.shown()
  assert.deepEqual([state, pause?.code, lines.failed], ['in_progress', code, 0])
  assert.ok(lines.completed < lines.total)
}

/** A chunk of the paused batch was tried, and the batch has been paused again. */
async function triedAgain(batch: Running): Promise<void> {
  await tryAgain(database, batch.id)
  await eventually(async () => {
    const [again] = await database.query('SELECT 1 FROM batches WHERE batch_id = $1 AND not_before > now()', [
      batch.id,
    ])
    assert.ok(again)
  })
}

async function completed(batch: Running): Promise<void> {
  await eventually(async () => {
    await tryAgain(database, batch.id)
    const { state, lines } = await batch.shown()
    assert.deepEqual([state, lines.completed], ['completed', lines.total])
  })
}

/** Beside each other: each of them waits for heartbeats of the node. */
describe('what a batch may do while it runs', { concurrency: true }, () => {
  test('a hard budget that is set while a batch runs ends its spending, and money lets it go on', async () => {
    const batch = await running()
    const setBudget = (usd: string) =>
      control(gateway, 'PATCH', `/projects/${batch.project}`, { budget: { usd, per: 'day', hard: true } })
    await pausedBy(batch, 'budget_exhausted', await changed(batch, () => setBudget('0.001')))
    await setBudget('1000000')
    await completed(batch)
  })

  for (const name of KEY_NAMES)
    test(`a hard budget of the key ${name} that is lowered while its batch runs ends its spending`, async () => {
      const batch = await running({ name })
      const setBudget = (usd: string) =>
        control(gateway, 'PATCH', batch.keyPath, { budget: { usd, per: 'total', hard: true } })
      await setBudget('1000000')
      await pausedBy(batch, 'budget_exhausted', await changed(batch, () => setBudget('0.001')))
    })

  test('a batch whose key is revoked pauses, and goes on under its project when a person says so', async () => {
    const batch = await running()
    const { project, id, keyPath } = batch
    const heardMs = await changed(batch, () => control(gateway, 'DELETE', keyPath))
    await pausedBy(batch, 'key_revoked', heardMs)
    const other = await control<{ secret: string }>(gateway, 'POST', '/keys', { project, name: 'other' })
    await control(gateway, 'PATCH', `/projects/${project}`, {
      budget: { usd: '0.001', per: 'day', hard: true },
    })
    await heard(other.secret)
    const answer = await control<Shown>(gateway, 'POST', `/batches/${id}/continue`, {})
    assert.deepEqual([answer.state, answer.continued, answer.pause], ['in_progress', true, null])
    // The project's own budget binds it now.
    await eventually(async () => assert.equal((await batch.shown()).pause?.code, 'budget_exhausted'))
    await control(gateway, 'PATCH', `/projects/${project}`, { budget: null })
    await completed(batch)
    assert.deepEqual(
      new Set((await batch.calls()).map(({ key_id }) => key_id)),
      new Set([`${project}/nightly`]),
    )
    const audit = await control<{ data: { action: string; target: string; actor: string }[] }>(
      gateway,
      'GET',
      '/audit?action=batch.continue',
    )
    assert.deepEqual(
      audit.data.flatMap(({ target, actor }) => (target === id ? [actor] : [])),
      ['admin-token'],
    )
  })

  test('a batch whose key expires pauses, and goes on when the key is good again', async () => {
    const batch = await running()
    const expires_at = new Date(Date.now() + 500).toISOString()
    const heardMs = await changed(batch, () => control(gateway, 'PATCH', batch.keyPath, { expires_at }))
    await pausedBy(batch, 'key_expired', heardMs)
    await control(gateway, 'PATCH', batch.keyPath, { expires_at: null })
    await completed(batch)
  })

  for (const name of KEY_NAMES)
    test(`a batch whose key ${name} was leaked is cancelled, also one that waits, and keeps what is done`, async () => {
      const batch = await running({ name })
      const { caller, keyPath, id } = batch
      const { id: waiting } = await caller.create(await caller.upload(batch.lines))
      const heardMs = await changed(batch, () => control(gateway, 'DELETE', `${keyPath}?leaked=true`))
      await eventually(async () => {
        const { state, cancelled_because } = await batch.shown()
        assert.deepEqual([state, cancelled_because], ['cancelled', 'key_revoked'])
        assert.equal((await control<Shown>(gateway, 'GET', `/batches/${waiting}`)).state, 'cancelled')
      })
      await assertNoneBegunSince(batch, heardMs)
      const { lines } = await batch.shown()
      assert.ok(lines.completed > 0 && lines.completed < lines.total)
      const again = await control<Shown>(gateway, 'POST', `/batches/${id}/continue`, {})
      assert.equal(again.state, 'cancelled')
    })

  test('a batch of a deleted project is cancelled', async () => {
    const batch = await running()
    const heardMs = await changed(batch, () => control(gateway, 'DELETE', `/projects/${batch.project}`))
    await eventually(async () => {
      const { state, cancelled_because } = await batch.shown()
      assert.deepEqual([state, cancelled_because], ['cancelled', 'project_deleted'])
    })
    await assertNoneBegunSince(batch, heardMs)
  })

  test('a rotated key changes nothing for its batch', async () => {
    const batch = await running()
    await changed(batch, () => control(gateway, 'POST', `${batch.keyPath}/rotate`, { overlap_seconds: 0 }))
    await eventually(async () => {
      const { state, lines } = await batch.shown()
      assert.deepEqual([state, lines.completed], ['completed', LINES])
    })
  })

  test('lines of a model that the key may no longer use fail with that reason, and the others run', async () => {
    const linesFor = (model: string): string => {
      const bodies = [...texts(LINES).map((text) => [model, text]), ['other-w8', 'last']] as const
      return requestLines(
        '/v1/embeddings',
        bodies.map(([of, text = '']) => ({ model: of, input: chunkTexts(text) })),
      )
    }
    const batch = await running({ linesFor })
    const models = ['other-w8']
    await changed(batch, () => control(gateway, 'PATCH', batch.keyPath, { models }))
    await eventually(async () => assert.equal((await batch.shown()).state, 'completed'))
    const { error_file_id, output_file_id } = await batch.caller.get(batch.id)
    const failed = await batch.caller.lines(error_file_id)
    assert.ok(failed.length > 0)
    assert.deepEqual(
      new Set(failed.map(({ response }) => response?.body.error?.code)),
      new Set(['model_not_allowed']),
    )
    const made = await batch.caller.lines(output_file_id)
    assert.ok(made.some(({ custom_id }) => custom_id === `line ${LINES}`))
    assert.equal(made.length + failed.length, LINES + 1)
  })

  test('lines of a batch do not count against the rate limits of their key, nor wait for them', async () => {
    // The file, the batch, and one request.
    const limits = { requests_per_minute: 3, tokens_per_minute: 20 }
    const made = { project: 'rights-rates', name: 'k', limits }
    const { secret } = await control<{ secret: string }>(gateway, 'POST', '/keys', made)
    const caller = new BatchCaller(gateway.url, secret)
    const { id } = await caller.create(await caller.upload(chunkLines('other-w8', texts(LINES))))
    const batch = await caller.ended(id)
    assert.deepEqual(batch.request_counts, { total: LINES, completed: LINES, failed: 0 })
    // One more than a whole minute allows, at once: what the limit regained meanwhile does not matter.
    const ask = () => gateway.ask({ model: 'other-w8', input: 'x' }, { key: secret })
    const asked = await Promise.all(Array.from({ length: limits.requests_per_minute + 1 }, ask))
    const statuses = new Set(asked.map(({ status }) => status))
    assert.ok(statuses.has(200), 'the batch used the limit up')
    assert.ok(statuses.has(429), 'the limit is not in force')
  })
})
