/** What the sums by user and by tag promise: each adds up to the ledger, and none grows without end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LedgerEntry } from '#core/money/ledger.ts'
import { MAX_LABEL_VALUES, MAX_TAG_KEYS, type Tags } from '#core/money/labels.ts'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import { listEntries } from '#control/usage/export-queries.ts'
import {
  emptyRankings,
  leftOutTags,
  spentByDay,
  tagKeys,
  usageTable,
  usageTotals,
  type UsageQuestion,
  type UsageTable,
} from '#control/usage/queries.ts'
import type { UsageLabel, UsageSpan } from '#control/usage/rollup-queries.ts'
import { runs } from '#test/support/arbitraries.ts'
import { LEDGER_NOW_MS, DAY_MS, type LedgerStores } from '#test/support/ledger-stores.ts'

const TODAY_MS = Math.floor(LEDGER_NOW_MS / DAY_MS) * DAY_MS
const ALL: UsageSpan = { projects: undefined, only: {}, fromMs: TODAY_MS, endMs: TODAY_MS + DAY_MS }

function tableOf({ database, clock }: LedgerStores, question: UsageQuestion): Promise<UsageTable> {
  return usageTable(database, question, clock.nowMs(), emptyRankings())
}

function tableBy(stores: LedgerStores, by: UsageLabel, span: Partial<UsageSpan> = {}): Promise<UsageTable> {
  return tableOf(stores, { ...ALL, ...span, by, slot: 'day', groups: 10_000 })
}

function amounts({ cells, beside }: UsageTable): Record<string, bigint> {
  const sum = (all: UsageTable['cells']): bigint => all.reduce((total, { nano }) => total + nano, 0n)
  return {
    ...Object.fromEntries(cells.map(({ name, nano }) => [name, nano])),
    '(overflow)': sum(beside?.overflow ?? []),
    '(none)': sum(beside?.none ?? []),
  }
}

function whole(table: UsageTable): Record<'nano' | 'tokens' | 'requests' | 'posts', bigint> {
  const { overflow = [], none = [] } = table.beside ?? {}
  return [...table.cells, ...overflow, ...none].reduce(
    (sums, { nano, tokens, requests, posts }) => ({
      nano: sums.nano + nano,
      tokens: sums.tokens + tokens,
      requests: sums.requests + requests,
      posts: sums.posts + posts,
    }),
    { nano: 0n, tokens: 0n, requests: 0n, posts: 0n },
  )
}

async function ledgerOf({ rows }: LedgerStores): Promise<ReturnType<typeof whole>> {
  const [row] = await rows<{ nano: bigint; tokens: bigint; requests: bigint; posts: bigint }>(
    `SELECT coalesce(sum(amount_nano), 0)::bigint AS nano, coalesce(sum(tokens), 0)::bigint AS tokens,
       coalesce(sum(requests), 0)::bigint AS requests, count(*) FILTER (WHERE kind = 'post') AS posts FROM usage_events`,
  )
  assert.ok(row)
  return row
}

export function usageLabelsSuite(name: string, open: () => Promise<LedgerStores>): void {
  test(`${name}: every call is in one value of a label or in none, however often it is sent`, async () => {
    const stores = await open()
    const { ledger, nodeId, entry } = stores
    const entries = [
      entry({ labels: { user: 'alice', tags: { team: 'red', job: 'nightly' } }, countsRequest: true }),
      entry({ labels: { user: 'bob', tags: { team: 'red' } }, amountNanoUsd: 3n }),
      entry({ labels: { tags: { team: 'blue' } }, amountNanoUsd: 5n }),
      entry({ amountNanoUsd: 7n }),
    ]
    await ledger.append(nodeId, entries)
    await ledger.append(nodeId, [...entries, ...entries])
    await ledger.appendLate(nodeId, entries)
    assert.deepEqual(amounts(await tableBy(stores, 'user')), {
      alice: 200n,
      bob: 3n,
      '(overflow)': 0n,
      '(none)': 12n,
    })
    assert.deepEqual(amounts(await tableBy(stores, 'tag:team')), {
      red: 203n,
      blue: 5n,
      '(overflow)': 0n,
      '(none)': 7n,
    })
    assert.deepEqual(amounts(await tableBy(stores, 'tag:never')), { '(overflow)': 0n, '(none)': 215n })
    assert.deepEqual(await tagKeys(stores.database, ALL), ['job', 'team'])
    const ofRed = { ...ALL, labelled: { label: 'tag:team', values: ['red'] } } as const
    const kept = await listEntries(stores.database, ofRed, 9)
    assert.deepEqual(
      new Set(kept.map(({ user, tags }) => JSON.stringify([user, tags?.['job']]))),
      new Set(['["alice","nightly"]', '["bob",null]']),
    )
  })

  test(`${name}: a question by model may be about one user, and one by user about one model`, async () => {
    const stores = await open()
    const { ledger, nodeId, entry } = stores
    await ledger.append(nodeId, [
      entry({ labels: { user: 'alice' }, model: 'large', deployment: 'large/a', amountNanoUsd: 1n }),
      entry({ labels: { user: 'alice' }, amountNanoUsd: 2n }),
      entry({ labels: { user: 'bob' }, amountNanoUsd: 4n }),
      entry({ amountNanoUsd: 8n }),
    ])
    const nowMs = stores.clock.nowMs()
    const ofAlice = { ...ALL, labelled: { label: 'user', values: ['alice'] } } as const
    const { cells } = await tableOf(stores, { ...ofAlice, by: 'model', slot: 'hour', groups: 9 })
    assert.deepEqual(Object.fromEntries(cells.map(({ name, nano }) => [name, nano])), {
      large: 1n,
      small: 2n,
    })
    const { cells: keys } = await tableOf(stores, { ...ofAlice, by: 'key', slot: 'day', groups: 9 })
    assert.deepEqual(
      keys.map(({ nano }) => nano),
      [3n],
    )
    assert.deepEqual(amounts(await tableBy(stores, 'user', { only: { model: ['small'] } })), {
      alice: 2n,
      bob: 4n,
      '(overflow)': 0n,
      '(none)': 8n,
    })
    assert.deepEqual(await spentByDay(stores.database, ofAlice, nowMs), [3n])
    const totals = await usageTotals(stores.database, { ...ALL, by: 'user', names: ['alice'] }, nowMs)
    assert.equal(totals.groups.get('alice')?.nano, 3n)
    assert.equal(totals.whole.nano, 15n)
    assert.equal(totals.label?.labelled.nano, 7n)
  })

  test(`${name}: what resolves an unknown counts for the same user, whichever node writes it`, async () => {
    const stores = await open()
    const { ledger, nodeId, entry, rollUpAllDays, reconciler } = stores
    const labels = { user: 'alice', tags: { team: 'red' } }
    const [first, second] = [1, 2].map(() =>
      entry({ kind: 'unknown', tokens: undefined, amountNanoUsd: 90n, labels }),
    ) as [LedgerEntry, LedgerEntry]
    await ledger.append(nodeId, [first])
    await ledger.endNode(nodeId, [second])
    const resolution = {
      kind: 'post',
      costNanoUsd: 4n,
      tokens: 2,
      actor: { kind: 'member', name: 'tester' },
    } as const
    assert.ok(await ledger.resolveUnknown({ ...first, ...resolution }))
    // It comes from another node, which does not know the labels.
    await ledger.appendLate(nodeId, [
      { ...second, kind: 'post', tokens: 2, amountNanoUsd: 6n, labels: undefined },
    ])
    assert.deepEqual(amounts(await tableBy(stores, 'user')), { alice: 10n, '(overflow)': 0n, '(none)': 0n })
    await rollUpAllDays()
    stores.clock.ms += 9 * DAY_MS
    assert.deepEqual(amounts(await tableBy(stores, 'tag:team')), { red: 10n, '(overflow)': 0n, '(none)': 0n })
    assert.deepEqual((await reconciler.reconcile('all')).differences, [])
  })

  test(`${name}: a million tags would be ${MAX_LABEL_VALUES}: the rest is one sum, nothing is missing, and it is reported`, async () => {
    const stores = await open()
    const { ledger, nodeId, entry, reconciler, database } = stores
    const many = MAX_LABEL_VALUES + 50
    const users = Array.from({ length: many }, (_, index) =>
      entry({ labels: { user: `user-${index}` }, amountNanoUsd: 1n }),
    )
    await ledger.append(nodeId, users.slice(0, 600))
    // Another node, without the counts of the first.
    const other = new PostgresLedger(database)
    await Promise.all([other.append(nodeId, users.slice(600), 1), ledger.append(nodeId, users.slice(580))])
    await ledger.append(nodeId, [entry({ labels: { user: 'user-3' }, amountNanoUsd: 1000n })])
    const table = await tableBy(stores, 'user')
    assert.equal(table.cells.length, MAX_LABEL_VALUES)
    assert.equal(amounts(table)['(overflow)'], 50n)
    assert.equal(amounts(table)['user-3'], 1001n)
    assert.deepEqual(whole(table), await ledgerOf(stores))
    const { overflows } = await reconciler.figures()
    assert.deepEqual(
      overflows.map(({ project, label, amountNanoUsd }) => [project, label, amountNanoUsd]),
      [['search', 'user', 50n]],
    )
    assert.deepEqual((await reconciler.reconcile('all')).differences, [])
  })

  test(`${name}: keys of tags beyond ${MAX_TAG_KEYS} of a day are counted together, once for each call`, async () => {
    const stores = await open()
    const { ledger, nodeId, entry, reconciler } = stores
    const tagsOf = (first: number): Tags =>
      Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`key-${first + index}`, 'x']))
    for (const first of [0, 8, 16]) await ledger.append(nodeId, [entry({ labels: { tags: tagsOf(first) } })])
    await ledger.append(nodeId, [entry({ labels: { tags: { 'key-0': 'x', 'key-99': 'y' } } })])
    assert.equal((await tagKeys(stores.database, ALL)).length, MAX_TAG_KEYS)
    assert.equal((await leftOutTags(stores.database, ALL, stores.clock.nowMs())).nano, 400n)
    assert.deepEqual(amounts(await tableBy(stores, 'tag:key-0')), {
      x: 400n,
      '(overflow)': 0n,
      '(none)': 400n,
    })
    assert.deepEqual((await reconciler.reconcile('all')).differences, [])
  })

  test(`${name}: the day after, a project has room again, and a request of before counts in its own day`, async () => {
    const stores = await open()
    const { ledger, nodeId, entry, clock } = stores
    await ledger.append(
      nodeId,
      Array.from({ length: MAX_LABEL_VALUES }, (_, index) => entry({ labels: { user: `user-${index}` } })),
    )
    const late = entry({ labels: { user: 'late' }, amountNanoUsd: 1n })
    clock.ms += DAY_MS
    await ledger.append(nodeId, [late, entry({ labels: { user: 'new' }, amountNanoUsd: 2n })])
    assert.equal(amounts(await tableBy(stores, 'user'))['(overflow)'], 1n)
    const next = { fromMs: ALL.endMs, endMs: ALL.endMs + DAY_MS }
    assert.deepEqual(amounts(await tableBy(stores, 'user', next)), {
      new: 2n,
      '(overflow)': 0n,
      '(none)': 0n,
    })
  })

  test(`${name}: the longest user that is accepted has a row`, async () => {
    const stores = await open()
    const { ledger, nodeId, entry } = stores
    const user = Array.from({ length: 512 }, (_, at) =>
      String.fromCodePoint(0x4e00 + ((at * 7919) % 20_000)),
    ).join('')
    await ledger.append(nodeId, [entry({ labels: { user, tags: { ['k'.repeat(64)]: '字'.repeat(128) } } })])
    assert.equal(amounts(await tableBy(stores, 'user'))[user], 200n)
  })

  test(`${name}: a changed sum is found`, async () => {
    const stores = await open()
    await stores.ledger.append(stores.nodeId, [stores.entry({ labels: { user: 'alice' } })])
    await stores.rows('UPDATE usage_label_hours SET amount_nano = amount_nano + 1')
    const { differences } = await stores.reconciler.reconcile(1)
    assert.deepEqual(
      differences.map(({ project, label }) => [project, label]),
      [['search', 'user']],
    )
  })

  const someLabels = fc.record(
    {
      user: fc.nat(6).map((number) => `user-${MAX_LABEL_VALUES - 4 + number}`),
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
    const stores = await open()
    const { ledger, nodeId, entry, reconciler } = stores
    await ledger.append(
      nodeId,
      Array.from({ length: MAX_LABEL_VALUES - 2 }, (_, index) =>
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
        const expected = await ledgerOf(stores)
        for (const by of ['user', 'tag:team', 'tag:job'] as const)
          assert.deepEqual(whole(await tableBy(stores, by)), expected, by)
        assert.ok((await tableBy(stores, 'user')).cells.length <= MAX_LABEL_VALUES)
      }),
      runs(8),
    )
    assert.deepEqual((await reconciler.reconcile('all')).differences, [])
  })
}
