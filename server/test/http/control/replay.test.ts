/** Requests of a project that captures inputs can be sent again, on a real node; those of other projects leave nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { askImages } from '#test/support/image-answers.ts'
import { pngOf } from '#test/support/media.ts'
import { eventually } from '#test/support/process.ts'

const KEYS = { kept: 'canary-key-of-kept-00000001', plain: 'canary-key-of-plain-0000001' }
const node = await startConsoleNode({
  models: {
    'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 10 } },
    'down-w16': { on: 'status-500', price: { usdPerMillionTokens: 10 } },
  },
  images: {
    'plain-image': {
      on: 'plain',
      capabilities: { edits: { maxInputs: 2, mask: 'alpha' } },
      price: { usdPerImage: 0.01 },
    },
  },
  projects: {
    kept: { capture: 'inputs', keys: [{ name: 'k', secret: KEYS.kept }] },
    plain: { keys: [{ name: 'k', secret: KEYS.plain }] },
  },
})

interface Detail {
  readonly log: 'kept' | 'deleted'
  readonly project: string
  readonly key: string
  readonly status: number
  readonly fault: string | null
  readonly client_request_id: string | null
  readonly cost_usd: string | null
  readonly replay: { readonly possible: boolean; readonly reason: string | null }
}

async function control<Body>(path: string, method = 'GET', token = NODE_TOKEN, body?: unknown) {
  const answer = await node.control(method, path, { token, ...(body !== undefined && { body }) })
  return { status: answer.status, text: answer.text, body: answer.body as Body & typeof answer.body }
}

/** Once the log has it, and what was captured is stored. */
async function detailOf(id: string, isReady?: (detail: Detail) => boolean): Promise<Detail> {
  return eventually(async () => {
    const { status, body, text } = await control<Detail>(`/requests/${id}`)
    assert.equal(status, 200, text)
    assert.equal(body.log, 'kept', 'the ledger has it before the log')
    assert.ok(isReady === undefined || isReady(body), JSON.stringify(body.replay))
    return body
  })
}

const isPossible = ({ replay }: Detail): boolean => replay.possible

interface Preview {
  readonly possible: boolean
  readonly reason: string | null
  readonly cost: { readonly max_usd: string } | null
  readonly sends: { readonly body: string } | null
  readonly refusal: { readonly code: string } | null
}

test('a failure is sent again: the cost comes first, the project pays, and both are in the log', async () => {
  const asked = { model: 'plain-w16', input: ['a canary text'], dimensions: 8 }
  const tags = { 'x-torana-tags': 'team=red', 'x-torana-unsupported': 'drop' }
  const first = await node.ask(asked, { key: KEYS.kept, headers: tags })
  assert.equal(first.headers.get('x-torana-captured'), '24h')
  const id = String(first.headers.get('x-request-id'))
  await detailOf(id, isPossible)
  const preview = await control<Preview>(`/requests/${id}/replay`)
  assert.partialDeepStrictEqual(preview.body, {
    possible: true,
    project: 'kept',
    sends: { body: JSON.stringify(asked), headers: tags },
    refusal: null,
  })
  assert.match(preview.body.cost?.max_usd ?? '', /^0\.000\d{6}$/)
  const sent = await control<{ id: string }>(`/requests/${id}/replay`, 'POST')
  assert.equal(sent.status, 201, sent.text)
  assert.partialDeepStrictEqual(sent.body, { status: 200, fault: null })
  const again = await detailOf(sent.body.id)
  assert.partialDeepStrictEqual(again, {
    project: 'kept',
    key: 'kept/playground:admin-token',
    status: 200,
    client_request_id: `replay-of-${id}`,
    tags: { team: 'red' },
  })
  assert.ok(Number(again.cost_usd) > 0 && Number(again.cost_usd) <= Number(preview.body.cost?.max_usd))
})

test('a request that fails again says how, and costs nothing', async () => {
  const first = await node.ask({ model: 'down-w16', input: 'a text' }, { key: KEYS.kept })
  assert.equal(first.status, 502)
  const id = String(first.headers.get('x-request-id'))
  const detail = await detailOf(id, isPossible)
  assert.partialDeepStrictEqual(detail, { fault_party: 'upstream', fault: 'upstream_failed' })
  const { body } = await control(`/requests/${id}/replay`, 'POST')
  assert.partialDeepStrictEqual(body, { status: 502, fault: 'upstream_failed' })
  const refused = await node.ask({ model: 'nothing-w16', input: 'a text' }, { key: KEYS.kept })
  const other = String(refused.headers.get('x-request-id'))
  await detailOf(other, isPossible)
  const preview = await control<Preview>(`/requests/${other}/replay`)
  assert.partialDeepStrictEqual(preview.body, { cost: null, refusal: { code: 'model_not_found' } })
})

test('images and edits are sent again, also an edit that came as a form', async () => {
  const made = await askImages(node, { model: 'plain-image', prompt: 'a gate' }, { key: KEYS.kept })
  const form = new FormData()
  form.set('model', 'plain-image')
  form.set('prompt', 'a night sky')
  form.set('n', '2')
  form.set('image', new Blob([Uint8Array.from(await pngOf(8, 8))], { type: 'image/png' }), 'a.png')
  const edited = await fetch(`${node.url}/v1/images/edits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEYS.kept}` },
    body: form,
  })
  assert.equal(edited.status, 200, await edited.text())
  for (const [headers, kind, cost] of [
    [made.headers, 'generation', '0.010000000'],
    [edited.headers, 'edit', '0.020000000'],
  ] as const) {
    assert.equal(headers.get('x-torana-captured'), '24h')
    const id = String(headers.get('x-request-id'))
    await detailOf(id, isPossible)
    const preview = await control<Preview>(`/requests/${id}/replay`)
    assert.equal(preview.body.cost?.max_usd, cost)
    const sent = await control<{ id: string }>(`/requests/${id}/replay`, 'POST')
    assert.deepEqual([sent.status, sent.body['fault']], [201, null], sent.text)
    assert.partialDeepStrictEqual(await detailOf(sent.body.id), { kind, cost_usd: cost, status: 200 })
  }
})

test('a project that does not capture leaves nothing, and neither does a dry run', async () => {
  const answer = await node.ask({ model: 'plain-w16', input: 'a text' }, { key: KEYS.plain })
  assert.equal(answer.headers.get('x-torana-captured'), null)
  const id = String(answer.headers.get('x-request-id'))
  const { replay } = await detailOf(id)
  assert.deepEqual([replay.possible, replay.reason], [false, 'capture_off'])
  const sent = await control(`/requests/${id}/replay`, 'POST')
  assert.deepEqual([sent.status, sent.body.error?.code], [409, 'conflict'])
  const dry = await node.ask(
    { model: 'plain-w16', input: 'a text' },
    { key: KEYS.kept, headers: { 'x-torana-dry-run': 'true' } },
  )
  assert.equal(dry.headers.get('x-torana-captured'), null)
})

test('only members of the project with the right see what was sent, and budgets hold', async () => {
  const first = await node.ask({ model: 'plain-w16', input: 'a text' }, { key: KEYS.kept })
  const id = String(first.headers.get('x-request-id'))
  await detailOf(id, isPossible)
  const stranger = await node.tokenOf('developer', { projects: ['plain'] })
  const reader = await node.tokenOf('developer', { projects: ['kept'], read_only: true })
  for (const [method, token, status] of [
    ['GET', stranger, 404],
    ['POST', stranger, 404],
    ['POST', reader, 403],
    ['GET', reader, 200],
  ] as const)
    assert.equal((await control(`/requests/${id}/replay`, method, token)).status, status)
})

test('a switch of a stored project captures within seconds; turned off, what was kept is gone', async () => {
  const made = await control('/projects', 'POST', NODE_TOKEN, { name: 'stored', capture_inputs: true })
  assert.equal(made.body['capture_inputs'], true, made.text)
  const key = await control('/keys', 'POST', NODE_TOKEN, { project: 'stored', name: 'k' })
  const ask = () => node.ask({ model: 'plain-w16', input: 'a canary' }, { key: String(key.body['secret']) })
  const first = await eventually(async () => {
    const answer = await ask()
    assert.equal(answer.headers.get('x-torana-captured'), '24h', answer.text)
    return answer
  })
  const id = String(first.headers.get('x-request-id'))
  await detailOf(id, isPossible)
  const off = await control('/projects/stored', 'PATCH', NODE_TOKEN, { capture_inputs: false })
  assert.equal(off.body['capture_inputs'], false, off.text)
  await detailOf(id, ({ replay }) => replay.reason === 'capture_off')
  const on = await control('/projects/stored', 'PATCH', NODE_TOKEN, { capture_inputs: true })
  assert.equal(on.status, 200)
  await detailOf(id, ({ replay }) => replay.reason === 'not_captured')
  const audit = await control<{ data: { action: string; detail: object }[] }>('/audit?target=stored')
  const set = audit.body.data.find(({ action }) => action === 'project.set')
  assert.partialDeepStrictEqual(set?.detail, { after: { capturesInputs: true } })
})
