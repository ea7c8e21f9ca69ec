/**
 * The log keeps the error of every failed request with its cause and the party at fault, and never what the caller sent: a canary text in
 * each place that a request has is in no error text.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { GATEWAY_KEY } from '#test/support/gateway.ts'
import { pngOf } from '#test/support/media.ts'
import { eventually } from '#test/support/process.ts'

const node = await startConsoleNode({
  models: {
    'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 10 } },
    'strict-w16': { on: 'strict-fields' },
    'refusing-w16': { on: 'status-400' },
    'content-w16': { on: 'content-refused' },
    'failing-w16': { on: 'status-500' },
    'leaking-w16': { on: 'leaks-key' },
    'reset-w16': { on: 'reset' },
    'garbage-w16': { on: 'garbage' },
    'short-w16': { on: 'plain', embedding: { maxInputTokens: 2, tokenCounts: 'exact' } },
  },
  images: {
    'plain-image': {
      on: 'plain',
      capabilities: { edits: { maxInputs: 2, mask: 'alpha' } },
      price: { usdPerImage: 0.01 },
    },
    'refused-image': { on: 'moderation', price: { usdPerImage: 0.01 } },
  },
})

/** With quotes and an apostrophe, so that no pair of quotes around it is easy to find. */
const CANARY = `it's a "canary" text, 'quoted' and all`
const EMBED = { model: 'plain-w16', input: 'a text' }

type Ask = readonly [path: string, body: unknown, headers?: Readonly<Record<string, string>>]

const EMBEDDINGS = '/v1/embeddings'
const IMAGES = '/v1/images/generations'
const EDITS = '/v1/images/edits'

function asks(): readonly Ask[] {
  const models = ['refusing', 'content', 'failing', 'leaking', 'reset', 'garbage', 'short', 'strict']
  const image = { model: 'plain-image', prompt: CANARY }
  return [
    ...models.map((name): Ask => [EMBEDDINGS, { model: `${name}-w16`, input: CANARY, canaryfield: CANARY }]),
    ...['model', 'input_type', 'encoding_format', 'dimensions', 'output_dtype', 'metadata', 'user'].flatMap(
      (field): Ask[] => [
        [EMBEDDINGS, { ...EMBED, [field]: CANARY }],
        [EMBEDDINGS, { ...EMBED, [field]: { [CANARY]: CANARY } }],
        [EMBEDDINGS, { ...EMBED, [field]: CANARY.repeat(100) }],
      ],
    ),
    [EMBEDDINGS, { ...EMBED, model: 'strict-w16', [CANARY]: 1 }],
    [EMBEDDINGS, { ...EMBED, [CANARY.repeat(10)]: 1 }],
    [EMBEDDINGS, { ...EMBED, input: [CANARY, 1] }],
    [EMBEDDINGS, { ...EMBED, input: [{ content: [{ type: CANARY, [CANARY]: 1 }] }] }],
    [EMBEDDINGS, `{"model": ${CANARY}`],
    [EMBEDDINGS, EMBED, { 'x-torana-space': CANARY }],
    [EMBEDDINGS, EMBED, { 'x-torana-tags': CANARY }],
    [EMBEDDINGS, EMBED, { 'x-torana-unsupported': CANARY }],
    [EMBEDDINGS, EMBED, { 'content-type': `${CANARY}/x` }],
    [EMBEDDINGS, EMBED, { 'content-type': `application/json; charset=${CANARY}` }],
    [EMBEDDINGS, EMBED, { 'content-encoding': CANARY }],
    ...['model', 'size', 'quality', 'n', 'response_format', 'output_format', 'background', 'moderation'].map(
      (field): Ask => [IMAGES, { ...image, [field]: CANARY }],
    ),
    [IMAGES, { ...image, [CANARY]: CANARY }],
    [IMAGES, { ...image, model: 'refused-image' }],
    [IMAGES, image, { 'idempotency-key': CANARY }],
    [EDITS, { ...image, images: [{ image_url: CANARY }] }],
    [EDITS, { ...image, images: [{ [CANARY]: CANARY }] }],
    [EDITS, { ...image, [CANARY]: 'data:image/png;base64,AAAA' }],
  ]
}

async function ask([path, body, headers]: Ask): Promise<number> {
  const answer = await fetch(`${node.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  await answer.arrayBuffer()
  return answer.status
}

async function edit(field: string): Promise<number> {
  const form = new FormData()
  form.set('model', 'plain-image')
  form.set('prompt', 'a night sky')
  form.set('image', new Blob([Uint8Array.from(await pngOf(8, 8))], { type: 'image/png' }), 'a.png')
  form.append(field, CANARY)
  form.append(field, CANARY)
  const headers = { authorization: `Bearer ${GATEWAY_KEY}` }
  const answer = await fetch(`${node.url}${EDITS}`, { method: 'POST', headers, body: form })
  await answer.arrayBuffer()
  return answer.status
}

interface Detail {
  readonly id: string
  readonly fault: string | null
  readonly fault_text: string | null
  readonly fault_cause: string | null
  readonly fault_party: string | null
  readonly attempts: readonly { readonly reason: string | null }[]
}

async function failures(least: number): Promise<readonly Detail[]> {
  return eventually(async () => {
    const found = await node.control('GET', '/requests?limit=200&outcome=refused&outcome=failed', {
      token: NODE_TOKEN,
    })
    const rows = found.body['data'] as { id: string }[]
    assert.ok(rows.length >= least, `${rows.length} of ${least}`)
    const details: Detail[] = []
    for (const { id } of rows) {
      const { body } = await node.control('GET', `/requests/${id}`, { token: NODE_TOKEN })
      details.push(body as unknown as Detail)
    }
    return details
  })
}

test('every failed request has its error, and no error has what the caller sent', async () => {
  let failed = 0
  for (const one of asks()) if ((await ask(one)) >= 400) failed += 1
  for (const field of ['size', CANARY.replaceAll('"', ''), 'prompt'])
    if ((await edit(field)) >= 400) failed += 1
  assert.ok(failed > 40, `${failed} requests failed`)
  const details = await failures(failed)
  for (const { fault, fault_text: text, fault_cause: cause, fault_party: party, attempts } of details) {
    assert.ok(text, `${fault} has no text`)
    assert.ok(party, `${fault} has no party`)
    const kept = [text, cause, ...attempts.map(({ reason }) => reason)].join('\n')
    assert.doesNotMatch(kept, /canary (?:text|"| )|quoted|and all/, `${fault}: ${kept}`)
    assert.doesNotMatch(kept, /it's a/, `${fault}: ${kept}`)
  }
  const causeOf = (code: string) => details.find(({ fault }) => fault === code)
  assert.match(causeOf('upstream_unreachable')?.fault_cause ?? '', /closed|reset|ECONNRESET|hang up/i)
  assert.equal(causeOf('upstream_refused')?.fault_party, 'caller')
  assert.equal(causeOf('upstream_failed')?.fault_party, 'upstream')
})

test('requests are found by address, client id, error code, user and tag', async () => {
  const asked = { ...EMBED, user: 'anna', metadata: { team: 'red' } }
  const answer = await node.ask(asked, { headers: { 'x-client-request-id': 'reindex/1' } })
  const id = answer.headers.get('x-request-id')
  for (const [filter, isFound] of [
    ['client=reindex/1', true],
    ['client=reindex', false],
    ['user=anna', true],
    ['tag=team:red', true],
    ['address=127.0.0.1', true],
    ['address=127.0.0.2', false],
    ['client=reindex/1&user=anna&address=127.0.0.1&tag=team:red', true],
    ['client=reindex/1&user=bob', false],
    ['fault=model_not_found&client=reindex/1', false],
  ] as const)
    await eventually(async () => {
      const { body } = await node.control('GET', `/requests?${filter}`, { token: NODE_TOKEN })
      const ids = (body['data'] as { id: string }[]).map((one) => one.id)
      assert.equal(ids.includes(String(id)), isFound, filter)
    })
})
