import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInFacts } from '#config/build/facts.ts'
import { readConfig } from '#config/load.ts'
import { upstreamsOf, type Catalog } from '#core/catalog/catalog.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { StoredObject } from '#ports/stored-configuration.ts'
import { memoryDirectory, SECRETS } from '#test/support/directory.ts'
import { CatalogInForce, type Completions, type Configuration } from './in-force.ts'

/** A configuration with one model on one upstream, neither of which has a credential. */
function configurationOf(upstream: string, projects = ''): Configuration {
  const text = `
upstreams: { ${upstream}: { dialect: openai, baseUrl: https://${upstream}.example } }
models: { text-embedding-3-small: { deployments: [{ upstream: ${upstream} }] } }
${projects}`
  const facts = builtInFacts()
  const surroundings = { env: {}, readFile: () => '', facts, bootstrapKey: undefined, nowMs: Date.now() }
  return readConfig('torana.yaml', text, surroundings)
}

function anAddition(model: string): readonly StoredObject[] {
  const saved = { revision: 1n, by: 'alice', atMs: 0 }
  const entry = { dialect: 'openai', baseUrl: 'https://added.example' }
  return [
    { object: 'upstream', name: 'added', entry, ...saved },
    { object: 'model', name: model, entry: { deployments: [{ upstream: 'added' }] }, ...saved },
  ]
}

async function aCatalog({ firstKey }: { readonly firstKey?: string } = {}) {
  const said: string[] = []
  const catalog = new CatalogInForce(configurationOf('first'), {
    firstKey,
    log: { warn: (text) => void said.push(text), error: (text) => void said.push(text) },
  })
  const credentials = memoryDirectory().credentials(SECRETS)
  const state = {
    objects: [] as readonly StoredObject[],
    failure: undefined as Error | undefined,
    gate: undefined as Promise<void> | undefined,
    noted: [] as Catalog[],
  }
  const completions: Completions = {
    credentials,
    objects: {
      async read() {
        const { objects, failure, gate } = state
        await gate
        if (failure !== undefined) throw failure
        return objects
      },
    },
    prices: { applied: async (one) => one, note: (one) => void state.noted.push(one) },
  }
  return { catalog, credentials, state, said, completions }
}

const modelsIn = ({ models }: Catalog): string[] => [...models.keys()].sort()

test('models and credentials of the store are in force beside those of the configuration', async () => {
  const { catalog, credentials, state, completions } = await aCatalog()
  assert.equal(catalog.current, catalog.configured)
  state.objects = anAddition('text-embedding-3-large')
  await credentials.put(
    { upstream: 'first', baseUrl: 'https://first.example', secret: 'stored' },
    { kind: 'member', name: 'tester' },
  )
  const followed: Catalog[] = []
  catalog.follow((current) => followed.push(current))
  await catalog.useStores(completions)
  assert.deepEqual(modelsIn(catalog.current), ['text-embedding-3-large', 'text-embedding-3-small'])
  assert.deepEqual(modelsIn(catalog.configured), ['text-embedding-3-small'])
  const keyOf = (one: Catalog) => upstreamsOf(one).find(({ name }) => name === 'first')?.apiKey
  assert.deepEqual([keyOf(catalog.current), keyOf(catalog.declared)], ['stored', undefined])
  assert.deepEqual([followed, state.noted], [[catalog.current], [catalog.current]])
})

test('equal additions leave the models as they are, and an unreachable store leaves its last additions', async () => {
  const { catalog, state, said, completions } = await aCatalog()
  state.objects = anAddition('text-embedding-3-large')
  await catalog.useStores(completions)
  const { declared } = catalog
  state.objects = anAddition('text-embedding-3-large')
  await catalog.completed()
  state.failure = new StoreUnreachable('connection refused')
  await catalog.completed()
  assert.equal(catalog.declared, declared)
  assert.deepEqual(said, ['upstreams and models of the store could not be read; the last ones stay'])
  state.failure = new Error('a statement is wrong')
  await assert.rejects(catalog.completed(), /a statement is wrong/)
})

test('an addition that cannot be served is left out with its reason', async () => {
  const { catalog, state, said, completions } = await aCatalog()
  state.objects = anAddition('a-model-without-facts')
  assert.notDeepEqual(catalog.extendedBy(state.objects).problems, [])
  await catalog.useStores(completions)
  assert.deepEqual(modelsIn(catalog.current), ['text-embedding-3-small'])
  assert.match(said.join('\n'), /^of the store, left out: /)
})

test('a slow completion never replaces the catalog of a later one', async () => {
  const { catalog, state, completions } = await aCatalog()
  await catalog.useStores(completions)
  const slow = Promise.withResolvers<void>()
  state.gate = slow.promise
  const first = catalog.completed()
  state.gate = undefined
  state.objects = anAddition('text-embedding-3-large')
  await catalog.completed()
  const { current } = catalog
  slow.resolve()
  await first
  assert.equal(catalog.current, current)
  assert.equal(catalog.current.models.has('text-embedding-3-large'), true)
})

test('a completion that a later one overtakes resolves when the later one is in force', async () => {
  const { catalog, state, completions } = await aCatalog()
  await catalog.useStores(completions)
  state.objects = anAddition('text-embedding-3-large')
  const slow = Promise.withResolvers<void>()
  const overtaken = catalog.completed()
  state.gate = slow.promise
  catalog.refresh()
  setImmediate(slow.resolve)
  await overtaken
  assert.equal(catalog.declared.models.has('text-embedding-3-large'), true)
  assert.equal(catalog.current.models.has('text-embedding-3-large'), true)
})

test('a new configuration is in force for projects and models in the same turn, once followers have prepared', async () => {
  const { catalog, completions } = await aCatalog({ firstKey: 'tk-first' })
  await catalog.useStores(completions)
  const prepared = Promise.withResolvers<void>()
  const inForce: (readonly string[])[] = []
  let isSlow = false
  await catalog.followProjects(async (projects) => {
    if (isSlow) await prepared.promise
    return () => void inForce.push(projects.map(({ name }) => name))
  })
  isSlow = true
  catalog.refuse(['a mistake'], 1000)
  catalog.refuse(['another mistake'], 2000)
  assert.deepEqual(catalog.refusal, { sinceMs: 1000, problems: ['another mistake'] })
  const declaring = catalog.declare(configurationOf('second', 'projects: { team: { keys: [] } }'))
  assert.deepEqual(inForce, [['default']])
  assert.deepEqual(
    upstreamsOf(catalog.declared).map(({ name }) => name),
    ['first'],
  )
  prepared.resolve()
  await declaring
  assert.deepEqual(inForce.at(-1), ['team', 'default'])
  assert.deepEqual(
    upstreamsOf(catalog.declared).map(({ name }) => name),
    ['second'],
  )
  assert.equal(catalog.refusal, undefined)
})
