/** The figures of models are what was asked of them, within the visible projects. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  cacheUseOf,
  figuresByModel,
  listRetiredAskers,
  modelsOfKeys,
  usesOfModel,
} from '#control/models/queries.ts'
import { usersOfModels } from '#control/shared/model-users-queries.ts'
import { listPins } from '#control/spaces/queries.ts'
import { RequestTrace } from '#core/request/request-trace.ts'
import type { RequestRecord } from '#ports/observer.ts'
import type { LedgerStores } from '#test/support/ledger-stores.ts'
import { someSecret } from '#test/support/directory.ts'

const TESTER = { kind: 'member', name: 'tester' } as const

export function modelFiguresSuite(name: string, open: () => Promise<LedgerStores>): void {
  const asked = (stores: LedgerStores, overrides: Partial<RequestRecord>): RequestRecord => ({
    requestId: stores.identifiers.next(),
    route: '/v1/embeddings',
    status: 200,
    project: 'search',
    keyId: 'search/ci',
    model: 'small',
    inputs: 4,
    durationMs: 10,
    ...overrides,
  })

  test(`${name}: figures of a model are of its hour and its day, and of the projects that are looked at`, async () => {
    const stores = await open()
    const { database, clock, requests, ledger, nodeId, entry } = stores
    await requests.append([
      asked(stores, { durationMs: 10 }),
      asked(stores, { durationMs: 20 }),
      asked(stores, { status: 502, durationMs: 9000 }),
      asked(stores, { project: 'ads', keyId: 'ads/web', status: 429, fault: 'upstream_rate_limited' }),
      asked(stores, { model: undefined, status: 404 }),
    ])
    await ledger.append(nodeId, [
      entry({ countsRequest: true }),
      entry({ countsRequest: true, deployment: 'small/azure' }),
      entry({ countsRequest: true, project: 'ads', keyId: 'ads/web' }),
      // A check of Torana's own is no one's request.
      entry({ countsRequest: true, project: 'system', keyId: 'system' }),
    ])
    await ledger.append(nodeId, [entry({ countsRequest: true, model: 'large' })])
    await requests.append([asked(stores, { model: 'refused', status: 400 })])
    const all = await figuresByModel(database, undefined, clock.nowMs())
    assert.deepEqual(Object.fromEntries(all), {
      small: { last_hour: { requests: 4, failed: 2, p95_ms: 19.5 }, last_day: { requests: 3 } },
      large: { last_hour: { requests: 0, failed: 0, p95_ms: null }, last_day: { requests: 1 } },
      refused: { last_hour: { requests: 1, failed: 0, p95_ms: null }, last_day: { requests: 0 } },
    })
    const own = (await figuresByModel(database, ['ads'], clock.nowMs())).get('small')
    assert.deepEqual([own?.last_hour.requests, own?.last_day.requests], [1, 1])
    const uses = await usesOfModel(database, 'small', undefined, clock.nowMs())
    assert.deepEqual([...uses].map(([deployment, { calls }]) => `${deployment} ${calls}`).sort(), [
      'small/azure 1',
      'small/openai 2',
    ])
    assert.equal(uses.get('small/azure')?.last_used_at, '2026-12-12T15:00:00.000Z')
    assert.equal((await usesOfModel(database, 'small', ['other'], clock.nowMs())).size, 0)
  })

  test(`${name}: hits are a part of the inputs, and what they saved is exact`, async () => {
    const stores = await open()
    const { database, clock, requests, ledger, nodeId, entry } = stores
    await requests.append([
      asked(stores, { cache: { hits: 1, misses: 3 } }),
      asked(stores, { cache: { hits: 4, misses: 0 } }),
      asked(stores, { model: 'other', cache: { hits: 4, misses: 0 } }),
    ])
    await ledger.append(nodeId, [entry({ countsRequest: true, hits: 5, savedNanoUsd: 123_456_789n })])
    assert.deepEqual(await cacheUseOf(database, 'small', undefined, clock.nowMs()), {
      hits_share: 5 / 8,
      saved_usd: '0.123456789',
    })
    assert.deepEqual(await cacheUseOf(database, 'missing', undefined, clock.nowMs()), {
      hits_share: 0,
      saved_usd: '0.000000000',
    })
  })

  test(`${name}: a model that is gone names the keys that still ask for it`, async () => {
    const stores = await open()
    const { database, clock, requests } = stores
    const gone = { status: 404, fault: 'model_retired', model: 'dall-e-3', route: '/v1/images/generations' }
    await requests.append([
      asked(stores, gone),
      asked(stores, { ...gone, keyId: 'search/website' }),
      asked(stores, { ...gone, keyId: 'search/website' }),
      asked(stores, { status: 404, fault: 'model_not_found', model: undefined }),
    ])
    assert.deepEqual(await listRetiredAskers(database, undefined, clock.nowMs()), [
      { model: 'dall-e-3', key: 'search/website', requests_7d: 2, kind: 'image' },
      { model: 'dall-e-3', key: 'search/ci', requests_7d: 1, kind: 'image' },
    ])
    assert.deepEqual(await listRetiredAskers(database, ['ads'], clock.nowMs()), [])
  })

  test(`${name}: who used a model within 30 days is summed over days and hours, the busiest first`, async () => {
    const { database, ledger, nodeId, entry, clock, rollUpAllDays } = await open()
    const used = (keyId: string, times: number, model = 'small') =>
      ledger.append(
        nodeId,
        Array.from({ length: times }, () =>
          entry({ countsRequest: true, keyId, model, project: keyId.slice(0, keyId.indexOf('/')) }),
        ),
      )
    await used('search/long-ago', 1)
    clock.ms += 31 * 86_400_000
    await used('search/ci', 2)
    await used('ads/web', 1, 'large')
    await rollUpAllDays()
    clock.ms += 5 * 86_400_000
    await used('search/ci', 1)
    await used('ads/web', 1)
    await used('search/website', 2)
    await used('system/probe', 9)
    const users = await usersOfModels(database, ['small', 'missing'], undefined, clock.nowMs())
    assert.deepEqual(
      [...users],
      [
        [
          'small',
          {
            keys: [
              { key: 'search/ci', requests_30d: 3 },
              { key: 'search/website', requests_30d: 2 },
              { key: 'ads/web', requests_30d: 1 },
            ],
            count: 3,
            requests_30d: 6,
          },
        ],
      ],
    )
    const own = (await usersOfModels(database, ['small', 'large'], ['ads'], clock.nowMs())).get('small')
    assert.deepEqual(own, { keys: [{ key: 'ads/web', requests_30d: 1 }], count: 1, requests_30d: 1 })
    assert.equal((await usersOfModels(database, [], undefined, clock.nowMs())).size, 0)
  })

  test(`${name}: keys whose requests name their space are counted with it, of one day`, async () => {
    const stores = await open()
    const { database, requests, clock } = stores
    const traced = (space: string | undefined, isPinned: boolean): RequestTrace =>
      Object.assign(new RequestTrace(0), { space, isPinned })
    await requests.append([asked(stores, { trace: traced('small@4:0000aaaa', true) })])
    clock.ms += 25 * 3_600_000
    const again = asked(stores, { trace: traced('small@4:0000aaaa', true) })
    await requests.append([
      again,
      asked(stores, { trace: traced('small@4:0000aaaa', true), keyId: 'search/website' }),
      asked(stores, { trace: traced('small@4:0000aaaa', true), keyId: 'search/website' }),
      asked(stores, { trace: traced('small@4:0000aaaa', false), keyId: 'search/unpinned' }),
      asked(stores, { trace: traced(undefined, true), status: 412, keyId: 'search/refused' }),
    ])
    await requests.append([again])
    assert.deepEqual(await listPins(database, clock.nowMs()), [
      { key: 'search/website', space: 'small@4:0000aaaa', requests_24h: 2 },
      { key: 'search/ci', space: 'small@4:0000aaaa', requests_24h: 1 },
    ])
  })

  test(`${name}: keys that count say which models they may use`, async () => {
    const { database, clock, keys } = await open()
    const make = (key: string, models: readonly string[] | undefined) =>
      keys.createKey({ project: 'search', name: key, secret: someSecret().stored, models }, TESTER)
    await make('one', ['small'])
    await make('two', undefined)
    const lists = await modelsOfKeys(database, ['search'], clock.nowMs())
    assert.deepEqual(lists.map((models) => models?.join() ?? 'all').sort(), ['all', 'small'])
    await keys.revokeKey('search/two', TESTER)
    assert.deepEqual(await modelsOfKeys(database, ['search'], clock.nowMs()), [['small']])
    assert.deepEqual(await modelsOfKeys(database, ['ads'], clock.nowMs()), [])
  })
}
