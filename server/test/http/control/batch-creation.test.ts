/** Batches of files that a person or a program uploads at the control port, under a key or under its own name. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BatchCaller, embeddingLines } from '#test/support/batches.ts'
import { NODE_TOKEN, startConsoleNode, type ControlAnswer } from '#test/support/console-node.ts'
import { eventually } from '#test/support/process.ts'

const KEY = 'the secret of the indexer, long'
const node = await startConsoleNode({
  models: {
    'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 10 } },
    'slow-w16': { on: 'slow-2000', price: { usdPerMillionTokens: 10 } },
  },
  projects: {
    search: {
      keys: [
        { name: 'indexer', secret: KEY },
        { name: 'images', secret: 'the secret for images, long enough', scopes: ['images'] },
      ],
    },
    ads: { keys: [{ name: 'website', secret: 'the secret of the website, long' }] },
  },
})
const developer = await node.tokenOf('developer', { projects: ['search'] })

function ask(path: string, body: unknown, token = developer, headers = {}): Promise<ControlAnswer> {
  return node.control('POST', path, { token, body, headers })
}

async function addPart(
  upload: string,
  data: string,
  project = 'search',
  token = developer,
): Promise<Response> {
  const form = new FormData()
  form.set('project', project)
  form.set('data', new Blob([data]), 'part')
  return fetch(`${node.controlUrl}/api/v1/playground/uploads/${upload}/parts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  })
}

function begin(bytes: number, project = 'search', token = developer): Promise<ControlAnswer> {
  const wish = { filename: 'corpus.csv.jsonl', purpose: 'batch', bytes, mime_type: 'application/jsonl' }
  return ask('/playground/uploads', { project, ...wish }, token)
}

/** In two parts, which arrive in the other order. */
async function uploaded(lines: string): Promise<string> {
  const begun = await begin(Buffer.byteLength(lines))
  assert.equal(begun.status, 200, begun.text)
  const id = String(begun.body['id'])
  const half = Math.floor(lines.length / 2)
  const ids: string[] = []
  for (const part of [lines.slice(half), lines.slice(0, half)]) {
    const answer = await addPart(id, part)
    assert.equal(answer.status, 200)
    ids.unshift(((await answer.json()) as { id: string }).id)
  }
  const done = await ask(`/playground/uploads/${id}/complete`, { project: 'search', part_ids: ids })
  assert.equal(done.status, 200, done.text)
  return (done.body['file'] as { id: string }).id
}

const LINES = `${embeddingLines('plain-w16', ['a red chair', 'a table', 'a blue lamp'])}\n`
const asked = (file: string, more = {}) => ({
  project: 'search',
  input_file_id: file,
  endpoint: '/v1/embeddings',
  completion_window: '24h',
  ...more,
})

test('a file that arrives in parts becomes a batch, under a key or under the own name', async () => {
  const file = await uploaded(LINES)
  const metadata = { file: 'corpus.csv', rows: '3' }
  const own = await ask('/batches', asked(file, { metadata }))
  assert.equal(own.status, 201, own.text)
  assert.match(String(own.body['key']), /^search\/playground:token:/)
  const keyed = await ask('/batches', asked(file, { key: 'search/indexer' }))
  assert.equal(keyed.body['key'], 'search/indexer')
  for (const { body } of [own, keyed])
    await eventually(async () => {
      const now = await node.control('GET', `/batches/${String(body['id'])}`, { token: developer })
      assert.deepEqual(
        [now.body['state'], now.body['lines']],
        ['completed', { total: 3, completed: 3, failed: 0 }],
      )
    })
  const shown = await node.control('GET', `/batches/${String(own.body['id'])}`, { token: developer })
  assert.deepEqual(shown.body['metadata'], metadata)
  const audit = await node.control('GET', '/audit?action=batch.create', { token: NODE_TOKEN })
  for (const { body } of [own, keyed]) assert.ok(audit.text.includes(String(body['id'])), audit.text)
  // The file belongs to the project: its keys see it.
  const listed = await new BatchCaller(node.url, KEY).fetch('/files')
  assert.ok((await listed.text()).includes(file))
})

test('the same Idempotency-Key is the same batch, also of two requests at once', async () => {
  const file = await uploaded(LINES)
  const headers = { 'idempotency-key': 'one-run-of-the-console' }
  const answers = await Promise.all([1, 2].map(() => ask('/batches', asked(file), developer, headers)))
  const again = await ask('/batches', asked(file), developer, headers)
  assert.equal(new Set([...answers, again].map(({ body }) => body['id'])).size, 1)
  const other = await ask('/batches', asked(file, { completion_window: '6h' }), developer, headers)
  assert.equal(other.body.error?.code, 'idempotency_key_reused')
})

test('wrong fields are refused by name, and keys of others or without the scope', async () => {
  const file = await uploaded(LINES)
  for (const [more, code] of [
    [{ completion_window: '1000h' }, 'invalid_parameter'],
    [{ endpoint: '/v1/chat/completions' }, 'invalid_parameter'],
    [{ metadata: { a: 1 } }, 'invalid_parameter'],
    [{ input_file_id: 'file-no-such' }, 'not_found'],
    [{ key: 'ads/website' }, 'invalid_parameter'],
    [{ key: 'search/no-such' }, 'invalid_parameter'],
    [{ key: 'search/images' }, 'scope_not_allowed'],
    [{ project: 'ads' }, 'forbidden'],
  ] as const) {
    const { status, body } = await ask('/batches', asked(file, more))
    assert.deepEqual([status >= 400, body.error?.code], [true, code], JSON.stringify(more))
  }
})

test('a batch runs under a key that was made or under your own playground, never under an invented name', async () => {
  const file = await uploaded(LINES)
  const names = [
    'console.made-up',
    'console.local-admin',
    'playground:boss@example.com',
    '../ads/website',
    '',
  ]
  for (const name of [...names, 'playground:token:ci', 'playground:admin-token']) {
    const { status, body } = await ask('/batches', asked(file, { key: `search/${name}` }))
    assert.deepEqual([status, body.error?.code], [400, 'invalid_parameter'], name)
  }
})

test('uploads stay within the own projects, and name the project first', async () => {
  assert.equal((await begin(10, 'ads')).body.error?.code, 'forbidden')
  assert.equal((await begin(10, 'no-such', NODE_TOKEN)).body.error?.code, 'not_found')
  const without = await ask('/playground/uploads', { filename: 'x.jsonl', purpose: 'batch', bytes: 10 })
  assert.deepEqual([without.status, without.body.error?.code], [400, 'missing_parameter'])
  const foreign = String((await begin(10, 'ads', NODE_TOKEN)).body['id'])
  assert.equal((await addPart(foreign, '0123456789')).status, 404)
  assert.equal((await addPart(foreign, '0123456789', 'ads')).status, 403)
  const cancelled = await ask(`/playground/uploads/${foreign}/cancel`, { project: 'search' })
  assert.equal(cancelled.status, 404)
})

test('an upload that is given up is cancelled, and takes no further part', async () => {
  const id = String((await begin(10)).body['id'])
  const answer = await ask(`/playground/uploads/${id}/cancel`, { project: 'search' })
  assert.deepEqual([answer.status, answer.body['status']], [200, 'cancelled'])
  assert.equal((await addPart(id, '0123456789')).status, 400)
})
