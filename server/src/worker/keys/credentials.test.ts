import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Catalog, EmbeddingModel, Upstream } from '#core/catalog/catalog.ts'
import { CredentialLost, type CredentialStore } from '#ports/credentials.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { memoryDirectory, SECRETS } from '#test/support/directory.ts'
import { upstreamsOf } from '#core/catalog/catalog.ts'
import { addressOf } from '#core/catalog/upstream-address.ts'
import { lastKnown, withCredentials } from './credentials.ts'

function upstream(name: string, rest: Partial<Upstream> = {}): Upstream {
  return { name, dialect: 'openai', baseUrl: `https://${name}.example`, headers: {}, settings: {}, ...rest }
}

/** One model `m`, also called `alias`, on these upstreams. */
function catalogOf(...upstreams: readonly Upstream[]): Catalog {
  const deployments = upstreams.map((one) => ({ id: `m/${one.name}`, upstream: one }))
  const model = { id: 'm', deployments } as unknown as EmbeddingModel
  return {
    models: new Map([
      ['m', model],
      ['alias', model],
    ]),
    retired: new Map(),
    projects: [],
  }
}

function apiKeys(catalog: Catalog): Record<string, string | undefined> {
  return Object.fromEntries(upstreamsOf(catalog).map(({ name, apiKey }) => [name, apiKey]))
}

test('only upstreams without a credential get one, and only at the address it was stored for', async () => {
  const store = memoryDirectory().credentials(SECRETS)
  const [own, bare, moved] = [upstream('own', { apiKey: 'in the file' }), upstream('bare'), upstream('moved')]
  const local = upstream('local', { baseUrl: undefined, dialect: 'ai-sdk', provider: 'cohere' })
  for (const { name, baseUrl } of [own, bare, { name: 'moved', baseUrl: 'https://before.example' }])
    await store.put(
      { upstream: name, baseUrl: baseUrl ?? '', secret: `stored for ${name}` },
      { kind: 'member', name: 'tester' },
    )
  await store.put(
    { upstream: 'local', baseUrl: addressOf(local), secret: 'stored for local' },
    { kind: 'member', name: 'tester' },
  )
  const catalog = catalogOf(own, bare, moved, local)
  const { catalog: given, problems } = await withCredentials(catalog, store)
  assert.deepEqual(problems, [])
  assert.deepEqual(apiKeys(given), {
    own: 'in the file',
    bare: 'stored for bare',
    moved: undefined,
    local: 'stored for local',
  })
  assert.equal(given.models.get('m'), given.models.get('alias'))
  assert.deepEqual(apiKeys(catalog), {
    own: 'in the file',
    bare: undefined,
    moved: undefined,
    local: undefined,
  })
})

test('one that can not be had is a problem of its upstream alone', async () => {
  const open = async (name: string): Promise<string> => {
    if (name === 'lost') throw new CredentialLost('it was sealed elsewhere')
    if (name === 'away') throw new StoreUnreachable('nobody answers')
    return 'stored'
  }
  const catalog = catalogOf(upstream('lost'), upstream('away'), upstream('good'))
  const { catalog: given, problems } = await withCredentials(catalog, { open })
  assert.deepEqual(apiKeys(given), { lost: undefined, away: undefined, good: 'stored' })
  assert.match(
    problems.join('\n'),
    /upstream lost can't be had: it was sealed.*\n.*upstream away can't be had/,
  )
})

test('while the store is away, what it last said stands', async () => {
  let isAway = false
  const store: Pick<CredentialStore, 'open'> = {
    open: async (name) => {
      if (isAway) throw new StoreUnreachable('nobody answers')
      return name === 'known' ? 'stored' : undefined
    },
  }
  const known = lastKnown(store)
  assert.equal(await known.open('known', 'a'), 'stored')
  assert.equal(await known.open('none', 'a'), undefined)
  isAway = true
  assert.equal(await known.open('known', 'a'), 'stored')
  assert.equal(await known.open('none', 'a'), undefined)
  await assert.rejects(known.open('known', 'another address'), StoreUnreachable)
})
