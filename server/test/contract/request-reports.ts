/** What the request log promises to those who read it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestTrace } from '#core/request-trace.ts'
import type { RequestRecord } from '#ports/observer.ts'
import { UnreadableCursor, type RequestFilter } from '#ports/request-reports.ts'
import { PostgresRequests } from '#stores/postgres/books/requests.ts'
import { PostgresRequestReports } from '#stores/postgres/reports/requests.ts'
import { BOOKS_NOW_MS, type Books } from '#test/support/books.ts'

const HOUR: RequestFilter = { fromMs: BOOKS_NOW_MS - 3_600_000, toMs: BOOKS_NOW_MS }

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

async function opened(open: () => Promise<Books>) {
  const books = await open()
  const { database, nodeId, identifiers, clock } = books
  const store = new PostgresRequests(database, nodeId)
  const reports = new PostgresRequestReports(database)
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
    (await reports.list({ ...HOUR, ...filter }, { sort: '-at', limit: 50 })).rows.map(({ id }) => id)
  return { ...books, reports, log, found }
}

export function requestReportsSuite(name: string, open: () => Promise<Books>): void {
  test(`${name}: requests of callers and of batches are told apart, in lists and in counts`, async () => {
    const { log, found, reports } = await opened(open)
    const [caller, lines, picture, edit] = await log(
      {},
      { route: 'batch-lines', status: 429, fault: 'budget_exhausted', clientRequestId: 'batch_1' },
      { route: 'batch-images' },
      { route: 'batch-image-edits' },
    )
    assert.deepEqual(await found({ source: 'callers' }), [caller])
    assert.deepEqual(await found({ source: 'batches' }), [lines, picture, edit])
    assert.equal((await found({})).length, 4)
    const { total } = await reports.histogram({ ...HOUR, source: 'callers' }, { slots: 10, facets: false })
    assert.equal(total, 1)
    const { rows } = await reports.list({ ...HOUR, client: 'batch_1' }, { sort: '-at', limit: 50 })
    assert.deepEqual(
      rows.map(({ source, model }) => [source, model]),
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
    assert.deepEqual(await found({ keys: ['ads/website'] }), [other])
    assert.deepEqual(await found({ projects: ['search'], keys: ['ads/website'] }), [])
    assert.deepEqual(await found({ models: ['large'] }), [other])
    assert.deepEqual(await found({ deployment: 'small/b' }), [failed])
    assert.deepEqual(await found({ kinds: ['generation', 'edit'] }), [unknown, refused])
    assert.deepEqual(await found({ outcomes: ['limited'] }), [limited])
    assert.deepEqual(await found({ outcomes: ['failed'] }), [upstreamLimited, failed])
    assert.deepEqual(await found({ outcomes: ['unknown', 'refused'] }), [unknown, refused])
    assert.deepEqual(await found({ outcomes: ['answered'] }), [plain, other, slow])
    assert.deepEqual(await found({ status: 400 }), [refused])
    assert.deepEqual(await found({ faults: ['outcome_unknown'] }), [unknown])
    assert.deepEqual(await found({ slowerMs: 500 }), [slow])
    assert.deepEqual(await found({ dearerNanoUsd: 1000n }), [unknown])
    assert.deepEqual(await found({ tries: 2 }), [failed])
    assert.deepEqual(await found({ client: 'batch-0417' }), [slow])
    assert.deepEqual(await found({ toMs: BOOKS_NOW_MS - 6500 }), [failed, slow])
  })

  test(`${name}: questions for models and what is no request are not among the requests`, async () => {
    const { log, found } = await opened(open)
    const [kept] = await log({}, { route: 'models' }, { route: 'unknown', status: 404 })
    assert.deepEqual(await found({}), [kept])
  })

  test(`${name}: pages follow each other without a gap or a repetition, however they are sorted`, async () => {
    const { log, reports } = await opened(open)
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
        const page = await reports.list(HOUR, { sort, limit: 2, after })
        seen.push(...page.rows.map(({ id }) => id))
        for (const row of page.rows) {
          const by = { '-at': row.atMs, '-duration': row.durationMs, '-cost': Number(row.costNanoUsd ?? -1n) }
          values.push(by[sort])
        }
        after = page.next
      } while (after !== undefined)
      assert.deepEqual(seen.toSorted(), ids.toSorted(), sort)
      assert.deepEqual(
        values,
        values.toSorted((a, b) => b - a),
        sort,
      )
    }
    const page = { sort: '-duration', limit: 2, after: 'bm90IGEgY3Vyc29y' } as const
    await assert.rejects(reports.list(HOUR, page), UnreadableCursor)
    const { next: after } = await reports.list(HOUR, { sort: '-at', limit: 2 })
    await assert.rejects(reports.list(HOUR, { sort: '-cost', limit: 2, after }), UnreadableCursor)
  })

  test(`${name}: the histogram counts each request once, in its slot, and says what there is to choose`, async () => {
    const { log, reports } = await opened(open)
    await log(
      {},
      {},
      { status: 502, fault: 'upstream_unreachable', model: 'large' },
      { project: 'ads', route: 'images' },
    )
    const { slotMs, total, slots, facets, cappedAtMs } = await reports.histogram(HOUR, {
      slots: 60,
      facets: true,
    })
    assert.deepEqual([slotMs, total, cappedAtMs], [60_000, 4, undefined])
    assert.deepEqual(slots.at(-1)?.counts, { answered: 3, refused: 0, limited: 0, failed: 1, unknown: 0 })
    assert.equal(
      slots.reduce((sum, { counts }) => sum + counts.answered + counts.failed, 0),
      4,
    )
    assert.deepEqual(facets?.outcome, { answered: 3, failed: 1 })
    assert.deepEqual(facets?.kind, { embedding: 3, generation: 1 })
    assert.deepEqual(facets?.fault, { upstream_unreachable: 1 })
    const own = await reports.histogram({ ...HOUR, projects: ['ads'] }, { slots: 60, facets: true })
    assert.deepEqual([own.total, own.facets?.outcome], [1, { answered: 1 }])
    const failed = await reports.histogram({ ...HOUR, outcomes: ['failed'] }, { slots: 60, facets: true })
    assert.deepEqual([failed.total, failed.facets?.outcome], [1, { answered: 3, failed: 1 }])
  })

  test(`${name}: one request is found with its calls, its money and the name of its node`, async () => {
    const { log, reports, ledger, nodeId, entry } = await opened(open)
    const trace = new RequestTrace(1000)
    trace.admittedMs = 1004
    trace.askedModel = 'search-embed'
    const [id = ''] = await log({ trace, cache: { hits: 3, misses: 1 } })
    await ledger.append(nodeId, [
      entry({ requestId: id }),
      entry({ requestId: id, attempt: 1, kind: 'unknown' }),
    ])
    const detail = await reports.find(id)
    assert.ok(detail !== undefined && 'status' in detail)
    assert.deepEqual([detail.node, detail.askedModel, detail.hits], ['here', 'search-embed', 3])
    assert.equal(detail.moments.admitted, 4)
    assert.deepEqual(
      detail.booked.map(({ attempt, kind, amountNanoUsd }) => [attempt, kind, amountNanoUsd]),
      [
        [0, 'post', 200n],
        [1, 'unknown', 200n],
      ],
    )
    assert.equal(await reports.find('01a1e008-2f4c-7d1e-b0aa-4c27d0be9c1e'), undefined)
    assert.equal(await reports.find('not an id'), undefined)
  })

  test(`${name}: of a request whose log was deleted, the ledger still tells`, async () => {
    const { reports, ledger, nodeId, entry } = await opened(open)
    const posted = entry()
    await ledger.append(nodeId, [posted])
    const found = await reports.find(posted.requestId)
    assert.ok(found !== undefined && !('status' in found))
    assert.deepEqual([found.project, found.booked.length], ['search', 1])
  })

  test(`${name}: a row of the version before reads in order`, async () => {
    const { reports, rows, identifiers } = await opened(open)
    const id = identifiers.next()
    await rows(
      `INSERT INTO requests (request_id, route, status, project, model, deployments, attempts, duration_ms, steps)
       VALUES ($1, 'embeddings', 200, 'search', 'small', 'small/a', 1, 50, $2)`,
      [
        id,
        JSON.stringify({
          admitMs: 1,
          gatherMs: 45,
          settleMs: 2,
          calls: [{ callId: id, deployment: 'small/a', outcome: 'ok', durationMs: 40 }],
        }),
      ],
    )
    const detail = await reports.find(id)
    assert.ok(detail !== undefined && 'status' in detail)
    assert.deepEqual([detail.ownMs, detail.node, detail.attempts.length], [10, '', 1])
  })
}
