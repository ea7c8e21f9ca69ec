/** What the sums by user and by tag promise: each adds up to the ledger, and none grows without end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LedgerEntry } from '#core/ledger.ts'
import type { Tags } from '#core/labels.ts'
import { MOST_TAG_KEYS, MOST_VALUES, type UsageLabel, type UsageSpan, type UsageTable } from '#ports/usage.ts'
import { PostgresLedger } from '#stores/postgres/books/ledger.ts'
import { PostgresUsage } from '#stores/postgres/reports/usage.ts'
import { BOOKS_NOW_MS, DAY_MS, type Books } from '#test/support/books.ts'

const TODAY_MS = Math.floor(BOOKS_NOW_MS / DAY_MS) * DAY_MS
const ALL: UsageSpan = { projects: undefined, only: {}, fromMs: TODAY_MS, endMs: TODAY_MS + DAY_MS }

async function tableBy(books: Books, by: UsageLabel, span: Partial<UsageSpan> = {}): Promise<UsageTable> {
  return new PostgresUsage(books.database, books.clock).table({
    ...ALL,
    ...span,
    by,
    slot: 'day',
    groups: 10_000,
  })
}

function amounts({ cells, beside }: UsageTable): Record<string, bigint> {
  const sum = (all: UsageTable['cells']): bigint =>
    all.reduce((total, { sum: { amountNanoUsd } }) => total + amountNanoUsd, 0n)
  return {
    ...Object.fromEntries(cells.map(({ group, sum: { amountNanoUsd } }) => [group, amountNanoUsd])),
    '(overflow)': sum(beside?.overflow ?? []),
    '(none)': sum(beside?.none ?? []),
  }
}

function whole(table: UsageTable): { nanoUsd: bigint; tokens: number; requests: number; posts: number } {
  const { overflow = [], none = [] } = table.beside ?? {}
  return [...table.cells, ...overflow, ...none].reduce(
    (sums, { sum }) => ({
      nanoUsd: sums.nanoUsd + sum.amountNanoUsd,
      tokens: sums.tokens + sum.tokens,
      requests: sums.requests + sum.requests,
      posts: sums.posts + sum.posts,
    }),
    { nanoUsd: 0n, tokens: 0, requests: 0, posts: 0 },
  )
}

async function ledgerOf({ rows }: Books): Promise<ReturnType<typeof whole>> {
  const [row] = await rows<{ nano: bigint; tokens: bigint; requests: bigint; posts: bigint }>(
    `SELECT coalesce(sum(amount_nano), 0)::bigint AS nano, coalesce(sum(tokens), 0)::bigint AS tokens,
       coalesce(sum(requests), 0)::bigint AS requests, count(*) FILTER (WHERE kind = 'post') AS posts FROM usage_events`,
  )
  const { nano = 0n, tokens = 0n, requests = 0n, posts = 0n } = row ?? {}
  return { nanoUsd: nano, tokens: Number(tokens), requests: Number(requests), posts: Number(posts) }
}

export function usageLabelsSuite(name: string, open: () => Promise<Books>): void {
  test(`${name}: every call is in one value of a label or in none, however often it is sent`, async () => {
    const books = await open()
    const { ledger, nodeId, entry } = books
    const entries = [
      entry({ labels: { user: 'alice', tags: { team: 'red', job: 'nightly' } }, countsRequest: true }),
      entry({ labels: { user: 'bob', tags: { team: 'red' } }, amountNanoUsd: 3n }),
      entry({ labels: { tags: { team: 'blue' } }, amountNanoUsd: 5n }),
      entry({ amountNanoUsd: 7n }),
    ]
    await ledger.append(nodeId, entries)
    await ledger.append(nodeId, [...entries, ...entries])
    await ledger.appendLate(nodeId, entries)
    assert.deepEqual(amounts(await tableBy(books, 'user')), {
      alice: 200n,
      bob: 3n,
      '(overflow)': 0n,
      '(none)': 12n,
    })
    assert.deepEqual(amounts(await tableBy(books, 'tag:team')), {
      red: 203n,
      blue: 5n,
      '(overflow)': 0n,
      '(none)': 7n,
    })
    assert.deepEqual(amounts(await tableBy(books, 'tag:never')), { '(overflow)': 0n, '(none)': 215n })
    const usage = new PostgresUsage(books.database, books.clock)
    assert.deepEqual(await usage.tagKeys(ALL), ['job', 'team'])
    const kept = await usage.entries(
      { ...ALL, labelled: { label: 'tag:team', values: ['red'] } },
      { limit: 9, after: undefined },
    )
    assert.deepEqual(
      new Set(kept.map(({ labels }) => JSON.stringify([labels?.user, labels?.tags?.['job']]))),
      new Set(['["alice","nightly"]', '["bob",null]']),
    )
  })

  test(`${name}: a question by model may be about one user, and one by user about one model`, async () => {
    const books = await open()
    const { ledger, nodeId, entry } = books
    await ledger.append(nodeId, [
      entry({ labels: { user: 'alice' }, model: 'large', deployment: 'large/a', amountNanoUsd: 1n }),
      entry({ labels: { user: 'alice' }, amountNanoUsd: 2n }),
      entry({ labels: { user: 'bob' }, amountNanoUsd: 4n }),
      entry({ amountNanoUsd: 8n }),
    ])
    const usage = new PostgresUsage(books.database, books.clock)
    const ofAlice = { ...ALL, labelled: { label: 'user', values: ['alice'] } } as const
    const { cells } = await usage.table({ ...ofAlice, by: 'model', slot: 'hour', groups: 9 })
    assert.deepEqual(Object.fromEntries(cells.map(({ group, sum }) => [group, sum.amountNanoUsd])), {
      large: 1n,
      small: 2n,
    })
    const { cells: keys } = await usage.table({ ...ofAlice, by: 'key', slot: 'day', groups: 9 })
    assert.deepEqual(
      keys.map(({ sum }) => sum.amountNanoUsd),
      [3n],
    )
    assert.deepEqual(amounts(await tableBy(books, 'user', { only: { model: ['small'] } })), {
      alice: 2n,
      bob: 4n,
      '(overflow)': 0n,
      '(none)': 8n,
    })
    assert.deepEqual(
      (await usage.spentByDay(ofAlice)).map((nanoUsd) => nanoUsd),
      [3n],
    )
    const totals = await usage.totals({ ...ALL, by: 'user', names: ['alice'] })
    assert.equal(totals.groups.get('alice')?.amountNanoUsd, 3n)
    assert.equal(totals.whole.amountNanoUsd, 15n)
    assert.equal(totals.label?.labelled.amountNanoUsd, 7n)
  })

  test(`${name}: what resolves an unknown counts for the same user, whoever writes it`, async () => {
    const books = await open()
    const { ledger, nodeId, entry, upkeep, reconciler } = books
    const labels = { user: 'alice', tags: { team: 'red' } }
    const [first, second] = [1, 2].map(() =>
      entry({ kind: 'unknown', tokens: undefined, amountNanoUsd: 90n, labels }),
    ) as [LedgerEntry, LedgerEntry]
    await ledger.append(nodeId, [first])
    await ledger.endNode(nodeId, [second])
    const resolution = { kind: 'post', costNanoUsd: 4n, tokens: 2, actor: { name: 'tester' } } as const
    assert.ok(await ledger.resolveUnknown({ ...first, ...resolution }))
    // It comes from another node, which does not know the labels.
    await ledger.appendLate(nodeId, [
      { ...second, kind: 'post', tokens: 2, amountNanoUsd: 6n, labels: undefined },
    ])
    assert.deepEqual(amounts(await tableBy(books, 'user')), { alice: 10n, '(overflow)': 0n, '(none)': 0n })
    await upkeep.rollUpDays('all')
    books.clock.ms += 9 * DAY_MS
    assert.deepEqual(amounts(await tableBy(books, 'tag:team')), { red: 10n, '(overflow)': 0n, '(none)': 0n })
    assert.deepEqual((await reconciler.reconcile('all')).differences, [])
  })

  test(`${name}: a million tags would be ${MOST_VALUES}: the rest is one sum, nothing is missing, and somebody is told`, async () => {
    const books = await open()
    const { ledger, nodeId, entry, reconciler, database } = books
    const many = MOST_VALUES + 50
    const users = Array.from({ length: many }, (_, index) =>
      entry({ labels: { user: `user-${index}` }, amountNanoUsd: 1n }),
    )
    await ledger.append(nodeId, users.slice(0, 600))
    // Another node, which knows nothing of what the first has counted.
    const other = new PostgresLedger(database)
    await Promise.all([other.append(nodeId, users.slice(600), 1), ledger.append(nodeId, users.slice(580))])
    await ledger.append(nodeId, [entry({ labels: { user: 'user-3' }, amountNanoUsd: 1000n })])
    const table = await tableBy(books, 'user')
    assert.equal(table.cells.length, MOST_VALUES)
    assert.equal(amounts(table)['(overflow)'], 50n)
    assert.equal(amounts(table)['user-3'], 1001n)
    assert.deepEqual(whole(table), await ledgerOf(books))
    const { overflows } = await reconciler.figures()
    assert.deepEqual(
      overflows.map(({ project, label, amountNanoUsd }) => [project, label, amountNanoUsd]),
      [['search', 'user', 50n]],
    )
    assert.deepEqual((await reconciler.reconcile('all')).differences, [])
  })

  test(`${name}: keys of tags beyond ${MOST_TAG_KEYS} of a day are counted together, once for each call`, async () => {
    const books = await open()
    const { ledger, nodeId, entry, reconciler } = books
    const tagsOf = (first: number): Tags =>
      Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`key-${first + index}`, 'x']))
    for (const first of [0, 8, 16]) await ledger.append(nodeId, [entry({ labels: { tags: tagsOf(first) } })])
    await ledger.append(nodeId, [entry({ labels: { tags: { 'key-0': 'x', 'key-99': 'y' } } })])
    const usage = new PostgresUsage(books.database, books.clock)
    assert.equal((await usage.tagKeys(ALL)).length, MOST_TAG_KEYS)
    assert.equal((await usage.withLeftOutTags(ALL)).amountNanoUsd, 400n)
    assert.deepEqual(amounts(await tableBy(books, 'tag:key-0')), {
      x: 400n,
      '(overflow)': 0n,
      '(none)': 400n,
    })
    assert.deepEqual((await reconciler.reconcile('all')).differences, [])
  })

  test(`${name}: the day after, a project has room again, and a request of before counts in its own day`, async () => {
    const books = await open()
    const { ledger, nodeId, entry, clock } = books
    await ledger.append(
      nodeId,
      Array.from({ length: MOST_VALUES }, (_, index) => entry({ labels: { user: `user-${index}` } })),
    )
    const late = entry({ labels: { user: 'late' }, amountNanoUsd: 1n })
    clock.ms += DAY_MS
    await ledger.append(nodeId, [late, entry({ labels: { user: 'new' }, amountNanoUsd: 2n })])
    assert.equal(amounts(await tableBy(books, 'user'))['(overflow)'], 1n)
    const next = { fromMs: ALL.endMs, endMs: ALL.endMs + DAY_MS }
    assert.deepEqual(amounts(await tableBy(books, 'user', next)), { new: 2n, '(overflow)': 0n, '(none)': 0n })
  })

  test(`${name}: the longest user that is accepted has a row`, async () => {
    const books = await open()
    const { ledger, nodeId, entry } = books
    const user = Array.from({ length: 512 }, (_, at) =>
      String.fromCodePoint(0x4e00 + ((at * 7919) % 20_000)),
    ).join('')
    await ledger.append(nodeId, [entry({ labels: { user, tags: { ['k'.repeat(64)]: '字'.repeat(128) } } })])
    assert.equal(amounts(await tableBy(books, 'user'))[user], 200n)
  })

  test(`${name}: a sum that somebody changed is found`, async () => {
    const books = await open()
    await books.ledger.append(books.nodeId, [books.entry({ labels: { user: 'alice' } })])
    await books.rows('UPDATE usage_label_hours SET amount_nano = amount_nano + 1')
    const { differences } = await books.reconciler.reconcile(1)
    assert.deepEqual(
      differences.map(({ project, label }) => [project, label]),
      [['search', 'user']],
    )
  })

  const someLabels = fc.record(
    {
      user: fc.nat(6).map((number) => `user-${MOST_VALUES - 4 + number}`),
      tags: fc.dictionary(fc.constantFrom('team', 'job', 'env'), fc.constantFrom('a', 'b', 'c'), {
        minKeys: 1,
        noNullPrototype: true,
      }),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  const someCall = fc.record({
    labels: fc.option(someLabels, { nil: undefined }),
    kind: fc.constantFrom('post', 'unknown', 'resolved'),
    nanoUsd: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    tokens: fc.nat(100_000),
    isPriced: fc.boolean(),
    isTwice: fc.boolean(),
  })

  test(`${name}: whatever is sent, late, twice and beyond the bounds, each label adds up to the ledger to the nano-dollar`, async () => {
    const books = await open()
    const { ledger, nodeId, entry, reconciler } = books
    await ledger.append(
      nodeId,
      Array.from({ length: MOST_VALUES - 2 }, (_, index) =>
        entry({ labels: { user: `user-${index}` }, amountNanoUsd: 1n }),
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(someCall, { minLength: 1, maxLength: 12 }), async (calls) => {
        const begun = calls.map(({ labels, kind, nanoUsd, tokens, isPriced }) =>
          entry({
            labels: labels && Object.keys(labels).length > 0 ? labels : undefined,
            kind: kind === 'post' ? 'post' : 'unknown',
            tokens: kind === 'post' ? tokens : undefined,
            amountNanoUsd: isPriced ? nanoUsd : undefined,
            countsRequest: true,
          }),
        )
        await ledger.append(nodeId, begun)
        const again = begun.filter((_, index) => calls[index]?.isTwice)
        if (again.length > 0) await ledger.append(nodeId, again)
        const resolved = begun.flatMap((one, index) =>
          calls[index]?.kind === 'resolved'
            ? [{ ...one, kind: 'post' as const, tokens: 5, amountNanoUsd: (one.amountNanoUsd ?? 0n) / 3n }]
            : [],
        )
        await ledger.appendLate(nodeId, resolved)
        const expected = await ledgerOf(books)
        for (const by of ['user', 'tag:team', 'tag:job'] as const)
          assert.deepEqual(whole(await tableBy(books, by)), expected, by)
        assert.ok((await tableBy(books, 'user')).cells.length <= MOST_VALUES)
      }),
      { numRuns: 8 },
    )
    assert.deepEqual((await reconciler.reconcile('all')).differences, [])
  })
}
