/** What every `LedgerStore` promises, wherever the ledger is kept. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { windowOf } from '#core/money/budget.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import { NodeEnded } from '#ports/ledger.ts'
import { runs } from '#test/support/arbitraries.ts'
import {
  aNode,
  anEntry,
  aProject,
  nextId,
  requestIdAt,
  sharedLedger,
  sumsOf,
  type OpenLedger,
  type OpenDatabaseLedger,
} from './open-ledger.ts'

/** The rollups and the entries agree, and both are as expected. */
async function assertSpent({ inspect }: OpenLedger, project: string, amountNanoUsd: bigint): Promise<void> {
  const sums = sumsOf(await inspect.entries(project))
  assert.equal(sums.amountNanoUsd, amountNanoUsd)
  assert.deepEqual(await inspect.rollups(project), sums)
}

async function kindsOf({ inspect }: OpenLedger, project: string): Promise<string[]> {
  return (await inspect.entries(project)).map(({ kind }) => kind).toSorted()
}

/** Entries of one attempt: its reservation, its actual cost, and that it was not paid. */
function anAttempt(project: string): Record<'unknown' | 'post' | 'void', LedgerEntry> {
  const unknown = anEntry(project, { kind: 'unknown', amountNanoUsd: 250n, images: 3 })
  return {
    unknown,
    post: { ...unknown, kind: 'post', usage: 'upstream', amountNanoUsd: 100n, tokens: 7, images: 2 },
    void: { ...unknown, kind: 'void', amountNanoUsd: 0n, images: 0 },
  }
}

export function ledgerStoreSuite(name: string, open: () => Promise<OpenDatabaseLedger>): void {
  const shared = sharedLedger(open)

  test(`${name}: an entry counts once, however often it is sent`, async () => {
    const stores = await shared()
    const [node, project] = [await aNode(stores), aProject()]
    const entries = [1n, 20n, 300n].map((amountNanoUsd) => anEntry(project, { amountNanoUsd }))
    await stores.ledger.append(node, [...entries, ...entries])
    await stores.ledger.append(node, entries.toReversed())
    await stores.ledger.appendLate(node, [...entries, ...entries])
    await assertSpent(stores, project, 321n)
  })

  test(`${name}: a request counts once, whatever becomes of its unknown, and what the cache saved is kept`, async () => {
    const stores = await shared()
    const [node, project] = [await aNode(stores), aProject()]
    const { unknown, post } = anAttempt(project)
    const cached = anEntry(project, { tokens: 0, amountNanoUsd: 0n, hits: 12, savedNanoUsd: 480n })
    await stores.ledger.append(node, [unknown, cached])
    const open = await stores.inspect.rollups(project)
    assert.deepEqual([open.requests, open.hits, open.savedNanoUsd, open.unknownNanoUsd], [2, 12, 480n, 250n])
    await stores.ledger.appendLate(node, [post])
    const { requests, unknownNanoUsd, amountNanoUsd } = await stores.inspect.rollups(project)
    assert.deepEqual([requests, unknownNanoUsd, amountNanoUsd], [2, 0n, 100n])
  })

  test(`${name}: an entry that several send at once counts once`, async () => {
    const stores = await shared()
    const project = aProject()
    const nodes = await Promise.all(Array.from({ length: 4 }, () => aNode(stores)))
    const entries = Array.from({ length: 32 }, () => anEntry(project))
    await Promise.all(
      nodes.flatMap((node, index) => {
        const turned = [...entries.slice(index * 8), ...entries.slice(0, index * 8)]
        return [stores.ledger.append(node, turned), stores.ledger.appendLate(node, turned.toReversed())]
      }),
    )
    await assertSpent(stores, project, 3200n)
  })

  test(`${name}: rollups are the sums of the ledger after any mix, a fifth of it repeated`, async () => {
    const stores = await shared()
    const node = await aNode(stores)
    await fc.assert(
      fc.asyncProperty(mix, async (batches) => {
        const project = aProject()
        const [append, attempts] = [new Map<string, LedgerEntry>(), batches.flat()]
        const entriesOf = (batch: (typeof batches)[number]): LedgerEntry[] =>
          batch.map((drawn) => {
            const entry = anEntry(project, { keyId: `${project}/${drawn.key}`, ...drawn.entry })
            const sent = drawn.repeats === undefined ? undefined : [...append.values()].at(drawn.repeats)
            append.set((sent ?? entry).requestId, sent ?? entry)
            return sent ?? entry
          })
        for (const batch of batches) await stores.ledger.append(node, entriesOf(batch))
        const sums = sumsOf(await stores.inspect.entries(project))
        assert.deepEqual(await stores.inspect.rollups(project), sums)
        const expected = [...append.values()].reduce(
          (sum, { amountNanoUsd }) => sum + (amountNanoUsd ?? 0n),
          0n,
        )
        assert.equal(sums.amountNanoUsd, expected)
        assert.ok(append.size <= attempts.length)
      }),
      runs(12),
    )
  })

  for (const [guarantee, order, amountNanoUsd, unknowns] of ORDERS) {
    test(`${name}: ${guarantee}`, async () => {
      const stores = await shared()
      const [node, project] = [await aNode(stores), aProject()]
      const attempt = anAttempt(project)
      for (const kind of order) await stores.ledger.appendLate(node, [attempt[kind]])
      await assertSpent(stores, project, amountNanoUsd)
      assert.equal((await stores.inspect.rollups(project)).unknowns, unknowns)
      // All at once give the same result as one after another.
      const [together, again] = [aProject(), aProject()]
      const [batch, replayed] = [anAttempt(together), anAttempt(again)]
      await stores.ledger.appendLate(
        node,
        order.map((kind) => batch[kind]),
      )
      await assertSpent(stores, together, amountNanoUsd)
      for (let time = 0; time < 2; time += 1)
        await stores.ledger.appendLate(
          node,
          order.map((kind) => replayed[kind]),
        )
      await assertSpent(stores, again, amountNanoUsd)
    })
  }

  test(`${name}: two nodes write about one image call: whichever comes first, it is counted once`, async () => {
    const stores = await shared()
    const [two, three] = [await aNode(stores), await aNode(stores)]
    for (const [first, second] of [
      ['post', 'unknown'],
      ['unknown', 'post'],
    ] as const)
      for (const how of ['append', 'appendLate'] as const) {
        const project = aProject()
        const attempt = anAttempt(project)
        await stores.ledger[how](three, [attempt[first]])
        // With others, and twice: a batch holds everything that its node did.
        const other = anEntry(project, { amountNanoUsd: 7n })
        for (let time = 0; time < 2; time += 1)
          await stores.ledger.append(two, [other, attempt[second], attempt[second]])
        await assertSpent(stores, project, 107n)
        const { unknowns, images } = await stores.inspect.rollups(project)
        assert.deepEqual([unknowns, images], [0, 2])
      }
  })

  test(`${name}: images and tokens of a late entry are counted once as well`, async () => {
    const stores = await shared()
    const [node, project] = [await aNode(stores), aProject()]
    const attempt = anAttempt(project)
    await stores.ledger.appendLate(node, [attempt.unknown])
    assert.deepEqual(await stores.inspect.rollups(project), sumsOf(await stores.inspect.entries(project)))
    await stores.ledger.appendLate(node, [attempt.post])
    const { images, tokens, posts } = await stores.inspect.rollups(project)
    assert.deepEqual({ images, tokens, posts }, { images: 2, tokens: 7, posts: 1 })
  })

  test(`${name}: an unknown is resolved by what it cost after all`, async () => {
    const stores = await shared()
    const [node, project] = [await aNode(stores), aProject()]
    const resolve = async (resolution: { kind: 'post' | 'void'; costNanoUsd?: bigint }): Promise<string> => {
      const { unknown } = anAttempt(project)
      await stores.ledger.append(node, [unknown])
      const { requestId, attempt } = unknown
      const asked = { requestId, attempt, actor: { kind: 'member', name: 'ada' } as const, ...resolution }
      assert.equal(await stores.ledger.resolveUnknown(asked), true)
      for (const kind of ['post', 'void'] as const)
        assert.equal(await stores.ledger.resolveUnknown({ ...asked, kind, costNanoUsd: 7n }), false)
      return requestId
    }
    await resolve({ kind: 'post', costNanoUsd: 40n })
    await assertSpent(stores, project, 40n)
    await resolve({ kind: 'post' })
    await assertSpent(stores, project, 290n)
    await resolve({ kind: 'void' })
    await assertSpent(stores, project, 290n)
    assert.equal((await stores.inspect.rollups(project)).images, 6)
    const last = await resolve({ kind: 'post', costNanoUsd: 1000n })
    await assertSpent(stores, project, 1290n)
    const audit = await stores.database.query('SELECT actor, action FROM audit WHERE target = $1', [
      `${last}/0`,
    ])
    assert.deepEqual(audit, [{ actor: 'ada', action: 'unknown.post' }])
  })

  test(`${name}: a call that does not exist, or that is not unknown, can't be resolved`, async () => {
    const stores = await shared()
    const [node, project] = [await aNode(stores), aProject()]
    const posted = anEntry(project)
    await stores.ledger.append(node, [posted])
    for (const requestId of [posted.requestId, nextId()]) {
      const resolution = {
        requestId,
        attempt: 0,
        kind: 'void' as const,
        actor: { kind: 'member', name: 'ada' } as const,
      }
      assert.equal(await stores.ledger.resolveUnknown(resolution), false)
    }
    await assertSpent(stores, project, 100n)
  })

  test(`${name}: of two who resolve an unknown at once one wins`, async () => {
    const stores = await shared()
    const node = await aNode(stores)
    for (let time = 0; time < 10; time += 1) {
      const project = aProject()
      const { unknown } = anAttempt(project)
      await stores.ledger.append(node, [unknown])
      const ask = (kind: 'post' | 'void'): Promise<boolean> =>
        stores.ledger.resolveUnknown({
          ...unknown,
          kind,
          costNanoUsd: 40n,
          actor: { kind: 'member', name: 'ada' },
        })
      const won = await Promise.all([ask('post'), ask('void'), ask('post'), ask('void')])
      assert.equal(won.filter(Boolean).length, 1)
      await assertSpent(stores, project, won[0] || won[2] ? 40n : 0n)
      assert.equal((await stores.inspect.rollups(project)).unknowns, 0)
    }
  })

  test(`${name}: what a node knew after all counts, even if an operator voids the call at that moment`, async () => {
    const stores = await shared()
    const node = await aNode(stores)
    for (let time = 0; time < 10; time += 1) {
      const project = aProject()
      const { unknown, post } = anAttempt(project)
      await stores.ledger.append(node, [unknown])
      await Promise.all([
        stores.ledger.resolveUnknown({ ...unknown, kind: 'void', actor: { kind: 'member', name: 'ada' } }),
        stores.ledger.appendLate(node, [post]),
      ])
      await assertSpent(stores, project, 100n)
      assert.equal((await stores.inspect.rollups(project)).unknowns, 0)
    }
  })

  test(`${name}: nothing is taken in the name of a node that has been ended`, async () => {
    const stores = await shared()
    const [node, project] = [await aNode(stores), aProject()]
    await stores.ledger.append(node, [anEntry(project)])
    await stores.ledger.endNode(node, [])
    await assert.rejects(stores.ledger.append(node, [anEntry(project)]), NodeEnded)
    await assert.rejects(stores.ledger.heartbeat(node), NodeEnded)
    await stores.ledger.startNode({ id: node, host: 'test', version: '0' })
    await assert.rejects(stores.ledger.append(node, [anEntry(project)]), NodeEnded)
    await assertSpent(stores, project, 100n)
    await assert.rejects(stores.ledger.append(nextId(), [anEntry(project)]), NodeEnded)
  })

  test(`${name}: a call that a dead node left open becomes an unknown, unless its end is known`, async () => {
    const stores = await shared()
    const [node, project] = [await aNode(stores), aProject()]
    const [open, ended, forgotten] = [anAttempt(project), anAttempt(project), anAttempt(project)]
    await stores.ledger.append(node, [ended.post])
    for (let time = 0; time < 2; time += 1)
      await stores.ledger.endNode(node, [open.unknown, ended.unknown, open.unknown])
    assert.deepEqual(await kindsOf(stores, project), ['post', 'unknown'])
    await assertSpent(stores, project, 350n)
    await stores.ledger.appendLate(node, [open.post, forgotten.post])
    await assertSpent(stores, project, 300n)
  })

  test(`${name}: an unknown that comes after another node's entry for its call adds nothing`, async () => {
    const stores = await shared()
    const [holder, next, project] = [await aNode(stores), await aNode(stores), aProject()]
    const [posted, voided] = [anAttempt(project), anAttempt(project)]
    const budget = { id: `project:${project}`, limitNanoUsd: 1000n, per: 'total', hard: true } as const
    const window = windowOf(budget.per, Date.now())
    const question = {
      budget,
      window,
      nodeId: holder,
      operation: nextId(),
      neededNanoUsd: 700n,
      liveNodes: 9,
    }
    await stores.budgets.lease(question)
    const leased = (unknown: LedgerEntry): LedgerEntry => ({ ...unknown, projectLeaseNanoUsd: 250n })
    await stores.ledger.appendLate(next, [posted.post, voided.void])
    const late = [leased(posted.unknown), leased(voided.unknown)]
    // Sent again after a lost answer, it still uses up its lease once.
    for (let time = 0; time < 2; time += 1) await stores.ledger.append(holder, late)
    await assertSpent(stores, project, 100n)
    assert.deepEqual(await stores.inspect.rollups(project), sumsOf(await stores.inspect.entries(project)))
    const state = { limitNanoUsd: 1000n, spentNanoUsd: 100n, leasedNanoUsd: 200n }
    assert.deepEqual(await stores.inspect.budgetState(budget.id, window), state)
    const ours = (await stores.ledger.openUnknowns({ limit: 1000 })).filter((one) => one.project === project)
    assert.deepEqual(ours, [])
  })

  test(`${name}: a call that two nodes tell of at the same moment counts once`, async () => {
    const stores = await shared()
    const [holder, next, project] = [await aNode(stores), await aNode(stores), aProject()]
    const attempts = Array.from({ length: 20 }, () => anAttempt(project))
    await Promise.all(
      attempts.flatMap(({ post, unknown }) => [
        stores.ledger.append(holder, [unknown]),
        stores.ledger.appendLate(next, [post]),
      ]),
    )
    await assertSpent(stores, project, 2000n)
  })

  test(`${name}: the leases of a node come home when it is ended`, async () => {
    const stores = await shared()
    const [node, other, project] = [await aNode(stores), await aNode(stores), aProject()]
    const budget = { id: `project:${project}`, limitNanoUsd: 1000n, per: 'total', hard: true } as const
    const window = windowOf(budget.per, Date.now())
    for (const nodeId of [node, other]) {
      const question = { budget, window, nodeId, operation: nextId(), neededNanoUsd: 300n, liveNodes: 2 }
      await stores.budgets.lease(question)
    }
    const { unknown } = anAttempt(project)
    await stores.ledger.endNode(node, [{ ...unknown, projectLeaseNanoUsd: 250n }])
    const state = { limitNanoUsd: 1000n, spentNanoUsd: 250n, leasedNanoUsd: 300n }
    assert.deepEqual(await stores.inspect.budgetState(budget.id, window), state)
    await stores.ledger.endNode(node, [{ ...unknown, projectLeaseNanoUsd: 250n }])
    assert.deepEqual(await stores.inspect.budgetState(budget.id, window), state)
  })

  test(`${name}: open unknowns come oldest first, page by page, each once`, async () => {
    const stores = await shared()
    const [node, project] = [await aNode(stores), aProject()]
    // Later than those of all other tests.
    const [start, ...requests] = Array.from({ length: 5 }, () => requestIdAt(LAST_MS)).toSorted()
    const unknowns = requests.flatMap((requestId) =>
      [0, 1, 2].map((attempt) => anEntry(project, { requestId, attempt, kind: 'unknown' })),
    )
    await stores.ledger.append(node, unknowns.toReversed())
    const [resolved, voided] = [unknowns[4] as LedgerEntry, unknowns[11] as LedgerEntry]
    await stores.ledger.appendLate(node, [{ ...resolved, kind: 'post' }])
    await stores.ledger.resolveUnknown({ ...voided, kind: 'void', actor: { kind: 'member', name: 'ada' } })
    const expected = unknowns.filter((unknown) => unknown !== resolved && unknown !== voided)
    for (const limit of [1, 2, 3, 100]) {
      const seen: LedgerEntry[] = []
      for (;;) {
        const after = seen.at(-1) ?? { requestId: start as string, attempt: 0 }
        const page = await stores.ledger.openUnknowns({ limit, after })
        assert.ok(page.length <= limit)
        if (page.length === 0) break
        seen.push(...page)
      }
      assert.deepEqual(seen.map(identityOf), expected.map(identityOf))
    }
    const [first] = await stores.ledger.openUnknowns({ limit: 1 })
    assert.ok((first?.requestId ?? '') < (start as string))
    assert.ok(Math.abs((first?.writtenAtMs ?? 0) - Date.now()) < 60_000)
    assert.equal(first?.kind, 'unknown')
  })

  test(`${name}: a heartbeat tells how many nodes live`, async () => {
    const stores = await shared()
    // The nodes of other tests have been silent for long.
    await stores.database.query(`UPDATE nodes SET seen_at = now() - interval '6 seconds'`)
    const [first, second, third] = [await aNode(stores), await aNode(stores), await aNode(stores)]
    const liveNodes = async (node: string): Promise<number> => (await stores.ledger.heartbeat(node)).liveNodes
    assert.equal(await liveNodes(first), 3)
    await stores.ledger.endNode(second, [])
    assert.equal(await liveNodes(first), 2)
    assert.equal(await liveNodes(third), 2)
  })

  test(`${name}: a heartbeat tells the time of the store, so that a wrong clock is seen`, async () => {
    const stores = await shared()
    const node = await aNode(stores)
    const { storeNowMs } = await stores.ledger.heartbeat(node)
    // Both clocks are of this machine: a minute covers any delay of the test.
    assert.ok(Math.abs(storeNowMs - Date.now()) < 60_000)
  })

  test(`${name}: names of any shape are kept as they are`, async () => {
    const stores = await shared()
    const node = await aNode(stores)
    const names = ['', 'NULL', '{}', ',', '"', '\\', '\\"', "it's", 'é漢😀', 'a\nb\tc', '  ', '$1', '{"a":1}']
    for (const odd of names) {
      const project = `${aProject()}${odd}`
      const entry = anEntry(project, { model: odd, deployment: `${odd}/${odd}`, keyId: `${project}/${odd}` })
      await stores.ledger.append(node, [entry, anEntry(project, { model: odd, kind: 'unknown' })])
      await assertSpent(stores, project, 200n)
      assert.equal((await stores.inspect.entries(project)).length, 2)
    }
  })

  test(`${name}: what has no price adds nothing and stays without one`, async () => {
    const stores = await shared()
    const [node, project] = [await aNode(stores), aProject()]
    const unpriced = anEntry(project, { amountNanoUsd: undefined, tokens: undefined })
    await stores.ledger.append(node, [unpriced, anEntry(project, { amountNanoUsd: 5n })])
    await assertSpent(stores, project, 5n)
    const kept = (await stores.inspect.entries(project)).find(
      ({ requestId }) => requestId === unpriced.requestId,
    )
    assert.deepEqual([kept?.amountNanoUsd, kept?.tokens], [undefined, undefined])
  })
}

const LAST_MS = Date.UTC(2099, 11, 31)

/**
 * The order in which the entries of one attempt arrive, what is spent then (reserved 250, cost 100), and whether an unknown
 * is left.
 */
const ORDERS: readonly [string, readonly ('unknown' | 'post' | 'void')[], bigint, number][] = [
  ['a post after an unknown adds the difference', ['unknown', 'post'], 100n, 0],
  ['an unknown after a post adds nothing', ['post', 'unknown'], 100n, 0],
  ['a void after an unknown takes it back', ['unknown', 'void'], 0n, 0],
  ['an unknown after a void adds nothing', ['void', 'unknown'], 0n, 0],
  ['a void after a post is ignored', ['post', 'void'], 100n, 0],
  ['a post after a void counts', ['void', 'post'], 100n, 0],
  ['a post after a voided unknown counts', ['unknown', 'void', 'post'], 100n, 0],
  ['a void after a posted unknown is ignored', ['unknown', 'post', 'void'], 100n, 0],
  ['an unknown stays open until it is resolved', ['unknown', 'unknown'], 250n, 1],
]

const mix = fc.array(
  fc.array(
    fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      /** The index of an earlier entry that is sent again. */
      repeats: fc.option(fc.nat(200), { nil: undefined, freq: 4 }),
      entry: fc.record({
        attempt: fc.nat(3),
        kind: fc.constantFrom('post' as const, 'unknown' as const, 'adjust' as const),
        model: fc.constantFrom('small', 'large'),
        tokens: fc.option(fc.nat(100_000), { nil: undefined }),
        images: fc.nat(3),
        amountNanoUsd: fc.option(fc.bigInt({ min: 0n, max: 10n ** 12n }), { nil: undefined }),
      }),
    }),
    { minLength: 1, maxLength: 40 },
  ),
  { minLength: 1, maxLength: 5 },
)

function identityOf({ requestId, attempt }: LedgerEntry): string {
  return `${requestId}/${attempt}`
}
