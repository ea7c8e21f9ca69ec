import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ConfigError } from './file/problem.ts'
import { ThreadLoading } from './load-in-thread.ts'
import { loadCatalog } from './load.ts'

/** More than the thread sends at once. */
const KEYS = Array.from(
  { length: 1203 },
  (_, index) =>
    `      - { name: key-${index}, secret: a-key-of-this-test-${String(index).padStart(5, '0')} }`,
)
const FILE = `
upstreams:
  one: { provider: openai, apiKey: '\${KEY_OF_ONE}' }
models:
  text-embedding-3-small: { aliases: [small], deployments: [{ upstream: one }] }
projects:
  empty: { keys: [] }
  search:
    budget: { usd: 10 }
    keys:
${KEYS.join('\n')}
`
const ENV = { KEY_OF_ONE: 'sk-one-0123456789' }

function loadingOf(context: TestContext, text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'torana-load-'))
  const configFile = join(folder, 'torana.yaml')
  writeFileSync(configFile, text)
  const loading = new ThreadLoading()
  context.after(async () => {
    await loading.close()
    rmSync(folder, { recursive: true })
  })
  return { loading, settings: { configFile, openaiApiKey: undefined, bootstrapKey: undefined } }
}

test('a configuration from the thread is the one that is read without it, with each key in its place', async (context) => {
  const { loading, settings } = loadingOf(context, FILE)
  const { catalog, limits, warnings, extend } = await loading.load(settings, ENV)
  const expected = loadCatalog(settings, ENV)
  assert.deepEqual(
    { catalog, limits, warnings },
    {
      catalog: expected.catalog,
      limits: expected.limits,
      warnings: expected.warnings,
    },
  )
  assert.equal(catalog.models.get('small'), catalog.models.get('text-embedding-3-small'))
  const entry = { deployments: [{ upstream: 'one' }] }
  const additions = [
    { object: 'model', name: 'text-embedding-3-large', entry, by: 'alice', atMs: 0 } as const,
  ]
  assert.deepEqual(extend(additions), expected.extend(additions))
})

test('problems come from the thread as they are, all of them', async (context) => {
  const { loading, settings } = loadingOf(
    context,
    'models: { m: { deployments: [{ upstream: none }] } }\nmodel: 1\n',
  )
  const problemsOf = (error: unknown): readonly string[] => (error as ConfigError).problems
  let expected: readonly string[] = []
  try {
    loadCatalog(settings, {})
  } catch (error) {
    expected = problemsOf(error)
  }
  assert.ok(expected.length > 1)
  await assert.rejects(loading.load(settings, {}), (error) => {
    assert.ok(error instanceof ConfigError)
    assert.deepEqual(error.problems, expected)
    return true
  })
})
