/** Every route of both contracts × a NUL and half a surrogate pair wherever a caller's text enters: never a failure of ours. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { BatchCaller, embeddingLines } from '#test/support/batches.ts'
import { assertFault } from '#test/support/errors.ts'
import { PROBE_TEXTS } from '#core/embedding/probe-texts.ts'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly anyOf?: readonly Schema[]
  readonly format?: string
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

interface Route {
  readonly method: string
  readonly path: string
  readonly query: readonly { readonly name: string; readonly schema: Schema }[]
  /** The names of the text fields; empty if there is no JSON body. */
  readonly fields: readonly string[]
}

const FOLDER = join(import.meta.dirname, '../../../contract')
const node = await startConsoleNode({ images: { 'plain-image': { on: 'plain' } } })

function routesOf(file: string): readonly Route[] {
  const contract = JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as Contract
  const named = (schema: Schema | undefined): Schema | undefined =>
    schema?.$ref === undefined ? schema : contract.components.schemas[schema.$ref.split('/').at(-1) ?? '']
  const isText = (schema: Schema): boolean =>
    [schema.type].flat().includes('string') || (schema.anyOf?.some(isText) ?? false)
  return Object.entries(contract.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [], requestBody }]): Route => {
      const body = named(requestBody?.content['application/json']?.schema)
      return {
        method: method.toUpperCase(),
        path,
        query: parameters.filter((parameter) => parameter.in === 'query'),
        fields: Object.entries(body?.properties ?? {}).flatMap(([name, schema]) =>
          isText(named(schema) ?? {}) ? [name] : [],
        ),
      }
    }),
  )
}

const PORTS = [
  { port: 'gateway', base: node.url, token: node.key, routes: routesOf('gateway.openapi.json') },
  { port: 'control', base: node.controlUrl, token: NODE_TOKEN, routes: routesOf('control.openapi.json') },
] as const

const ODD = [
  ['a NUL', '%00', 'a\0b'],
  ['half a surrogate pair', '%ED%A0%80', 'a\ud800b'],
] as const

async function asked(method: string, url: string, token: string, body?: unknown): Promise<[number, string]> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    signal: AbortSignal.timeout(30_000),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return [
    response.status,
    `${method} ${url} ${JSON.stringify(body)}: ${response.status} ${text.slice(0, 300)}`,
  ]
}

const filled = (path: string, value: string): string => path.replaceAll(/\{[^}]+\}/g, value)
const SOME = '01890000-0000-7000-8000-000000000000'

for (const { port, base, token, routes } of PORTS)
  for (const [what, encoded, text] of ODD) {
    test(`${port}: an id in a path with ${what} is not found`, async () => {
      const named = routes.filter(({ path }) => path.includes('{'))
      assert.ok(named.length > 5)
      for (const { method, path } of named) {
        const [status, words] = await asked(method, `${base}${filled(path, `a${encoded}b`)}`, token)
        // The framework itself calls a path that is not UTF-8 a bad request.
        assert.ok(status === 404 || status === 400, words)
      }
    })

    test(`${port}: a query with ${what} is refused`, async () => {
      for (const { method, path, query } of routes)
        for (const { name } of query) {
          const url = `${base}${filled(path, SOME)}?${name}=a${encoded}b`
          const [status, words] = await asked(method, url, token)
          assert.equal(status, 400, words)
        }
    })

    test(`${port}: a field of a body with ${what} is refused, or passed on as it is, and fails nothing`, async () => {
      for (const { method, path, fields } of routes)
        for (const name of fields) {
          const body = { model: 'plain-w16', input: 'a', prompt: 'a', project: 'default', [name]: text }
          const [status, words] = await asked(method, `${base}${filled(path, SOME)}`, token, body)
          if (port === 'control' && !path.includes('/playground/')) assert.equal(status, 400, words)
          else assert.ok(status < 500, words)
        }
    })
  }

test('the control API names the field whose text no store keeps as it is', async () => {
  const [status, words] = await asked('POST', `${node.controlUrl}/api/v1/keys`, NODE_TOKEN, {
    project: 'default',
    name: 'odd',
    models: ['plain-w16', 'a\ud800'],
  })
  assert.equal(status, 400, words)
  assert.match(words, /models\.1 has .*surrogate/)
})

test('moments that no sum of days can be made of are refused', async () => {
  const { base, token, routes } = PORTS[1]
  let moments = 0
  for (const { method, path, query } of routes)
    for (const { name, schema } of query)
      if (schema.format === 'date-time')
        for (const moment of ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z']) {
          moments += 1
          const [status, words] = await asked(method, `${base}${filled(path, SOME)}?${name}=${moment}`, token)
          assert.equal(status, 400, words)
        }
  assert.ok(moments > 10)
})

test('metadata of a batch has neither, as a key or as a value, and other texts are kept as they are', async () => {
  const caller = new BatchCaller(node.url)
  const input_file_id = await caller.upload(embeddingLines('plain-w16', ['a']))
  const made = (metadata: object): Promise<[number, string]> =>
    asked('POST', `${node.url}/v1/batches`, node.key, {
      input_file_id,
      endpoint: '/v1/embeddings',
      completion_window: '24h',
      metadata,
    })
  for (const metadata of [{ 'a\0': 'b' }, { a: 'b\0' }, { '\udc00': 'b' }, { a: '\ud83d' }]) {
    const [status, words] = await made(metadata)
    assert.equal(status, 400, words)
    assert.match(words, /metadata.*NUL/)
  }
  assert.equal((await made({ '😀\u0001': 'ä\u007f€' }))[0], 200)
})

/** Calls of callers: a probe of the space has more texts than any of them. */
const calls = (): number =>
  node.provider.entries().filter(({ inputs }) => inputs > 0 && inputs < PROBE_TEXTS.length).length

test('texts to embed reach the upstream with any character, and half a character is refused with its position', async () => {
  const { status, text } = await node.ask({ model: 'plain-w16', input: ['a\0b', '\ufffd\ufffe😀'] })
  assert.equal(status, 200, text)
  const cut = '😀'.repeat(4000).slice(0, 7999)
  const part = (words: string) => ({ content: [{ type: 'text', text: words }] })
  const long = 'a'.repeat(300_000)
  for (const [input, param, words] of [
    [cut, 'input', 'ends inside a character at position 7,998'],
    [['a', 'b', 'c', cut], 'input[3]', 'ends inside a character at position 7,998'],
    [['a', 'a\udc00b'], 'input[1]', 'has half a character at position 1'],
    [['\ud800\ud800\udc00'], 'input[0]', 'has half a character at position 0'],
    // A large body is read in a thread.
    [[long, `${long}\ud83d`], 'input[1]', 'ends inside a character at position 300,000'],
    [[part('a'), part('b\ud83d')], 'input[1].content[0]', 'ends inside a character at position 1'],
    [['a', { content: '\udfff' }], 'input[1].content', 'ends inside a character at position 0'],
  ] as const) {
    const before = calls()
    const answer = await node.ask({ model: 'plain-w16', input })
    assertFault(answer, 'invalid_input', { param })
    assert.ok(answer.body.error.message.startsWith(`${param} ${words}: `), answer.body.error.message)
    assert.equal(calls(), before)
  }
})

test('a prompt with half a character is refused', async () => {
  const answer = await node.ask(
    { model: 'plain-image', prompt: 'a cat \ud83d' },
    { path: '/v1/images/generations' },
  )
  assertFault(answer, 'invalid_parameter', {
    param: 'prompt',
    words: /^prompt ends inside a character at position 6: /,
  })
})
