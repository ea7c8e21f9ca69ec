import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Catalog } from '#core/catalog/catalog.ts'
import { builtInFacts } from './build/facts.ts'
import { readConfig } from './load.ts'
import {
  configurationText,
  itemsIn,
  loadDetail,
  sectionDigests,
  whatChanged,
  type ConfigItems,
} from './what-changed.ts'

function catalogIn(text: string): Catalog {
  return readConfig('torana.yaml', text, {
    env: {},
    readFile: () => '',
    facts: builtInFacts(),
    bootstrapKey: undefined,
    nowMs: Date.now(),
  }).catalog
}

const pause = async (): Promise<void> => {}
const itemsOf = (text: string): Promise<ConfigItems> => itemsIn(catalogIn(text), pause)

const before = await itemsOf(`
upstreams:
  one: { dialect: openai, baseUrl: 'https://one.example/v1', apiKey: secret-of-one }
  two: { dialect: openai, baseUrl: 'https://two.example/v1', apiKey: secret-of-two }
models:
  text-embedding-3-small: { deployments: [{ upstream: one }, { upstream: two }] }
  text-embedding-3-large: { deployments: [{ upstream: one }] }
projects:
  search:
    budget: { usd: 10 }
    keys: [{ name: ci, secret: a-key-of-this-test-00001 }, { name: web, secret: a-key-of-this-test-00002 }]
`)

const NOTHING = { added: [], removed: [], changed: [] }

test('additions, removals and changes are listed by name, without any secret', async () => {
  const after = await itemsOf(`
upstreams:
  one: { dialect: openai, baseUrl: 'https://one.example/v1', apiKey: another-secret }
models:
  text-embedding-3-small: { deployments: [{ upstream: one }] }
  text-embedding-ada-002: { deployments: [{ upstream: one }] }
projects:
  search:
    budget: { usd: 20 }
    keys: [{ name: ci, secret: a-key-of-this-test-00003 }]
  ads: { keys: [{ name: web, secret: a-key-of-this-test-00002 }] }
`)
  const changes = whatChanged(before, after)
  assert.deepEqual(changes, {
    models: {
      added: ['text-embedding-ada-002'],
      removed: ['text-embedding-3-large'],
      changed: ['text-embedding-3-small'],
    },
    upstreams: { added: [], removed: ['two'], changed: ['one'] },
    projects: { added: ['ads'], removed: [], changed: ['search'] },
    keys: { added: ['ads/web'], removed: ['search/web'], changed: ['search/ci'] },
    alerts: NOTHING,
  })
  assert.doesNotMatch(JSON.stringify(changes), /secret|a-key/)
  assert.notEqual(configurationText(before), configurationText(after))
})

test('the same things on other lines are no change', async () => {
  const moved = await itemsOf(`
# A comment that moves everything.
projects:
  search:
    keys: [{ name: ci, secret: a-key-of-this-test-00001 }, { name: web, secret: a-key-of-this-test-00002 }]
    budget: { usd: 10 }
upstreams:
  one: { dialect: openai, baseUrl: 'https://one.example/v1', apiKey: secret-of-one }
  two: { dialect: openai, baseUrl: 'https://two.example/v1', apiKey: secret-of-two }
models:
  text-embedding-3-small: { deployments: [{ upstream: one }, { upstream: two }] }
  text-embedding-3-large: { deployments: [{ upstream: one }] }
`)
  assert.deepEqual(whatChanged(before, moved), {
    models: NOTHING,
    upstreams: NOTHING,
    projects: NOTHING,
    keys: NOTHING,
    alerts: NOTHING,
  })
  assert.equal(configurationText(before), configurationText(moved))
})

const priced = (usd: number): Catalog =>
  catalogIn(`
upstreams: { one: { dialect: openai, baseUrl: 'https://one.example/v1', apiKey: secret-of-one } }
models:
  text-embedding-3-small: { deployments: [{ upstream: one, price: { usdPerMillionTokens: ${usd} } }] }
`)

test('nodes that charge differently have different digests of prices', async () => {
  const [cheap, dear] = await Promise.all([1, 2].map((usd) => sectionDigests(priced(usd), String, pause)))
  assert.deepEqual(Object.keys(cheap ?? {}).sort(), ['keys', 'models', 'prices', 'projects', 'upstreams'])
  assert.notEqual(cheap?.['prices'], dear?.['prices'])
  assert.equal(cheap?.['upstreams'], dear?.['upstreams'])
})

test('the audit of a load has a digest of its meaning, and what changed after a reload', async () => {
  const [before, after] = [priced(1), priced(2)]
  const first = await loadDetail({ after: before, before: undefined, file: 'f1' }, String, pause)
  assert.deepEqual(Object.keys(first), ['digest', 'file'])
  const second = await loadDetail({ after, before, file: 'f2' }, String, pause)
  assert.notEqual(second.digest, first.digest)
  assert.deepEqual(second.changed?.['models'], { ...NOTHING, changed: ['text-embedding-3-small'] })
})
