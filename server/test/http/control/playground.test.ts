/** The playground makes the same journey as a caller, under a project that the member may use. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { pngOf } from '#test/support/media.ts'
import { eventually } from '#test/support/process.ts'
import { contentVector } from '../../../../lab/fake-provider/contents.ts'

const MODELS = {
  models: {
    'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 10 } },
    'obeys-w16': { on: 'obeys-fields' },
    'contents-w16': {
      on: 'plain',
      upstream: { base: 'openrouter/api/v1' },
      capabilities: { contents: { wire: 'openrouter', inputs: ['text', 'image'], fuses: true } },
    },
  },
  images: {
    'plain-image': {
      on: 'plain',
      capabilities: { edits: { maxInputs: 2, mask: 'alpha' } },
      price: { usdPerImage: 0.01 },
    },
  },
} as const

const node = await startConsoleNode({
  ...MODELS,
  projects: {
    search: { budget: { usd: 5, per: 'month', hard: true }, keys: [] },
    poor: { budget: { usd: 0, per: 'total', hard: true }, keys: [] },
    slow: { limits: { requestsPerMinute: 1 }, keys: [] },
    free: { keys: [] },
  },
})
const developer = await node.tokenOf('developer', { projects: ['search'] })

async function play(
  path: string,
  body: string | FormData,
  token = NODE_TOKEN,
  headers: Record<string, string> = {},
  { controlUrl } = node,
) {
  const answer = await fetch(`${controlUrl}/api/v1/playground/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body,
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true
  const parsed = (isJson ? JSON.parse(text) : {}) as {
    data?: { embedding: number[]; b64_json?: string }[]
    error?: { code: string; param: string | null }
  }
  return { status: answer.status, headers: answer.headers, text, body: parsed }
}
const json = { 'content-type': 'application/json' }
const embed = (body: object, token?: string) => play('embeddings', JSON.stringify(body), token, json)

test('images become vectors too, in a body that is larger than texts may be', async () => {
  const image = Buffer.concat([await pngOf(8, 8), Buffer.alloc(9 * 1024 * 1024)])
  const url = `data:image/png;base64,${image.toString('base64')}`
  const content = [{ type: 'image_url', image_url: { url } }]
  const answer = await embed({ project: 'free', model: 'contents-w16', input: [{ content }] })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(Float32Array.from(answer.body.data?.[0]?.embedding ?? []), contentVector([image], 16))
})

test('texts become vectors as for a caller, with the same headers, billed to the project', async () => {
  const answer = await embed({ project: 'search', model: 'plain-w16', input: ['a', 'b'] })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.body.data?.length, 2)
  const called = await node.ask({ model: 'plain-w16', input: ['a', 'b'] })
  assert.deepEqual(answer.body.data, called.body.data)
  for (const name of ['x-torana-cost', 'x-torana-space', 'x-torana-deployment'])
    assert.equal(answer.headers.has(name), called.headers.has(name), name)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  await eventually(async () => {
    const listed = await node.control('GET', '/requests?project=search', { token: NODE_TOKEN })
    const [row] = listed.body['data'] as { key: string; model: string }[]
    assert.deepEqual([row?.key, row?.model], ['search/playground:admin-token', 'plain-w16'])
  })
})

test('with the secret of a key the request is that key’s own: its terms apply, and its project pays', async () => {
  const body = { name: 'own', project: 'keyed', models: ['plain-w16'] }
  const made = await node.control('POST', '/keys', { token: NODE_TOKEN, body })
  const secret = String(made.body['secret'])
  const ask = (model: string, key: string) =>
    play('embeddings', JSON.stringify({ project: 'search', model, input: 'a' }), developer, {
      ...json,
      'x-api-key': key,
    })
  assert.equal((await ask('plain-w16', secret)).status, 200)
  assert.equal((await ask('obeys-w16', secret)).body.error?.code, 'model_not_allowed')
  const wrong = await ask('plain-w16', 'tr_wrong')
  assert.deepEqual([wrong.status, wrong.body.error?.code], [401, 'invalid_api_key'])
  await eventually(async () => {
    const listed = await node.control('GET', '/requests?project=keyed&outcome=answered', {
      token: NODE_TOKEN,
    })
    const rows = listed.body['data'] as { key: string }[]
    assert.deepEqual(
      rows.map(({ key }) => key),
      ['keyed/own'],
    )
  })
})

test('what Torana cannot name it does not name here either, and an image in a string is refused', async () => {
  const ask = (fields: object, headers: Record<string, string> = {}) => {
    const body = { project: 'free', model: 'obeys-w16', input: 'a text', ...fields }
    return play('embeddings', JSON.stringify(body), NODE_TOKEN, { ...json, ...headers })
  }
  const space = (await ask({})).headers.get('x-torana-space') ?? ''
  assert.match(space, /^obeys-w16@16:/)
  const changed = await ask({ task: 'separation' })
  assert.deepEqual([changed.status, changed.headers.get('x-torana-space')], [200, null], changed.text)
  const pinned = await ask({ task: 'separation' }, { 'x-torana-space': space })
  assert.deepEqual([pinned.status, pinned.body.error?.code], [412, 'space_mismatch'])
  const image = await ask({ input: ['data:image/png;base64,iVBORw0KGgo='] })
  assert.deepEqual([image.body.error?.code, image.body.error?.param], ['ambiguous_input', 'input[0]'])
})

test('limits and budgets of the project hold', async () => {
  const refused = await embed({ project: 'poor', model: 'plain-w16', input: 'a' })
  assert.equal(refused.body.error?.code, 'budget_exhausted', refused.text)
  assert.equal((await embed({ project: 'slow', model: 'plain-w16', input: 'a' })).status, 200)
  assert.equal(
    (await embed({ project: 'slow', model: 'plain-w16', input: 'a' })).body.error?.code,
    'rate_limit_exceeded',
  )
})

test('a stored project without a key pays for its playground out of its budget, and a change of it counts at once', async () => {
  const make = { name: 'stored', budget: { usd: 0.001, per: 'month', hard: true } }
  const made = await node.control('POST', '/projects', { token: NODE_TOKEN, body: make })
  assert.equal(made.status, 201, made.text)
  const ask = () => embed({ project: 'stored', model: 'plain-w16', input: 'a' })
  assert.equal((await ask()).status, 200)
  const body = { budget: { usd: 0, per: 'month', hard: true } }
  await node.control('PATCH', '/projects/stored', { token: NODE_TOKEN, body })
  await eventually(async () => assert.equal((await ask()).body.error?.code, 'budget_exhausted'))
})

test('torana.yaml bounds each member by itself, on top of the project', async () => {
  const bounded = await startConsoleNode({
    ...MODELS,
    playground: { requestsPerMinute: 2, usdPerDay: 0.01 },
    projects: { search: { keys: [] } },
  })
  const [one, other] = await Promise.all([bounded.tokenOf('admin'), bounded.tokenOf('admin')])
  const ask = async (path: string, body: object, token: string): Promise<string | number> => {
    const text = JSON.stringify({ project: 'search', ...body })
    const answer = await play(path, text, token, json, bounded)
    return answer.body.error?.code ?? answer.status
  }
  const picture = { model: 'plain-image', prompt: 'a cat' }
  const vector = { model: 'plain-w16', input: 'a' }
  assert.equal(await ask('images/generations', picture, one), 200)
  assert.equal(await ask('embeddings', vector, one), 'budget_exhausted')
  assert.equal(await ask('embeddings', vector, other), 200)
  assert.equal(await ask('embeddings', vector, other), 200)
  assert.equal(await ask('embeddings', vector, other), 'rate_limit_exceeded')
  const settings = await bounded.control('GET', '/settings', { token: NODE_TOKEN })
  assert.deepEqual(settings.body['playground'], { requests_per_minute: 2, usd_per_day: '0.010000000' })
})

test('a member plays in its own projects, and the project is named first', async () => {
  assert.equal((await embed({ project: 'search', model: 'plain-w16', input: 'a' }, developer)).status, 200)
  const other = await embed({ project: 'poor', model: 'plain-w16', input: 'a' }, developer)
  assert.deepEqual([other.status, other.body.error?.code], [403, 'forbidden'])
  assert.equal((await embed({ project: 'nowhere', model: 'plain-w16', input: 'a' })).status, 404)
  for (const body of [{ model: 'plain-w16', project: 'search' }, {}, []]) {
    const refused = await embed(body)
    assert.deepEqual([refused.status, refused.body.error?.param], [400, 'project'], refused.text)
  }
  const readOnly = await node.tokenOf('admin', { read_only: true })
  assert.equal((await embed({ project: 'search', model: 'plain-w16', input: 'a' }, readOnly)).status, 403)
})

test('a long body arrives whole behind its project', async () => {
  const input = Array.from({ length: 500 }, (_, index) => `text ${index} ${'x'.repeat(500)}`)
  const answer = await embed({ project: 'search', model: 'plain-w16', input })
  assert.equal(answer.status, 200, answer.text.slice(0, 300))
  assert.equal(answer.body.data?.length, 500)
})

test('pictures are made, also as a stream', async () => {
  const body = { project: 'search', model: 'plain-image', prompt: 'a cat' }
  const made = await play('images/generations', JSON.stringify(body), NODE_TOKEN, json)
  assert.equal(made.status, 200, made.text.slice(0, 300))
  assert.ok(made.body.data?.[0]?.b64_json)
  const streamed = await play(
    'images/generations',
    JSON.stringify({ ...body, stream: true }),
    NODE_TOKEN,
    json,
  )
  assert.match(streamed.headers.get('content-type') ?? '', /^text\/event-stream/)
  assert.match(streamed.text, /image_generation\.completed/)
  for (const { headers, text } of [made, streamed])
    await eventually(async () => {
      const path = `/requests/${headers.get('x-request-id')}`
      const { body: detail } = await node.control('GET', path, { token: NODE_TOKEN })
      assert.equal(detail['bytes_out'], text.length)
      // Without the project, which only the playground has.
      assert.ok(Number(detail['bytes_in']) >= '{"model":"plain-image","prompt":"a cat"}'.length)
    })
})

test('a form with pictures is read behind its first field', async () => {
  const body = { project: 'search', model: 'plain-image', prompt: 'a cat' }
  const made = await play('images/generations', JSON.stringify(body), NODE_TOKEN, json)
  const picture = Buffer.from(made.body.data?.[0]?.b64_json ?? '', 'base64')
  const form = new FormData()
  form.set('project', 'search')
  form.set('model', 'plain-image')
  form.set('prompt', 'another cat')
  form.set('image', new Blob([picture], { type: 'image/png' }), 'cat.png')
  const edited = await play('images/edits', form)
  assert.equal(edited.status, 200, edited.text.slice(0, 400))
  assert.ok(edited.body.data?.[0]?.b64_json)
  const late = new FormData()
  late.set('model', 'plain-image')
  late.set('project', 'search')
  assert.equal((await play('images/edits', late)).body.error?.param, 'project')
})
