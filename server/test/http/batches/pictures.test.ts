/** Images in batches, on a real node, PostgreSQL and an upstream that counts what it serves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { BatchCaller, requestLines, type ResultLine } from '#test/support/batches.ts'
import { aPicture, dataUrl, digestsOf, EDITS, editsAt, givenTo } from '#test/support/edits.ts'
import { billedPictures, sha256, SMALL } from '#test/support/image-answers.ts'
import { eventually } from '#test/support/process.ts'

const GENERATIONS = '/v1/images/generations'
const EDITS_URL = '/v1/images/edits'
const NARROW_KEY = 'gateway-test-key-narrow-01'
const OTHER_KEY = 'gateway-test-key-other-002'
const POOR_KEY = 'gateway-test-key-poor-0003'
const { gateway, database } = await startGatewayOnPostgres({
  images: {
    'plain-image': { on: 'plain', aliases: ['draw'], price: { usdPerImage: 0.04 } },
    'edit-image': { on: 'plain', capabilities: { edits: EDITS }, price: { usdPerImage: 0.04 } },
    'refused-image': { on: 'moderation' },
    'lost-image': { on: 'serves-then-resets', price: { usdPerImage: 0.04 } },
    'slow-image': { on: 'slow-400', price: { usdPerImage: 0.04 } },
  },
  models: { 'plain-w8': { on: 'plain' } },
  projects: {
    other: { keys: [{ name: 'k', secret: OTHER_KEY }] },
    poor: {
      keys: [{ name: 'k', secret: POOR_KEY }],
      budget: { usd: 0.1, per: 'total', hard: true },
    },
    narrow: { keys: [{ name: 'k', secret: NARROW_KEY, scopes: ['embeddings'] }] },
  },
})
const { provider } = gateway
const caller = new BatchCaller(gateway.url)

const prompts = (count: number, word: string): string[] =>
  Array.from({ length: count }, (_, index) => `${word} ${index}`)
const pictureLines = (model: string, given: readonly string[], fields: object = {}): string =>
  requestLines(
    GENERATIONS,
    given.map((prompt) => ({ model, prompt, size: SMALL, ...fields })),
  )
const picturesOf = ({ response }: ResultLine) =>
  (response?.body.data ?? []) as readonly { readonly b64_json?: string; readonly url?: string }[]

async function run(lines: string, endpoint = GENERATIONS) {
  return caller.ended((await caller.create(await caller.upload(lines), { endpoint })).id)
}

test('every line of pictures comes back once with its own picture, bought once, and what it cost', async () => {
  const batch = await run(pictureLines('draw', prompts(24, 'a heron, number')))
  assert.deepEqual(
    [batch.status, batch.request_counts],
    ['completed', { total: 24, completed: 24, failed: 0 }],
  )
  const lines = await caller.lines(batch.output_file_id)
  assert.equal(new Set(lines.map(({ custom_id }) => custom_id)).size, 24)
  const digests = lines.map((line) => sha256(Buffer.from(picturesOf(line)[0]?.b64_json ?? '', 'base64')))
  const bought = billedPictures(provider, 'plain')
  assert.deepEqual(digests.toSorted(), bought.toSorted())
  assert.equal(bought.length, 24)
  assert.equal(Number(batch.torana.cost_usd).toFixed(2), '0.96')
  for (const field of ['input_tokens', 'output_tokens', 'total_tokens'] as const) {
    const sum = lines.reduce((tokens, { response }) => tokens + (response?.body.usage[field] ?? 0), 0)
    assert.ok(sum > 0)
    assert.equal(batch.usage[field], sum, field)
  }
  const [charged] = await database.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM usage_events WHERE model = 'plain-image' AND kind = 'post'`,
  )
  assert.equal(charged?.count, 24)
})

test('links in the output are good as long as the output, and gone with it for other projects', async () => {
  const batch = await run(pictureLines('plain-image', ['a linked heron'], { response_format: 'url' }))
  const [line] = await caller.lines(batch.output_file_id)
  const url = picturesOf(line as ResultLine)[0]?.url ?? ''
  const picture = await fetch(url)
  assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/png'])
  const expiresAt = Number(new URL(url).searchParams.get('exp'))
  const file = (await (await caller.fetch(`/files/${batch.output_file_id}`)).json()) as { expires_at: number }
  assert.ok(expiresAt >= file.expires_at, `${expiresAt} ${file.expires_at}`)
  const [job] = await database.query<{ job_id: string }>(
    'SELECT job_id FROM image_jobs WHERE batch_id = $1',
    [batch.id],
  )
  const view = (await (await caller.fetch(`/images/jobs/${job?.job_id}`)).json()) as { expires_at: number }
  assert.equal(view.expires_at, (batch.completed_at ?? 0) + 30 * 86_400, 'the job says the same')
  const path = new URL(url).pathname.slice('/v1'.length)
  assert.equal((await new BatchCaller(gateway.url, OTHER_KEY).fetch(path)).status, 404)
  assert.equal((await caller.fetch(path)).status, 200)
})

test('an edit in a batch hands its picture on byte by byte', async () => {
  const given = await aPicture(12, 10, 1)
  const body = {
    model: 'edit-image',
    prompt: 'more light',
    images: [{ image_url: dataUrl(given, 'image/png') }],
  }
  const batch = await run(requestLines(EDITS_URL, [body]), EDITS_URL)
  assert.deepEqual(batch.request_counts, { total: 1, completed: 1, failed: 0 }, JSON.stringify(batch))
  assert.deepEqual(givenTo(editsAt(provider, 'plain').at(-1)), digestsOf(given))
})

test('lines are refused as their route refuses them, one by one', async () => {
  const bodies = [
    { model: 'plain-image' },
    { model: 'plain-image', prompt: 'a heron', stream: true },
    { model: 'plain-image', prompt: 'a heron', n: 1000 },
    { model: 'refused-image', prompt: 'a heron' },
    { model: 'plain-image', prompt: 'a last heron' },
  ]
  const batch = await run(requestLines(GENERATIONS, bodies))
  assert.deepEqual(batch.request_counts, { total: 5, completed: 1, failed: 4 })
  const refused = await caller.lines(batch.error_file_id)
  const codes = refused.map(({ custom_id, response }) => `${custom_id}: ${response?.body.error?.code}`)
  assert.deepEqual(
    new Set(codes),
    new Set([
      'line 0: missing_parameter',
      'line 1: invalid_parameter',
      'line 2: invalid_parameter',
      'line 3: content_policy_violation',
    ]),
  )
})

test('the request log has every line, with its route, deployment, calls and cost, and why it failed', async () => {
  const edit = {
    prompt: 'more light',
    images: [{ image_url: dataUrl(await aPicture(12, 10, 1), 'image/png') }],
  }
  const rows = [
    [
      GENERATIONS,
      { model: 'draw', prompt: 'a logged heron', n: 2 },
      'batch-images 200 plain-image plain-image/plain 2 calls, 2 images, $0.08',
    ],
    [
      EDITS_URL,
      { model: 'edit-image', ...edit },
      'batch-image-edits 200 edit-image edit-image/plain 1 calls, 1 images, $0.04',
    ],
    [
      GENERATIONS,
      { model: 'refused-image', prompt: 'a heron' },
      'batch-images 400 refused-image content_policy_violation',
    ],
    [GENERATIONS, { model: 'lost-image', prompt: 'a heron' }, 'batch-images 424 lost-image outcome_unknown'],
  ] as const
  for (const [endpoint, body, expected] of rows) {
    const { id } = await run(requestLines(endpoint, [{ size: SMALL, ...body }]), endpoint)
    await eventually(async () => {
      const logged = await database.query<Record<string, string | number | null>>(
        'SELECT route, status, fault, model, deployments, attempts, inputs, amount_nano FROM requests WHERE client_request_id = $1',
        [id],
      )
      const lines = logged.map(
        ({ route, status, fault, model, deployments, attempts, inputs, amount_nano: nano }) => {
          const made = `${deployments} ${attempts} calls, ${inputs} images, $${(Number(nano) / 1e9).toFixed(2)}`
          return `${route} ${status} ${model} ${fault ?? made}`
        },
      )
      assert.deepEqual(lines, [expected])
    })
  }
})

test('a picture that may have been bought is named, and not bought again', async () => {
  const before = billedPictures(provider, 'serves-then-resets').length
  const batch = await run(pictureLines('lost-image', prompts(3, 'a lost heron')))
  assert.deepEqual([batch.status, batch.request_counts.failed], ['completed', 3])
  for (const { response } of await caller.lines(batch.error_file_id))
    assert.equal(response?.body.error?.code, 'outcome_unknown')
  assert.equal(billedPictures(provider, 'serves-then-resets').length - before, 3)
})

test('a cancelled batch ends soon, and every picture that was paid for is in its output', async () => {
  const { id } = await caller.create(
    await caller.upload(pictureLines('slow-image', prompts(200, 'a slow heron'))),
    {
      endpoint: GENERATIONS,
    },
  )
  await eventually(async () => assert.ok((await caller.get(id)).request_counts.completed > 0))
  assert.equal((await caller.fetch(`/batches/${id}/cancel`, { method: 'POST' })).status, 200)
  const batch = await caller.ended(id)
  assert.equal(batch.status, 'cancelled')
  const lines = await caller.lines(batch.output_file_id)
  assert.equal(lines.length, batch.request_counts.completed)
  assert.equal(billedPictures(provider, 'slow-400').length, lines.length)
  assert.ok(lines.length < 200)
})

test('a hard budget that ends pauses the batch: no more is bought than it allows, and no line fails', async () => {
  const poor = new BatchCaller(gateway.url, POOR_KEY)
  const file = await poor.upload(pictureLines('plain-image', prompts(8, 'a poor heron')))
  const { id } = await poor.create(file, { endpoint: GENERATIONS })
  await eventually(async () => {
    const { status, request_counts: counts, torana } = await poor.get(id)
    assert.deepEqual([status, counts.completed, counts.failed], ['in_progress', 2, 0])
    assert.equal(torana.pause?.code, 'budget_exhausted')
  })
  await poor.fetch(`/batches/${id}/cancel`, { method: 'POST' })
  assert.equal((await poor.ended(id)).status, 'cancelled')
})

test('a key that may not make pictures makes no batch of them, and a model of vectors makes none', async () => {
  const narrow = new BatchCaller(gateway.url, NARROW_KEY)
  const file = await narrow.upload(pictureLines('plain-image', ['a heron']))
  assert.equal((await narrow.ask(file, { endpoint: GENERATIONS })).status, 403)
  const failed = await caller.create(await caller.upload(pictureLines('plain-w8', ['a heron'])), {
    endpoint: GENERATIONS,
  })
  assert.deepEqual([failed.status, failed.errors?.data[0]?.code], ['failed', 'model_not_found'])
})
