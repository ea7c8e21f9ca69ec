/** What is told of models is what was asked of them, within the projects that are looked at. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PostgresModelFigures } from '#stores/postgres/reports/model-figures.ts'
import { RequestTrace } from '#core/request-trace.ts'
import type { RequestRecord } from '#ports/observer.ts'
import { pgliteBooks, postgresBooks, type Books } from '#test/support/books.ts'
import { someSecret } from '#test/support/directory.ts'

const TESTER = { name: 'tester' }

for (const [name, open] of [
  ['PostgreSQL', postgresBooks()],
  ['PGlite', pgliteBooks()],
] as const) {
  const opened = async () => {
    const books = await open()
    return { ...books, figures: new PostgresModelFigures(books.database, books.clock) }
  }
  const asked = (books: Books, overrides: Partial<RequestRecord>): RequestRecord => ({
    requestId: books.identifiers.next(),
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
    const books = await opened()
    const { figures, requests, ledger, nodeId, entry } = books
    await requests.append([
      asked(books, { durationMs: 10 }),
      asked(books, { durationMs: 20 }),
      asked(books, { status: 502, durationMs: 9000 }),
      asked(books, { project: 'ads', keyId: 'ads/web', status: 429, fault: 'upstream_rate_limited' }),
      asked(books, { model: undefined, status: 404 }),
    ])
    await ledger.append(nodeId, [
      entry({ countsRequest: true }),
      entry({ countsRequest: true, deployment: 'small/azure' }),
      entry({ countsRequest: true, project: 'ads', keyId: 'ads/web' }),
    ])
    const all = (await figures.figures(undefined)).get('small')
    assert.deepEqual([all?.lastHour.requests, all?.lastHour.failed], [4, 2])
    assert.equal(all?.lastHour.p95Ms, 19.5)
    assert.equal(all?.lastDay.requests, 3)
    const own = (await figures.figures(['ads'])).get('small')
    assert.deepEqual([own?.lastHour.requests, own?.lastDay.requests], [1, 1])
    const uses = await figures.uses('small', undefined)
    assert.deepEqual([...uses].map(([deployment, { calls }]) => `${deployment} ${calls}`).sort(), [
      'small/azure 1',
      'small/openai 2',
    ])
    assert.equal((await figures.uses('small', ['nobody'])).size, 0)
  })

  test(`${name}: hits are a part of the inputs, and what they saved is exact`, async () => {
    const books = await opened()
    const { figures, requests, ledger, nodeId, entry } = books
    await requests.append([
      asked(books, { cache: { hits: 1, misses: 3 } }),
      asked(books, { cache: { hits: 4, misses: 0 } }),
      asked(books, { model: 'other', cache: { hits: 4, misses: 0 } }),
    ])
    await ledger.append(nodeId, [entry({ countsRequest: true, hits: 5, savedNanoUsd: 123_456_789n })])
    assert.deepEqual(await figures.cacheUse('small', undefined), {
      hitsShare: 5 / 8,
      savedNanoUsd: 123_456_789n,
    })
    assert.deepEqual(await figures.cacheUse('nobody', undefined), { hitsShare: 0, savedNanoUsd: 0n })
  })

  test(`${name}: a model that is gone names the keys that still ask for it`, async () => {
    const books = await opened()
    const { figures, requests } = books
    const gone = { status: 404, fault: 'model_retired', model: 'dall-e-3', route: '/v1/images/generations' }
    await requests.append([
      asked(books, gone),
      asked(books, { ...gone, keyId: 'search/website' }),
      asked(books, { ...gone, keyId: 'search/website' }),
      asked(books, { status: 404, fault: 'model_not_found', model: undefined }),
    ])
    assert.deepEqual((await figures.askedRetired(undefined)).get('dall-e-3'), [
      { key: 'search/website', requests: 2, kind: 'image' },
      { key: 'search/ci', requests: 1, kind: 'image' },
    ])
    assert.equal((await figures.askedRetired(['ads'])).size, 0)
  })

  test(`${name}: who used a model within 30 days is summed over days and hours, the busiest first`, async () => {
    const { figures, ledger, nodeId, entry, clock, upkeep } = await opened()
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
    await upkeep.rollUpDays('all')
    clock.ms += 5 * 86_400_000
    await used('search/ci', 1)
    await used('ads/web', 1)
    await used('search/website', 2)
    const users = await figures.users(['small', 'nobody'], undefined)
    assert.deepEqual(
      [...users],
      [
        [
          'small',
          {
            keys: [
              { key: 'search/ci', requests: 3 },
              { key: 'search/website', requests: 2 },
              { key: 'ads/web', requests: 1 },
            ],
            count: 3,
          },
        ],
      ],
    )
    const own = (await figures.users(['small', 'large'], ['ads'])).get('small')
    assert.deepEqual(own, { keys: [{ key: 'ads/web', requests: 1 }], count: 1 })
    assert.equal((await figures.users([], undefined)).size, 0)
  })

  test(`${name}: keys whose requests name their space are counted with it, of one day`, async () => {
    const books = await opened()
    const { figures, requests, clock } = books
    const traced = (space: string | undefined, isPinned: boolean): RequestTrace =>
      Object.assign(new RequestTrace(0), { space, isPinned })
    await requests.append([asked(books, { trace: traced('small@4:0000aaaa', true) })])
    clock.ms += 25 * 3_600_000
    const again = asked(books, { trace: traced('small@4:0000aaaa', true) })
    await requests.append([
      again,
      asked(books, { trace: traced('small@4:0000aaaa', true), keyId: 'search/website' }),
      asked(books, { trace: traced('small@4:0000aaaa', true), keyId: 'search/website' }),
      asked(books, { trace: traced('small@4:0000aaaa', false), keyId: 'search/unpinned' }),
      asked(books, { trace: traced(undefined, true), status: 412, keyId: 'search/refused' }),
    ])
    await requests.append([again])
    assert.deepEqual(await figures.pins(), [
      { key: 'search/website', space: 'small@4:0000aaaa', requests: 2 },
      { key: 'search/ci', space: 'small@4:0000aaaa', requests: 1 },
    ])
  })

  test(`${name}: keys that count say which models they may use`, async () => {
    const { figures, keys } = await opened()
    const make = (key: string, models: readonly string[] | undefined) =>
      keys.createKey({ project: 'search', name: key, secret: someSecret().stored, models }, TESTER)
    await make('one', ['small'])
    await make('two', undefined)
    const lists = await figures.keyModels(['search'])
    assert.deepEqual(lists.map((models) => models?.join() ?? 'all').sort(), ['all', 'small'])
    await keys.revokeKey('search/two', TESTER)
    assert.deepEqual(await figures.keyModels(['search']), [['small']])
    assert.deepEqual(await figures.keyModels(['ads']), [])
  })
}
