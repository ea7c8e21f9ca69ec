/** What the request log promises its readers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestTrace } from '#core/request/request-trace.ts'
import type { RequestRecord } from '#ports/observer.ts'
import type { Database } from '#stores/postgres/database.ts'
import { PostgresRequests } from '#stores/postgres/ledger/requests.ts'
import { findRequest, type LoggedRequest } from '#control/requests/detail-queries.ts'
import type { RequestFilter } from '#control/requests/filter-queries.ts'
import { requestHistogram } from '#control/requests/histogram-queries.ts'
import { listRequests } from '#control/requests/queries.ts'
import { LEDGER_NOW_MS, type LedgerStores } from '#test/support/ledger-stores.ts'
import { unusedLake } from '#test/support/lake.ts'

const HOUR: RequestFilter = { fromMs: LEDGER_NOW_MS - 3_600_000, toMs: LEDGER_NOW_MS }

const PLAIN = {
  route: 'embeddings',
  status: 200,
  project: 'search',
  keyId: 'search/indexer',
  model: 'small',
  deployment: 'small/openai',
  attempts: 1,
  inputs: 1,
  promptTokens: 10,
  amountNanoUsd: 200n,
  durationMs: 12,
} as const

async function opened(open: () => Promise<LedgerStores>) {
  const stores = await open()
  const { database, nodeId, identifiers, clock } = stores
  const store = new PostgresRequests(database, nodeId)
  /** Each a second older than the one before it. Returns their ids. */
  const log = async (...records: readonly Partial<RequestRecord>[]): Promise<string[]> => {
    const ids: string[] = []
    for (const record of records) {
      clock.ms -= 1000
      const requestId = identifiers.next()
      ids.push(requestId)
      await store.append([{ ...PLAIN, trace: new RequestTrace(0), requestId, ...record }])
    }
    return ids
  }
  const found = async (filter: Partial<RequestFilter>): Promise<string[]> =>
    (await listRequests(database, { ...HOUR, ...filter }, { sort: '-at', limit: 50 })).data.map(
      ({ id }) => id,
    )
  return { ...stores, log, found }
}

async function logged(database: Database, id: string): Promise<LoggedRequest> {
  const found = await findRequest(database, unusedLake(database).cold, id)
  assert.ok(found !== undefined && 'row' in found)
  return found
}

export function requestReportsSuite(name: string, open: () => Promise<LedgerStores>): void {
  test(`${name}: requests of callers and of batches are separate, in lists and in counts`, async () => {
    const { log, found, database } = await opened(open)
    const [caller, lines, picture, edit] = await log(
      {},
      { route: 'batch-lines', status: 429, fault: 'budget_exhausted', clientRequestId: 'batch_1' },
      { route: 'batch-images' },
      { route: 'batch-image-edits' },
    )
    assert.deepEqual(await found({ source: 'callers' }), [caller])
    assert.deepEqual(await found({ source: 'batches' }), [lines, picture, edit])
    assert.equal((await found({})).length, 4)
    const { total } = await requestHistogram(
      database,
      { ...HOUR, source: 'callers' },
      { slots: 10, facets: false },
    )
    assert.equal(total, 1)
    const { facets } = await requestHistogram(database, HOUR, { slots: 10, facets: true })
    assert.deepEqual(facets?.kind, { embedding: 2, generation: 1, edit: 1 })
    const { data } = await listRequests(database, { ...HOUR, client: 'batch_1' }, { sort: '-at', limit: 50 })
    assert.deepEqual(
      data.map(({ source, model }) => [source, model]),
      [['batches', 'small']],
    )
  })

  test(`${name}: each filter finds its requests and no others, newest first`, async () => {
    const { log, found } = await opened(open)
    const all = await log(
      {},
      { project: 'ads', keyId: 'ads/website', model: 'large' },
      { status: 429, fault: 'rate_limit_exceeded' },
      { status: 429, fault: 'upstream_rate_limited' },
      { status: 424, fault: 'outcome_unknown', route: 'images', amountNanoUsd: 81_900_000n },
      { status: 400, fault: 'invalid_parameter', route: 'image-edits' },
      { status: 502, fault: 'upstream_unreachable', attempts: 2, deployment: 'small/a,small/b' },
      { durationMs: 900, clientRequestId: 'batch-0417' },
    )
    const [plain, other, limited, upstreamLimited, unknown, refused, failed, slow] = all
    assert.deepEqual(await found({}), all)
    assert.deepEqual(await found({ projects: ['ads'] }), [other])
    assert.deepEqual(await found({ projects: ['ads', 'search'] }), all)
    assert.deepEqual(await found({ projects: [] }), [])
    assert.deepEqual(await found({ key: ['ads/website'] }), [other])
    assert.deepEqual(await found({ projects: ['search'], key: ['ads/website'] }), [])
    assert.deepEqual(await found({ model: ['large'] }), [other])
    assert.deepEqual(await found({ deployment: 'small/b' }), [failed])
    assert.deepEqual(await found({ kind: ['generation', 'edit'] }), [unknown, refused])
    assert.deepEqual(await found({ outcome: ['limited'] }), [limited])
    assert.deepEqual(await found({ outcome: ['failed'] }), [upstreamLimited, failed])
    assert.deepEqual(await found({ outcome: ['unknown', 'refused'] }), [unknown, refused])
    assert.deepEqual(await found({ outcome: ['answered'] }), [plain, other, slow])
    assert.deepEqual(await found({ status: 400 }), [refused])
    assert.deepEqual(await found({ fault: ['outcome_unknown'] }), [unknown])
    assert.deepEqual(await found({ slower_ms: 500 }), [slow])
    assert.deepEqual(await found({ dearerNanoUsd: 1000n }), [unknown])
    assert.deepEqual(await found({ tries: 2 }), [failed])
    assert.deepEqual(await found({ client: 'batch-0417' }), [slow])
    assert.deepEqual(await found({ toMs: LEDGER_NOW_MS - 6500 }), [failed, slow])
  })

  test(`${name}: questions for models and what is no request are not among the requests`, async () => {
    const { log, found } = await opened(open)
    const [kept] = await log({}, { route: 'models' }, { route: 'unknown', status: 404 })
    assert.deepEqual(await found({}), [kept])
  })

  test(`${name}: pages follow each other without a gap or a repetition, however they are sorted`, async () => {
    const { log, database } = await opened(open)
    const durations = [5, 900, 5, 17.25, 5, 300]
    const ids = await log(
      ...durations.map((durationMs, index) => ({
        durationMs,
        amountNanoUsd: index === 4 ? undefined : BigInt(index % 3),
      })),
    )
    for (const sort of ['-at', '-duration', '-cost'] as const) {
      const seen: string[] = []
      const values: number[] = []
      let after: string | undefined
      do {
        const page = await listRequests(database, HOUR, { sort, limit: 2, after })
        seen.push(...page.data.map(({ id }) => id))
        for (const row of page.data) {
          const by = {
            '-at': Date.parse(row.at),
            '-duration': row.duration_ms,
            '-cost': Number(row.cost_usd ?? -1),
          }
          values.push(by[sort])
        }
        after = page.next ?? undefined
      } while (after !== undefined)
      assert.deepEqual(seen.toSorted(), ids.toSorted(), sort)
      assert.deepEqual(
        values,
        values.toSorted((a, b) => b - a),
        sort,
      )
    }
    const page = { sort: '-duration', limit: 2, after: 'bm90IGEgY3Vyc29y' } as const
    await assert.rejects(listRequests(database, HOUR, page), /not a cursor/)
    const { next } = await listRequests(database, HOUR, { sort: '-at', limit: 2 })
    const other = { sort: '-cost', limit: 2, after: next ?? '' } as const
    await assert.rejects(listRequests(database, HOUR, other), /not a cursor/)
  })

  test(`${name}: the histogram counts each request once, in its slot, and says what there is to choose`, async () => {
    const { log, database } = await opened(open)
    await log(
      {},
      {},
      { status: 502, fault: 'upstream_unreachable', model: 'large' },
      { project: 'ads', route: 'images' },
    )
    const { slot_seconds, total, data, facets, capped_at } = await requestHistogram(database, HOUR, {
      slots: 60,
      facets: true,
    })
    assert.deepEqual([slot_seconds, total, capped_at], [60, 4, null])
    assert.partialDeepStrictEqual(data.at(-1), { answered: 3, refused: 0, limited: 0, failed: 1, unknown: 0 })
    assert.equal(
      data.reduce((sum, { answered, failed }) => sum + answered + failed, 0),
      4,
    )
    assert.deepEqual(facets?.outcome, { answered: 3, failed: 1 })
    assert.deepEqual(facets?.kind, { embedding: 3, generation: 1 })
    assert.deepEqual(facets?.fault, { upstream_unreachable: 1 })
    const own = await requestHistogram(database, { ...HOUR, projects: ['ads'] }, { slots: 60, facets: true })
    assert.deepEqual([own.total, own.facets?.outcome], [1, { answered: 1 }])
    const failed = await requestHistogram(
      database,
      { ...HOUR, outcome: ['failed'] },
      { slots: 60, facets: true },
    )
    assert.deepEqual([failed.total, failed.facets?.outcome], [1, { answered: 3, failed: 1 }])
  })

  test(`${name}: one request is found with its calls, its money and the name of its node`, async () => {
    const { log, database, ledger, nodeId, entry } = await opened(open)
    const trace = new RequestTrace(1000)
    trace.admittedMs = 1004
    trace.askedModel = 'search-embed'
    const [id = ''] = await log({ trace, cache: { hits: 3, misses: 1 } })
    await ledger.append(nodeId, [
      entry({ requestId: id }),
      entry({ requestId: id, attempt: 1, kind: 'unknown' }),
    ])
    const { row, trace: kept, entries } = await logged(database, id)
    assert.deepEqual([row.node, kept.askedModel, row.hits], ['here', 'search-embed', 3])
    assert.equal(kept.moments.admitted, 4)
    assert.deepEqual(
      entries.map(({ attempt, kind, amount_usd }) => [attempt, kind, amount_usd]),
      [
        [0, 'post', '0.000000200'],
        [1, 'unknown', '0.000000200'],
      ],
    )
    assert.equal(
      await findRequest(database, unusedLake(database).cold, '01a1e008-2f4c-7d1e-b0aa-4c27d0be9c1e'),
      undefined,
    )
  })

  test(`${name}: of a request whose log was deleted, the ledger still tells`, async () => {
    const { database, ledger, nodeId, entry } = await opened(open)
    const posted = entry()
    await ledger.append(nodeId, [posted])
    const found = await findRequest(database, unusedLake(database).cold, posted.requestId)
    assert.ok(found !== undefined && 'log' in found)
    assert.deepEqual([found.project, found.ledger.length], ['search', 1])
  })
}
