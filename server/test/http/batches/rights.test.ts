/** What happens to a batch when its key, its project or their budgets change while it runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { momentOf } from '#core/money/ledger.ts'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { ADMIN, ADMIN_TOKEN, control } from '#test/e2e/spaces/guarded.ts'
import { BatchCaller, chunkLines, requestLines, chunkTexts } from '#test/support/batches.ts'
import { eventually } from '#test/support/process.ts'

/** Time within which every node knows a change: a second between two polls, and one for the poll itself. */
const HEARD_MS = 2000
/** Long enough for several calls of the slow model, had any been begun. */
const QUIET_MS = 1500
const LINES = 45

const { gateway, database } = await startGatewayOnPostgres({
  models: {
    'slow-w8': {
      on: 'slow-300',
      price: { usdPerMillionTokens: 1_000_000 },
      deploymentLimits: { concurrency: 1 },
    },
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

/** A project of its own, with a batch that has begun. */
async function running(lines = chunkLines('slow-w8', texts(LINES)), fields: object = {}) {
  projects += 1
  const project = `rights-${projects}`
  const key = { project, name: 'nightly' }
  const { secret } = await control<{ secret: string }>(gateway, 'POST', '/keys', key)
  const caller = new BatchCaller(gateway.url, secret)
  const { id } = await caller.create(await caller.upload(lines), fields as Record<string, unknown>)
  const shown = (): Promise<Shown> => control<Shown>(gateway, 'GET', `/batches/${id}`)
  const calls = (): Promise<readonly { request_id: string; key_id: string }[]> =>
    database.query('SELECT request_id, key_id FROM usage_events WHERE project = $1', [project])
  await eventually(async () => assert.ok((await calls()).length > 0), 30_000)
  return { project, id, caller, shown, calls, keyPath: `/keys/${project}/nightly` }
}

type Running = Awaited<ReturnType<typeof running>>

function texts(count: number): readonly string[] {
  return Array.from({ length: count }, (_, line) => `text ${line}`)
}

/** Nothing is begun after the change has taken effect, and the batch says why. */
async function pausedBy({ shown, calls }: Running, code: string, changedMs: number): Promise<void> {
  await eventually(async () => assert.equal((await shown()).pause?.code, code), 30_000)
  await delay(QUIET_MS)
  const late = (await calls()).filter(({ request_id }) => momentOf(request_id) > changedMs + HEARD_MS)
  assert.deepEqual(late, [], 'calls were begun after the change had taken effect')
  const { state, pause, lines } = await shown()
  assert.deepEqual([state, pause?.code, lines.failed], ['in_progress', code, 0])
  assert.ok(lines.completed < lines.total)
}

async function change(method: string, path: string, body: object | null = null): Promise<number> {
  const answer = await fetch(`${gateway.controlUrl}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    body: body && JSON.stringify(body),
  })
  assert.ok(answer.ok, await answer.text())
  return Date.now()
}

/** Ends the minute in which a paused batch is not tried again. */
async function looksAgain({ id }: Running): Promise<void> {
  await database.query('UPDATE batches SET not_before = now() WHERE batch_id = $1', [id])
  await database.query(
    `UPDATE batch_chunks SET lease_until = now() WHERE batch_id = $1 AND state = 'held' AND node_id IS NULL`,
    [id],
  )
}

async function completed(batch: Running): Promise<void> {
  await eventually(async () => {
    await looksAgain(batch)
    const { state, lines } = await batch.shown()
    assert.deepEqual([state, lines.completed], ['completed', lines.total])
  }, 90_000)
}

test('a hard budget that is set while a batch runs ends its spending, and money lets it go on', async () => {
  const batch = await running()
  const budget = { usd: '0.001', per: 'day', hard: true }
  const changedMs = await change('PATCH', `/projects/${batch.project}`, { budget })
  await pausedBy(batch, 'budget_exhausted', changedMs)
  const spent = await database.query<{ usd: number }>(
    'SELECT sum(amount_nano)::float8 / 1e9 AS usd FROM usage_events WHERE project = $1',
    [batch.project],
  )
  await control(gateway, 'PATCH', `/projects/${batch.project}`, {
    budget: { usd: '1000000', per: 'day', hard: true },
  })
  assert.ok((spent[0]?.usd ?? 0) > 0.001, 'nothing was spent before the change')
  await completed(batch)
})

test('a hard budget of the key that is lowered while its batch runs ends its spending', async () => {
  const batch = await running()
  await control(gateway, 'PATCH', batch.keyPath, { budget: { usd: '1000000', per: 'day', hard: true } })
  await delay(HEARD_MS)
  const changedMs = await change('PATCH', batch.keyPath, {
    budget: { usd: '0.001', per: 'total', hard: true },
  })
  await pausedBy(batch, 'budget_exhausted', changedMs)
})

test('a batch whose key is revoked pauses, and goes on under its project when a person says so', async () => {
  const batch = await running()
  const changedMs = await change('DELETE', batch.keyPath)
  await pausedBy(batch, 'key_revoked', changedMs)
  await control(gateway, 'PATCH', `/projects/${batch.project}`, {
    budget: { usd: '0.001', per: 'day', hard: true },
  })
  await delay(HEARD_MS)
  const answer = await control<Shown>(gateway, 'POST', `/batches/${batch.id}/continue`, {})
  assert.deepEqual([answer.state, answer.continued, answer.pause], ['in_progress', true, null])
  // The project's own budget binds it now.
  await eventually(async () => assert.equal((await batch.shown()).pause?.code, 'budget_exhausted'), 30_000)
  await control(gateway, 'PATCH', `/projects/${batch.project}`, { budget: null })
  await completed(batch)
  assert.deepEqual(
    new Set((await batch.calls()).map(({ key_id }) => key_id)),
    new Set([`${batch.project}/nightly`]),
  )
  const audit = await control<{ data: { action: string; target: string; actor: string }[] }>(
    gateway,
    'GET',
    '/audit?action=batch.continue',
  )
  assert.deepEqual(
    audit.data.map(({ target, actor }) => [target, actor]),
    [[batch.id, 'admin-token']],
  )
})

test('a batch whose key expires pauses, and goes on when the key is good again', async () => {
  const batch = await running()
  const expires_at = new Date(Date.now() + 500).toISOString()
  const changedMs = await change('PATCH', batch.keyPath, { expires_at })
  await pausedBy(batch, 'key_expired', changedMs + 500)
  await control(gateway, 'PATCH', batch.keyPath, { expires_at: null })
  await completed(batch)
})

test('a batch whose key was leaked is cancelled, also one that waits, and keeps what is done', async () => {
  const batch = await running()
  const { id: waiting } = await batch.caller.create(
    await batch.caller.upload(chunkLines('slow-w8', texts(LINES))),
  )
  const changedMs = await change('DELETE', `${batch.keyPath}?leaked=true`)
  await eventually(async () => {
    const { state, cancelled_because } = await batch.shown()
    assert.deepEqual([state, cancelled_because], ['cancelled', 'key_revoked'])
    assert.equal((await control<Shown>(gateway, 'GET', `/batches/${waiting}`)).state, 'cancelled')
  }, 30_000)
  await delay(QUIET_MS)
  const late = (await batch.calls()).filter(({ request_id }) => momentOf(request_id) > changedMs + HEARD_MS)
  assert.deepEqual(late, [])
  const { lines } = await batch.shown()
  assert.ok(lines.completed > 0 && lines.completed < lines.total)
  const again = await control<Shown>(gateway, 'POST', `/batches/${batch.id}/continue`, {})
  assert.equal(again.state, 'cancelled')
})

test('a batch of a deleted project is cancelled', async () => {
  const batch = await running()
  const changedMs = await change('DELETE', `/projects/${batch.project}`)
  await eventually(async () => {
    const { state, cancelled_because } = await batch.shown()
    assert.deepEqual([state, cancelled_because], ['cancelled', 'project_deleted'])
  }, 30_000)
  await delay(QUIET_MS)
  const late = (await batch.calls()).filter(({ request_id }) => momentOf(request_id) > changedMs + HEARD_MS)
  assert.deepEqual(late, [])
})

test('a rotated key changes nothing for its batch', async () => {
  const batch = await running(chunkLines('slow-w8', texts(20)))
  await control(gateway, 'POST', `${batch.keyPath}/rotate`, { overlap_seconds: 0 })
  await completed(batch)
})

test('lines of a model that the key may no longer use fail with that reason, and the others run', async () => {
  const slow = texts(30).map((text) => ['slow-w8', text] as const)
  const bodies = [...slow, ['other-w8', 'last'] as const]
  const lines = requestLines(
    '/v1/embeddings',
    bodies.map(([model, text]) => ({ model, input: chunkTexts(text) })),
  )
  const batch = await running(lines)
  await control(gateway, 'PATCH', batch.keyPath, { models: ['other-w8'] })
  await eventually(async () => assert.equal((await batch.shown()).state, 'completed'), 60_000)
  const { error_file_id, output_file_id } = await batch.caller.get(batch.id)
  const failed = await batch.caller.lines(error_file_id)
  assert.ok(failed.length > 0)
  assert.deepEqual(
    new Set(failed.map(({ response }) => response?.body.error?.code)),
    new Set(['model_not_allowed']),
  )
  const made = await batch.caller.lines(output_file_id)
  assert.ok(made.some(({ custom_id }) => custom_id === `line ${bodies.length - 1}`))
  assert.equal(made.length + failed.length, bodies.length)
})

test('lines of a batch do not count against the rate limits of their key, nor wait for them', async () => {
  // The file, the batch, and one request.
  const limits = { requests_per_minute: 3, tokens_per_minute: 20 }
  const made = { project: 'rights-rates', name: 'k', limits }
  const { secret } = await control<{ secret: string }>(gateway, 'POST', '/keys', made)
  const caller = new BatchCaller(gateway.url, secret)
  const { id } = await caller.create(await caller.upload(chunkLines('other-w8', texts(40))))
  const batch = await caller.ended(id)
  assert.deepEqual(batch.request_counts, { total: 40, completed: 40, failed: 0 })
  const ask = (): Promise<Response> =>
    caller.fetch('/embeddings', {
      method: 'POST',
      body: JSON.stringify({ model: 'other-w8', input: 'x' }),
      headers: { 'content-type': 'application/json' },
    })
  assert.equal((await ask()).status, 200, 'the batch used the limit up')
  assert.equal((await ask()).status, 429, 'the limit is not in force')
})
