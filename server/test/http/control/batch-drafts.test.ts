/** Drafts of batches: a file of rows becomes an estimate and a batch, for the person who sent it. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openCorpus } from 'torana-bulk/corpus'
import { openPostgres } from '#stores/postgres/database.ts'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { eventually, temporaryFolder } from '#test/support/process.ts'
import { vectorOf } from '../../../../lab/fake-provider/vectors.ts'

const node = await startConsoleNode({
  models: {
    'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 10 } },
    'unpriced-w16': { on: 'plain' },
    'slow-w16': { on: 'slow-2000', price: { usdPerMillionTokens: 10 } },
  },
  known: { 'text-embedding-3-small': {} },
  projects: {
    search: {
      budget: { usd: 5, per: 'month', hard: true },
      keys: [{ name: 'indexer', secret: 'the secret of the indexer, long' }],
    },
    poor: { budget: { usd: 0.000_01, per: 'total', hard: true }, keys: [] },
    ads: { keys: [] },
  },
})
const developer = await node.tokenOf('developer', { projects: ['search', 'poor'] })

interface Draft {
  readonly id: string
  readonly format: string
  readonly delimiter: string | null
  readonly rows: number
  readonly columns: readonly {
    readonly name: string
    readonly filled: number
    readonly empty: number
    readonly duplicates: number | null
  }[]
  readonly preview: readonly (readonly string[])[]
  readonly text_column: string | null
  readonly id_column: string | null
}

interface Answer<Body> {
  readonly status: number
  readonly body: Body & { readonly error?: { readonly code: string; readonly message: string } }
}

async function send(
  content: string | Uint8Array<ArrayBuffer>,
  { project = 'search', name = 'articles.csv', header = 'true', token = developer } = {},
): Promise<Answer<Draft>> {
  const query = new URLSearchParams({ project, name, header })
  const answer = await fetch(`${node.controlUrl}/api/v1/batch-drafts?${query.toString()}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'text/csv' },
    body: content,
  })
  return { status: answer.status, body: (await answer.json()) as Answer<Draft>['body'] }
}

async function ask<Body>(
  method: string,
  path: string,
  body?: unknown,
  token = developer,
): Promise<Answer<Body>> {
  const answer = await node.control(method, path, { token, ...(body !== undefined && { body }) })
  return { status: answer.status, body: answer.body as unknown as Answer<Body>['body'] }
}

const CSV = 'id,body,lang\nA-1,"a red chair, made of oak",en\nA-2,,en\nA-3,a table,de\nA-4,a table,en\n'
const OPTIONS = { model: 'plain-w16', text_column: 'body', id_column: 'id' }

interface Estimate {
  readonly lines: number
  readonly empty: number
  readonly too_long: number | null
  readonly duplicates: number
  readonly tokens: { readonly value: number; readonly basis: string }
  readonly plans: readonly { readonly usd: string | null }[]
  readonly budgets: readonly { readonly id: string; readonly left_usd: string }[]
  readonly exceeds: { readonly budget: string; readonly by_usd: string } | null
  readonly problems: readonly { readonly code: string }[]
  readonly can_run: boolean
}

interface Batch {
  readonly id: string
  readonly state: string
  readonly key: string
  readonly corpus_rows: number
  readonly lines: { readonly total: number; readonly completed: number }
}

test('a file is read as it is: columns, rows, what is missing and what repeats', async () => {
  const { status, body } = await send(CSV)
  assert.equal(status, 201, JSON.stringify(body))
  assert.deepEqual([body.format, body.delimiter, body.rows], ['csv', ',', 4])
  assert.deepEqual(
    body.columns.map(({ name, filled, empty, duplicates }) => [name, filled, empty, duplicates]),
    [
      ['id', 4, 0, 0],
      ['body', 3, 1, 1],
      ['lang', 4, 0, 2],
    ],
  )
  assert.deepEqual(body.preview[0], ['A-1', 'a red chair, made of oak', 'en'])
  assert.deepEqual([body.text_column, body.id_column], ['body', 'id'])
  assert.deepEqual((await ask('GET', `/batch-drafts/${body.id}`)).body, body)
})

const FILES: readonly (readonly [
  name: string,
  content: string,
  format: string,
  rows: number,
  columns: string[],
])[] = [
  ['a.jsonl', '{"id":1,"text":"x"}\n\n{"id":2,"text":"y","more":[1]}\n', 'jsonl', 2, ['id', 'text', 'more']],
  ['pasted', '{"text":"x"}', 'jsonl', 1, ['text']],
  ['pasted', 'name;text\na;b', 'csv', 1, ['name', 'text']],
  ['a.tsv', 'name\ttext\na\tb,c\n', 'csv', 1, ['name', 'text']],
  ['a.csv', '\uFEFFtext\n"two\nlines"\n', 'csv', 1, ['text']],
]

test('the format follows from the name, or from the first characters', async () => {
  for (const [name, content, format, rows, columns] of FILES) {
    const { status, body } = await send(content, { name })
    assert.equal(status, 201, JSON.stringify(body))
    assert.deepEqual(
      [body.format, body.rows, body.columns.map((one) => one.name)],
      [format, rows, columns],
      name,
    )
  }
  const { body } = await send('a chair\na lamp', { header: 'false' })
  assert.deepEqual([body.rows, body.columns[0]?.name], [2, 'column 1'])
})

test('a file that is no table is refused with the row, and leaves nothing behind', async () => {
  for (const [content, message] of [
    ['a,b\n1,2\n3\n', /Row 2 has 1 fields/],
    ['a,a\n1,2\n', /two columns with the name "a"/],
    ['a\n"open', /ends inside of a quoted field/],
    ['', /no rows/],
    ['id,text\n', /no rows/],
    [Uint8Array.from([0x50, 0x4b, 0x03, 0x04, 0xff, 0xfe]), /not UTF-8/],
  ] as const) {
    const { status, body } = await send(content)
    assert.deepEqual([status, body.error?.code], [400, 'invalid_parameter'])
    assert.match(body.error?.message ?? '', message)
  }
  if (node.databaseUrl === '') return
  const database = openPostgres(node.databaseUrl)
  const left = await database.query(
    'SELECT 1 FROM files WHERE purpose IS NULL AND file_id NOT IN (SELECT file_id FROM batch_drafts)',
  )
  await database.close()
  assert.equal(left.length, 0)
})

test('an estimate counts lines, tokens and money, and says when a budget does not last', async () => {
  const { body: draft } = await send(CSV)
  const { status, body } = await ask<Estimate>('POST', `/batch-drafts/${draft.id}/estimate`, OPTIONS)
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual([body.lines, body.empty, body.duplicates, body.can_run], [3, 1, 1, true])
  assert.ok(body.tokens.value >= 3)
  assert.equal(body.budgets[0]?.id, 'project:search')
  const usd = Number(body.plans[0]?.usd)
  assert.ok(Math.abs(usd - (body.tokens.value * 10) / 1e6) < 1e-8, String(usd))

  const poor = await send(CSV, { project: 'poor' })
  const over = await ask<Estimate>('POST', `/batch-drafts/${poor.body.id}/estimate`, OPTIONS)
  assert.deepEqual([over.body.can_run, over.body.exceeds?.budget], [false, 'project:poor'])
  const refused = await ask<Batch>('POST', `/batch-drafts/${poor.body.id}/run`, OPTIONS)
  assert.deepEqual([refused.status, refused.body.error?.code], [429, 'budget_exhausted'])

  const unpriced = { ...OPTIONS, model: 'unpriced-w16' }
  const without = await ask<Estimate>('POST', `/batch-drafts/${draft.id}/estimate`, unpriced)
  assert.deepEqual([without.body.plans[0]?.usd, without.body.problems[0]?.code], [null, 'model_unpriced'])
})

test('wrong options are refused by name', async () => {
  const { body: draft } = await send(CSV)
  for (const [options, code] of [
    [{ model: 'no-such' }, 'model_not_found'],
    [{ text_column: 'title' }, 'invalid_parameter'],
    [{ id_column: 'title' }, 'invalid_parameter'],
    [{ key: 'ads/website' }, 'invalid_parameter'],
    [{ key: 'search/no-such' }, 'invalid_parameter'],
    [{ bad_rows: 'guess' }, 'invalid_parameter'],
    [{ window_hours: 1000 }, 'invalid_parameter'],
  ] as const) {
    const { body } = await ask('POST', `/batch-drafts/${draft.id}/estimate`, { ...OPTIONS, ...options })
    assert.equal(body.error?.code, code, JSON.stringify(options))
  }
})

test('a draft runs under a key that was made or under your own playground, never under an invented name', async () => {
  const { body: draft } = await send(CSV)
  const names = [
    'console.made-up',
    'console.local-admin',
    'console.boss@example.com',
    'playground:boss@example.com',
  ]
  for (const name of [...names, 'playground:token:ci', 'playground:admin-token', '../ads/website', ''])
    for (const step of ['estimate', 'run']) {
      const options = { ...OPTIONS, key: `search/${name}` }
      const { status, body } = await ask('POST', `/batch-drafts/${draft.id}/${step}`, options)
      assert.deepEqual([status, body.error?.code], [400, 'invalid_parameter'], `${step} ${name}`)
    }
})

test('a run is an ordinary batch of the project, and the same run again is the same batch', async () => {
  const { body: draft } = await send(CSV)
  const options = { ...OPTIONS, key: 'search/indexer' }
  const runs = await Promise.all(
    [1, 2].map(() => ask<Batch>('POST', `/batch-drafts/${draft.id}/run`, options)),
  )
  const [first] = runs
  assert.equal(first?.status, 201, JSON.stringify(first?.body))
  const again = await ask<Batch>('POST', `/batch-drafts/${draft.id}/run`, options)
  assert.deepEqual(new Set([...runs, again].map(({ body }) => body.id)).size, 1)
  const id = again.body.id
  assert.deepEqual([first?.body.key, first?.body.corpus_rows], ['search/indexer', 4])
  await eventually(async () => {
    const { body } = await ask<Batch>('GET', `/batches/${id}`)
    assert.deepEqual([body.state, body.lines.total, body.lines.completed], ['completed', 3, 3])
  })
  const other = await ask<Batch>('POST', `/batch-drafts/${draft.id}/run`, OPTIONS)
  assert.notEqual(other.body.id, id)
  assert.match(other.body.key, /^search\/playground:token:/)
  const audit = await node.control('GET', '/audit?action=batch.create', { token: NODE_TOKEN })
  assert.ok(audit.text.includes(id), audit.text)
})

test('another output is the same batch, and a batch that was cancelled can be run again', async () => {
  const { body: draft } = await send(CSV)
  const run = async (output: string | null): Promise<string> => {
    const { body } = await ask<Batch>('POST', `/batch-drafts/${draft.id}/run`, { ...OPTIONS, output })
    return body.id
  }
  const first = await run('npy')
  assert.equal(await run('parquet'), first)
  await completed(first)
  assert.equal(await run(null), first, 'what is done is not paid twice')
  const slow = { ...OPTIONS, model: 'slow-w16' }
  const again = async (): Promise<string> =>
    (await ask<Batch>('POST', `/batch-drafts/${draft.id}/run`, slow)).body.id
  const begun = await again()
  assert.equal(await again(), begun)
  await ask<Batch>('POST', `/batches/${begun}/cancel`)
  const next = await again()
  assert.notEqual(next, begun)
  assert.equal(await again(), next)
})

test('rows that cannot run stop the batch where a person wants that', async () => {
  const { body: draft } = await send(CSV)
  const { status, body } = await ask<Batch>('POST', `/batch-drafts/${draft.id}/run`, {
    ...OPTIONS,
    bad_rows: 'stop',
  })
  assert.deepEqual([status, body.error?.code], [400, 'invalid_parameter'])
})

test('a draft is for the person who sent it, within the own projects', async () => {
  assert.equal((await send(CSV, { project: 'ads' })).body.error?.code, 'forbidden')
  assert.equal((await send(CSV, { project: 'no-such', token: NODE_TOKEN })).body.error?.code, 'not_found')
  const { body: draft } = await send(CSV)
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/estimate'],
    ['POST', '/run'],
  ] as const) {
    const body = method === 'POST' ? OPTIONS : undefined
    const answer = await ask(method, `/batch-drafts/${draft.id}${path}`, body, NODE_TOKEN)
    assert.equal(answer.body.error?.code, 'not_found', `${method} ${path}`)
  }
  const files = await node.control('GET', `/batch-drafts/${draft.id}`, { token: developer })
  assert.equal(files.status, 200)
  assert.equal((await ask('DELETE', `/batch-drafts/${draft.id}`)).status, 204)
  assert.equal((await ask('GET', `/batch-drafts/${draft.id}`)).body.error?.code, 'not_found')
})

async function results(id: string, format: string, token = developer) {
  const answer = await fetch(`${node.controlUrl}/api/v1/batches/${id}/results?format=${format}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) }
}

async function completed(id: string): Promise<void> {
  await eventually(async () => {
    const { body } = await ask<Batch>('GET', `/batches/${id}`)
    assert.equal(body.state, 'completed')
  })
}

test('the vectors come as JSONL, Parquet and NPY: each row its own, float32 exact, with the space', async () => {
  const texts = Array.from({ length: 700 }, (_, row) => (row % 7 === 3 ? '' : `text ${row % 11} of ${row}`))
  const csv = `id,body\n${texts.map((text, row) => `doc ${row},${text}`).join('\n')}\n`
  const { body: draft } = await send(csv)
  const { body: batch } = await ask<Batch>('POST', `/batch-drafts/${draft.id}/run`, OPTIONS)
  await completed(batch.id)
  const expected = texts.map((text) => (text === '' ? undefined : vectorOf(text, 16)))

  const npy = await results(batch.id, 'npy')
  assert.match(npy.headers.get('x-torana-space') ?? '', /^plain-w16@16:/)
  assert.match(npy.bytes.toString('latin1', 0, 128), /'shape': \(700, 16\)/)
  const matrix = new Float32Array(new Uint8Array(npy.bytes.subarray(128)).buffer)
  assert.equal(matrix.length, 700 * 16)
  for (const [row, vector] of expected.entries()) {
    const own = matrix.slice(row * 16, (row + 1) * 16)
    if (vector === undefined) assert.ok(own.every(Number.isNaN), `row ${row}`)
    else assert.deepEqual(own, vector, `row ${row}`)
  }

  const lines = (await results(batch.id, 'jsonl')).bytes.toString().trim().split('\n')
  const inFile = expected.flatMap((vector, row) =>
    vector ? [{ id: `doc ${row}`, vector: [...vector] }] : [],
  )
  assert.deepEqual(
    lines.map((line) => JSON.parse(line) as unknown),
    inFile,
  )

  const { bytes } = await results(batch.id, 'parquet')
  const path = join(temporaryFolder(), 'vectors.parquet')
  writeFileSync(path, bytes)
  const rows = await Array.fromAsync((await openCorpus(path)).rows(0))
  const read = rows.map(({ id, vector }) => ({ id, vector: [...(vector as Float32Array)] }))
  assert.deepEqual(read, inFile)
  assert.ok(bytes.includes(npy.headers.get('x-torana-space') ?? 'no space'))
})

test('a batch without vectors has no file of them', async () => {
  const answer = await ask('GET', '/batches/batch_no_such/results?format=npy')
  assert.equal(answer.body.error?.code, 'not_found')
  const { body: draft } = await send(CSV)
  const { body: batch } = await ask<Batch>('POST', `/batch-drafts/${draft.id}/run`, OPTIONS)
  await completed(batch.id)
  assert.equal(
    (await ask('GET', `/batches/${batch.id}/results?format=csv`)).body.error?.code,
    'invalid_parameter',
  )
})

test('a text that is too long for its model is skipped, cut to what fits, or stops the run', async () => {
  const long = 'many words of a long text '.repeat(2000)
  const { body: draft } = await send(`id,body\n1,short\n2,${long}\n3,\n4,also short\n`)
  const options = { ...OPTIONS, model: 'text-embedding-3-small', key: 'search/indexer' }
  for (const [bad_rows, lines, tooLong] of [
    ['skip', 2, 1],
    ['truncate', 3, 1],
  ] as const) {
    const path = `/batch-drafts/${draft.id}`
    const { body: estimate } = await ask<Estimate>('POST', `${path}/estimate`, { ...options, bad_rows })
    assert.deepEqual([estimate.lines, estimate.too_long, estimate.can_run], [lines, tooLong, true])
    const { body: batch } = await ask<Batch>('POST', `${path}/run`, { ...options, bad_rows })
    await eventually(async () => {
      const { body } = await ask<Batch>('GET', `/batches/${batch.id}`)
      assert.deepEqual([body.state, body.lines], ['completed', { total: lines, completed: lines, failed: 0 }])
    })
    const matrix = (await results(batch.id, 'npy')).bytes
    assert.match(matrix.toString('latin1', 0, 128), /'shape': \(4, 1536\)/)
  }
  const stopped = await ask<Estimate>('POST', `/batch-drafts/${draft.id}/estimate`, {
    ...options,
    bad_rows: 'stop',
  })
  assert.deepEqual(
    stopped.body.problems.map(({ code }) => code),
    ['invalid_parameter', 'input_too_long'],
  )
})
