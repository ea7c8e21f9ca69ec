import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { ConfigError } from 'torana/config'
import { importFile, type ImportFiles } from './import-file.ts'

const GOOD = `model_list:
  - { model_name: embed, litellm_params: { model: text-embedding-3-small, api_key: sk-literal-secret } }
general_settings: { master_key: "sk-it's a master key of 24+" }
`

function folderOf(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'torana-import-'))
  context.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** As the command line shows it: problems go to standard error, with exit code 1. */
function outcome(config: string, files: Partial<ImportFiles> = {}) {
  const written = { stdout: '', stderr: '' }
  const out = {
    stdout: { write: (text: string) => void (written.stdout += text) },
    stderr: { write: (text: string) => void (written.stderr += text) },
  }
  try {
    const none = { output: undefined, secretsFile: undefined, force: false }
    return { code: importFile(config, { ...none, ...files }, out), ...written }
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return { code: 1, stdout: written.stdout, stderr: error.problems.join('\n') }
  }
}

function importing(context: TestContext, text: string) {
  const file = join(folderOf(context), 'config.yaml')
  writeFileSync(file, text)
  return outcome(file)
}

test('the file goes to standard output, the report to standard error, secrets to neither', (context) => {
  const { code, stdout, stderr } = importing(context, GOOD)
  assert.equal(code, 0)
  assert.match(stdout, /apiKey: \$\{LITELLM_OPENAI_API_KEY\}/)
  assert.match(stderr, /^Carried over: 1 model, 1 deployment, 1 upstream, 1 key\.$/m)
  assert.match(stderr, /LITELLM_OPENAI_API_KEY {2}its value stands in config\.yaml:2/)
  assert.doesNotMatch(stdout + stderr, /sk-/)
})

test('secrets are written for their owner only, and nothing is overwritten without --force', (context) => {
  const folder = folderOf(context)
  const [config, output, secrets] = ['config.yaml', 'torana.yaml', '.env'].map((name) =>
    join(folder, name),
  ) as [string, string, string]
  writeFileSync(config, GOOD)
  const files = { output, secretsFile: secrets }
  const first = outcome(config, files)
  assert.deepEqual([first.code, first.stdout], [0, ''])
  assert.match(first.stderr, /LITELLM_MASTER_KEY +is in .*\.env/)
  assert.equal(
    readFileSync(secrets, 'utf8'),
    `LITELLM_OPENAI_API_KEY=sk-literal-secret\nLITELLM_MASTER_KEY="sk-it's a master key of 24+"\n`,
  )
  assert.equal(statSync(secrets).mode & 0o777, 0o600)
  assert.match(readFileSync(output, 'utf8'), /^upstreams:$/m)

  writeFileSync(output, 'mine')
  const second = outcome(config, files)
  assert.equal(second.code, 1)
  assert.match(second.stderr, /torana\.yaml: is there already/)
  assert.equal(readFileSync(output, 'utf8'), 'mine')

  chmodSync(secrets, 0o644)
  assert.equal(outcome(config, { ...files, force: true }).code, 0)
  assert.equal(statSync(secrets).mode & 0o777, 0o600)
})

const laughs = Array.from(
  { length: 12 },
  (_, level) =>
    `l${level}: &l${level} [${level === 0 ? 'x' : `*l${level - 1}, *l${level - 1}, *l${level - 1}, *l${level - 1}`}]`,
)
const UNREADABLE: readonly (readonly [string, string])[] = [
  ['broken YAML', 'model_list: [}'],
  ['a text', 'hello'],
  ['a list', '- a'],
  ['nothing', ''],
  ['aliases that multiply', laughs.join('\n')],
  ['nests without end', '['.repeat(20_000)],
  ['unknown tags', 'model_list: !!python/object {}'],
]
for (const [what, text] of UNREADABLE) {
  test(`${what} can't be read: exit code 1 and a reason`, (context) => {
    const { code, stdout, stderr } = importing(context, text)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /config\.yaml/)
  })
}

test('a missing file is reported', (context) => {
  const missing = join(folderOf(context), 'none.yaml')
  assert.match(outcome(missing).stderr, /can't be read \(ENOENT\)/)
})

test('a file without embedding models makes no torana.yaml', (context) => {
  const { code, stdout, stderr } = importing(
    context,
    'model_list: [{ model_name: gpt-4o, litellm_params: { model: openai/gpt-4o } }]',
  )
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /no embedding model to carry over/)
})

test('an anchor that merges itself, and names that mean something to JavaScript, do no harm', (context) => {
  const { code, stderr } = importing(
    context,
    `model_list:
  - &self
    <<: *self
    model_name: __proto__
    litellm_params: { model: text-embedding-3-small, headers: { __proto__: x } }
  - { model_name: constructor, litellm_params: { model: constructor/toString }, model_info: { mode: embedding } }
  - { model_name: ok, litellm_params: { model: text-embedding-3-small } }
router_settings: { model_group_alias: { toString: ok } }
`,
  )
  assert.equal(code, 0, stderr)
  assert.match(stderr, /LiteLLM's constructor/)
})

test('the example of the documentation is what really comes out', (context) => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/moving-from-litellm.md'), 'utf8')
  const blocks = [...page.matchAll(/^```(?:yaml|text)\n([\s\S]*?)^```$/gm)].map(([, content = '']) => content)
  const [config = '', yaml, report] = blocks
  const folder = folderOf(context)
  const file = (name: string) => join(folder, name)
  writeFileSync(file('config.yaml'), config)
  const files = { output: file('torana.yaml'), secretsFile: file('.env') }
  const { code, stderr } = outcome(file('config.yaml'), files)
  assert.equal(code, 0)
  assert.equal(stderr.replaceAll(`${folder}/`, ''), report)
  assert.equal(readFileSync(file('torana.yaml'), 'utf8'), yaml)
})

/** Any value where another was expected. */
const anything = fc.oneof(
  { depthSize: 'small' },
  fc.constantFrom(
    'text-embedding-3-small',
    'openai/x',
    'os.environ/X',
    'os.environ/a b',
    '${X}',
    '$',
    'http://x',
    '*',
    '\u001b[31m',
  ),
  fc.jsonValue({ maxDepth: 2 }),
)
const PARAMS = [
  'model',
  'api_key',
  'api_base',
  'weight',
  'order',
  'headers',
  'custom_llm_provider',
  'input_cost_per_token',
]
const fieldsAmong = (names: readonly string[], value = anything) =>
  fc.dictionary(fc.constantFrom(...names), value)
const entry = fc.record({
  model_name: fc.oneof(anything, fc.constantFrom('a', 'text-embedding-3-small')),
  litellm_params: fc.oneof(
    anything,
    fieldsAmong(PARAMS),
    fc.record({
      model: fc.constantFrom('openai/x', 'azure/x', 'bedrock/x', 'vertex_ai/x', 'cohere/x', 'ollama/x'),
      api_base: anything,
      api_key: anything,
      api_version: fc.constantFrom('latest', '2024-10-21', 'v1', 'nonsense', 5, null),
    }),
  ),
  model_info: fc.oneof(anything, fc.constant({ mode: 'embedding' })),
})
const config = fc.record(
  {
    model_list: fc.oneof(
      { weight: 5, arbitrary: fc.array(entry, { maxLength: 4 }) },
      { weight: 1, arbitrary: anything },
    ),
    litellm_settings: fc.oneof(anything, fieldsAmong(['drop_params', 'fallbacks', 'model_alias_map'])),
    router_settings: fc.oneof(anything, fieldsAmong(['fallbacks', 'model_group_alias', 'routing_strategy'])),
    general_settings: fc.oneof(anything, fieldsAmong(['master_key'])),
    environment_variables: anything,
    credential_list: anything,
  },
  { requiredKeys: [] },
)

test('whatever is written where, nothing crashes, and what is carried over passes the check', (context) => {
  const file = join(folderOf(context), 'config.yaml')
  fc.assert(
    fc.property(config, (value) => {
      writeFileSync(file, stringify(value))
      const { code, stderr } = outcome(file)
      assert.ok(code === 0 || code === 1)
      assert.doesNotMatch(stderr, /will refuse the file:\n {2}torana\.yaml/)
      // eslint-disable-next-line no-control-regex -- it is what must not be there
      assert.doesNotMatch(stderr, /\u001b/)
    }),
    { numRuns: 200 },
  )
})
