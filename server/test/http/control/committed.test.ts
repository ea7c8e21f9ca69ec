/** A change is answered from what was committed: a store that fails afterwards costs no answer, and never a new secret. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Catalog } from '#core/catalog/catalog.ts'
import { defaultLimits } from '#core/settings.ts'
import { keyForm } from '#core/keys/key.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { systemClock } from '#runtime/clock.ts'
import { builtInFacts } from '#config/build/facts.ts'
import { tryUpstream } from '#config/build/offer.ts'
import { readStoredPrice } from '#config/build/stored-prices.ts'
import { absent } from '#test/support/stores/absent.ts'
import { MemoryAudit } from '#test/support/stores/audit.ts'
import { MemoryConfiguration } from '#test/support/stores/configuration.ts'
import { MemoryDrains } from '#test/support/stores/drains.ts'
import { startControl } from '#test/support/control.ts'
import { memoryDirectory } from '#test/support/directory.ts'
import { emptyReports } from '#test/support/stores/open.ts'

/** From the moment a change is committed on, every question to a store fails. */
let isCommitted = false

const CHANGES = /^(?:create|set|rotate|endOverlap|revoke|delete|put|drop|drain|takeBack|forget|add|change)/

function awayAfterChanges<Store extends object>(store: Store): Store {
  return new Proxy(store, {
    get(own, name) {
      const method: unknown = Reflect.get(own, name)
      if (typeof method !== 'function') return method
      return async (...given: unknown[]) => {
        const isChange = CHANGES.test(String(name))
        if (isCommitted && !isChange) throw new StoreUnreachable('PostgreSQL: Query read timeout')
        const result: unknown = await Reflect.apply(method, own, given)
        isCommitted ||= isChange
        return result
      }
    },
  })
}

const directory = memoryDirectory()
const credentials = awayAfterChanges(directory.credentials({ current: '', previous: undefined }))
const catalog = (): Catalog => control.catalog
const inForce = async (): Promise<void> => {}
const OPENAI = 'text-embedding-3-small/openai'

const control = await startControl(
  { ...directory, keyStore: awayAfterChanges(directory.keyStore), credentials: () => credentials },
  {
    node: {
      spaceGuard: { standingOf: () => undefined } as never,
      liveNodes: () => 1,
      catalog,
      readPrice: readStoredPrice,
      reports: awayAfterChanges(emptyReports),
      prices: awayAfterChanges(absent('prices', { set: inForce, forget: inForce })),
      clock: systemClock,
      startedAtMs: 0,
      limits: defaultLimits,
      declaredCatalog: catalog,
      refreshCatalog: inForce,
      extendedBy: () => ({ catalog: catalog(), problems: [] }),
      tryUpstream: (name, entry) => tryUpstream(name, entry, builtInFacts()),
      credentials,
      configuration: awayAfterChanges(
        new MemoryConfiguration([
          {
            object: 'upstream',
            name: 'kept',
            entry: { dialect: 'openai', baseUrl: 'https://kept.example/v1' },
            revision: 1n,
            by: 'alice',
            atMs: 0,
          },
        ]),
      ),
      summaries: async () => [],
      drains: awayAfterChanges(new MemoryDrains(systemClock, new MemoryAudit(systemClock), () => {})),
      history: absent('history', awayAfterChanges({ worstStates: async () => [] })),
      nameSpace: () => undefined,
      averageItems: () => undefined,
    },
  },
)

const changes: readonly (readonly [method: string, path: string, body: object | undefined])[] = [
  ['POST', '/keys', { project: 'shop', name: 'ci' }],
  ['PATCH', '/keys/shop/ci', { limits: { requests_per_minute: 6 } }],
  ['POST', '/keys/shop/ci/rotate', { overlap_seconds: 3600 }],
  ['DELETE', '/keys/shop/ci/previous', undefined],
  ['DELETE', '/keys/shop/ci', undefined],
  ['POST', '/projects', { name: 'fresh' }],
  ['PATCH', '/projects/fresh', { limits: { requests_per_minute: 6 } }],
  ['DELETE', '/projects/fresh', undefined],
  ['PUT', `/prices/${encodeURIComponent(OPENAI)}`, { price: { usdPerMillionTokens: 3 } }],
  ['DELETE', `/prices/${encodeURIComponent(OPENAI)}`, undefined],
  ['POST', `/deployments/${encodeURIComponent(OPENAI)}/drain`, { drained: true, reason: 'new driver' }],
  ['POST', `/deployments/${encodeURIComponent(OPENAI)}/drain`, { drained: false, reason: 'done' }],
  ['POST', '/upstreams', { name: 'made', base_url: 'https://new.example/v1', secret: 'sk-made' }],
  ['PATCH', '/upstreams/kept', { secret: 'sk-kept-by-a-change' }],
  ['PATCH', '/upstreams/kept', { base_url: 'https://new.example/v1' }],
  ['POST', '/models', { upstream: 'openai', ids: ['some-model'], own: { 'some-model': { kind: 'image' } } }],
  ['PUT', '/credentials/openai', { secret: 'sk-openai' }],
  ['PUT', '/credentials/openai', { secret: null }],
]

for (const [method, path, body] of changes)
  test(`${method} ${path} ${JSON.stringify(body ?? {})} succeeds although no store answers after its commit`, async () => {
    isCommitted = false
    const answer = await control.ask(method, path, body)
    assert.ok(answer.status < 300, `${answer.status} ${answer.text}`)
    assert.ok(isCommitted)
  })

test('a new secret reaches its caller although no store answers after the commit', async () => {
  isCommitted = false
  const made = await control.ask('POST', '/keys', { project: 'shop', name: 'web' })
  assert.equal(keyForm(String(made.body['secret'])), 'torana')
  isCommitted = false
  const rotated = await control.ask('POST', '/keys/shop/web/rotate', { overlap_seconds: 0 })
  assert.equal(rotated.status, 200)
  assert.notEqual(rotated.body['secret'], made.body['secret'])
  assert.equal(keyForm(String(rotated.body['secret'])), 'torana')
})

test('the answer to a change says what was committed', async () => {
  isCommitted = false
  const price = { usdPerMillionTokens: 7 }
  const priced = await control.ask('PUT', `/prices/${encodeURIComponent(OPENAI)}`, { price })
  assert.deepEqual([priced.body['from'], priced.body['set_by']], ['store', 'admin-token'])
  assert.match(JSON.stringify(priced.body['text']), /7/)
  isCommitted = false
  const drained = await control.ask('POST', `/deployments/${encodeURIComponent(OPENAI)}/drain`, {
    drained: true,
    reason: 'new driver',
  })
  assert.deepEqual([drained.body['state'], drained.body['reason']], ['drained', 'new driver'])
  isCommitted = false
  const made = await control.ask('POST', '/upstreams', {
    name: 'another',
    base_url: 'https://new.example/v1',
    secret: 'sk-of-another-upstream',
  })
  assert.deepEqual(
    [made.body['name'], (made.body['credential'] as { source: string }).source],
    ['another', 'store'],
  )
})
