import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import type { RequestDetail } from '../../api/queries/requests.ts'
import { writeCurl } from './curl.ts'

const GATEWAY = 'https://torana.example.com/'

function request(overrides: Partial<RequestDetail> = {}): RequestDetail {
  return {
    kind: 'embedding',
    asked_model: 'small',
    wire: { in: { model: 'small' }, out: { model: 'small' }, differences: [] },
    steps: [],
    dropped: [],
    user: null,
    tags: {},
    images: null,
    ...overrides,
  } as RequestDetail
}

/** The arguments that a shell gives to `curl`. */
function argumentsOf(command: string): readonly string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`
  const output = execFileSync('sh', ['-c', script], { env: { TORANA_KEY: 'tr_the-key' }, encoding: 'utf8' })
  return output.split('\0').slice(0, -1)
}

/** The body of the request that the command would send. */
function bodyOf(detail: RequestDetail): unknown {
  return JSON.parse(argumentsOf(writeCurl(detail, GATEWAY)).at(-1) ?? '')
}

test('the command has the address, the key of the shell, the fields that the log has, and a place for the input', () => {
  assert.equal(
    writeCurl(request(), GATEWAY),
    `curl 'https://torana.example.com/v1/embeddings' \\
  -H "Authorization: Bearer $TORANA_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"model":"small","input":"YOUR TEXT"}'`,
  )
  assert.equal(argumentsOf(writeCurl(request(), GATEWAY))[2], 'Authorization: Bearer tr_the-key')
})

test('a shell takes every value as it is, whatever its characters', () => {
  const hostile = `it's "$(exit 1)" \`exit 1\` $TORANA_KEY \\ ' ; exit 1 #\n'`
  const detail = request({ asked_model: hostile, user: hostile, tags: { team: hostile } })
  assert.deepEqual(bodyOf(detail), {
    model: hostile,
    user: hostile,
    metadata: { team: hostile },
    input: 'YOUR TEXT',
  })
  const address = `https://torana.example.com/it's$(exit 1)`
  assert.equal(argumentsOf(writeCurl(request(), address))[0], `${address}/v1/embeddings`)
})

test('fields of a request whose call differed are those that its caller sent', () => {
  const given = { model: 'small', input: '640 texts', encoding_format: 'float', dimensions: 256 }
  const detail = (more: object) =>
    request({ wire: { in: { ...given, ...more }, out: {}, differences: [] }, dropped: ['dimensions'] })
  const sent = { model: 'small', encoding_format: 'float', dimensions: 256, input: 'YOUR TEXT' }
  assert.deepEqual(bodyOf(detail({})), sent)
  assert.ok(argumentsOf(writeCurl(detail({}), GATEWAY)).includes('x-torana-unsupported: drop'))
  assert.deepEqual(bodyOf(detail({ output_dtype: 'binary' })), { ...sent, output_dtype: 'binary' })
  assert.deepEqual(bodyOf(detail({ output_dtype: 'float, binary', input_type: 'query' })), {
    ...sent,
    embedding_types: ['float', 'binary'],
    input_type: 'query',
  })
})

test('width and encoding come from the steps where the call did not differ', () => {
  const step = { start_ms: 0, duration_ms: 1 }
  const steps: RequestDetail['steps'] = [
    { ...step, name: 'gather', note: { inputs: 1 } },
    { ...step, name: 'shape', note: { vectors: 1, width: 256 } },
    { ...step, name: 'answer', note: { bytes: 9, encoding: 'base64' } },
  ]
  assert.deepEqual(bodyOf(request({ steps })), {
    model: 'small',
    dimensions: 256,
    encoding_format: 'base64',
    input: 'YOUR TEXT',
  })
})

test('images have a prompt, an edit an image too, and several images their number', () => {
  const drawn = request({ kind: 'generation', asked_model: null, images: 2 })
  assert.deepEqual(bodyOf(drawn), { model: 'YOUR MODEL', n: 2, prompt: 'YOUR PROMPT' })
  const edited = request({ kind: 'edit', images: 1 })
  assert.equal(argumentsOf(writeCurl(edited, GATEWAY))[0], 'https://torana.example.com/v1/images/edits')
  assert.deepEqual(bodyOf(edited), {
    model: 'small',
    prompt: 'YOUR PROMPT',
    images: [{ image_url: 'data:image/png;base64,YOUR IMAGE' }],
  })
})
