/** What the reconciler promises: it finds every difference, invents none, and fixes budgets without disturbing anyone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endNode, listNodes } from '#control/nodes/queries.ts'
import { windowOf, type Budget } from '#core/money/budget.ts'
import { decimalOf } from '#core/money/price.ts'
import { LEDGER_NOW_MS, DAY_MS, type LedgerStores } from '#test/support/ledger-stores.ts'

const NOTHING = {
  posts: 0,
  tokens: 0,
  images: 0,
  amountNanoUsd: 0n,
  requests: 0,
  hits: 0,
  savedNanoUsd: 0n,
  unknownNanoUsd: 0n,
}

export function reconcilerSuite(name: string, open: () => Promise<LedgerStores>): void {
  const budget: Budget = { id: 'project:search', limitNanoUsd: 100_000n, per: 'month', hard: true }
  const window = windowOf('month', LEDGER_NOW_MS)

  /** Leases from the budget and spends 200 of it. */
  async function spend({ budgets, ledger, nodeId, identifiers, entry }: LedgerStores): Promise<void> {
    const question = { budget, window, nodeId, operation: identifiers.next(), liveNodes: 1 }
    await budgets.lease({ ...question, neededNanoUsd: 1000n })
    await ledger.append(nodeId, [entry({ projectLeaseNanoUsd: 200n })])
  }
  const budgetRow = async ({ rows }: LedgerStores) =>
    (
      await rows<{ spent: number; leased: number }>(
        'SELECT spent_nano::integer AS spent, leased_nano::integer AS leased FROM budgets',
      )
    )[0]

  test(`${name}: a ledger that agrees has no difference, and nothing changes`, async () => {
    const stores = await open()
    const { ledger, nodeId, entry, clock, reconciler, audit } = stores
    assert.deepEqual(await reconciler.reconcile('all'), {
      entries: 0,
      differences: [],
      budgetsCompared: 0,
      budgetsCorrected: [],
    })
    await spend(stores)
    const unknown = entry({ kind: 'unknown', tokens: undefined, amountNanoUsd: 700n, images: 2 })
    await ledger.append(nodeId, [unknown, entry({ amountNanoUsd: undefined }), entry({ project: 'chat' })])
    await ledger.appendLate(nodeId, [{ ...unknown, kind: 'post', tokens: 5, amountNanoUsd: 400n }])
    clock.ms = LEDGER_NOW_MS - 50 * DAY_MS
    await ledger.append(nodeId, [entry(), entry()])
    clock.ms = LEDGER_NOW_MS
    const whole = { entries: 7, differences: [], budgetsCompared: 1, budgetsCorrected: [] }
    assert.deepEqual(await reconciler.reconcile('all'), whole)
    assert.deepEqual(await reconciler.reconcile(2), { ...whole, entries: 5 })
    assert.deepEqual(await audit.list({ limit: 1 }), [])
  })

  test(`${name}: an entry without its rollup, a rollup without its entry and a changed sum are found, wherever they lie`, async () => {
    const { ledger, nodeId, entry, clock, reconciler, tamper } = await open()
    const momentsMs = [0, 3, 40, 400].map((daysAgo) => LEDGER_NOW_MS - daysAgo * DAY_MS)
    for (const atMs of momentsMs) {
      clock.ms = atMs
      await ledger.append(nodeId, [entry({ project: `p${momentsMs.indexOf(atMs)}` })])
    }
    clock.ms = LEDGER_NOW_MS
    await tamper(`DELETE FROM usage_events WHERE project = 'p1'`)
    await tamper(`DELETE FROM usage_hours WHERE project = 'p2'`)
    await tamper(`UPDATE usage_events SET amount_nano = 201 WHERE project = 'p3'`)
    const sums = { ...NOTHING, posts: 1, tokens: 10, amountNanoUsd: 200n }
    const { differences } = await reconciler.reconcile('all')
    assert.deepEqual(
      differences.map(({ project, ledger: left, rollup }) => [project, left, rollup]),
      [
        ['p3', { ...sums, amountNanoUsd: 201n }, sums],
        ['p2', sums, NOTHING],
        ['p1', NOTHING, sums],
      ],
    )
    assert.deepEqual((await reconciler.reconcile(2)).differences, [], 'the last hours are in order')
    assert.equal((await reconciler.reconcile(3 * 24 + 1)).differences.length, 1)
  })

  test(`${name}: a changed count of requests or hits and a changed sum of savings or unknowns are found`, async () => {
    const { ledger, nodeId, entry, reconciler, tamper } = await open()
    await ledger.append(nodeId, [
      entry({ countsRequest: true, hits: 3, savedNanoUsd: 30n }),
      entry({ kind: 'unknown', amountNanoUsd: 70n }),
    ])
    for (const column of ['requests', 'hits', 'saved_nano', 'unknown_nano']) {
      assert.deepEqual((await reconciler.reconcile(2)).differences, [])
      await tamper(`UPDATE usage_hours SET ${column} = ${column} + 1`)
      assert.equal((await reconciler.reconcile(2)).differences.length, 1, column)
      await tamper(`UPDATE usage_hours SET ${column} = ${column} - 1`)
    }
  })

  test(`${name}: sums that cancel each other out between hours are found`, async () => {
    const { ledger, nodeId, entry, reconciler, tamper } = await open()
    await ledger.append(nodeId, [entry()])
    await tamper(`UPDATE usage_hours SET hour = hour - interval '1 hour'`)
    assert.equal((await reconciler.reconcile('all')).differences.length, 2)
  })

  test(`${name}: a budget that says something else than the ledger is corrected, once, and in the audit`, async () => {
    const stores = await open()
    const { reconciler, audit, database } = stores
    await spend(stores)
    const right = await budgetRow(stores)
    assert.equal(right?.spent, 200)
    await database.query('UPDATE budgets SET spent_nano = 150, leased_nano = leased_nano + 7')
    const { budgetsCorrected } = await reconciler.reconcile(2)
    assert.deepEqual(budgetsCorrected, [
      {
        budgetId: 'project:search',
        windowStartMs: window.startMs,
        spentNanoUsd: { before: 150n, after: 200n },
        leasedNanoUsd: { before: BigInt(right?.leased ?? 0) + 7n, after: BigInt(right?.leased ?? 0) },
      },
    ])
    assert.deepEqual(await budgetRow(stores), right)
    assert.deepEqual((await reconciler.reconcile(2)).budgetsCorrected, [])
    const entries = await audit.list({ limit: 10 })
    assert.deepEqual(
      entries.map(({ actor, action, target }) => [actor, action, target]),
      [['system', 'budget.correct', 'project:search']],
    )
  })

  test(`${name}: budgets of keys are compared by their keys, and each with its own window`, async () => {
    const { budgets, ledger, nodeId, identifiers, entry, clock, reconciler } = await open()
    for (const per of ['day', 'month', 'total'] as const) {
      const key: Budget = { id: 'key:search/ci', limitNanoUsd: 100_000n, per, hard: true }
      const ask = { budget: key, nodeId, operation: identifiers.next(), neededNanoUsd: 0n, liveNodes: 1 }
      await budgets.lease({ ...ask, window: windowOf(per, LEDGER_NOW_MS) })
    }
    for (const daysAgo of [0, 1, 50]) {
      clock.ms = LEDGER_NOW_MS - daysAgo * DAY_MS
      await ledger.append(nodeId, [entry(), entry({ keyId: 'search/other' })])
    }
    clock.ms = LEDGER_NOW_MS
    const { budgetsCompared, budgetsCorrected } = await reconciler.reconcile('all')
    assert.deepEqual([budgetsCompared, budgetsCorrected], [3, []])
  })

  test(`${name}: the figures show unknowns, nodes, budgets and money that no request can use`, async () => {
    const stores = await open()
    const { ledger, nodeId, entry, identifiers, budgets, database, keys, reconciler } = stores
    const nothing = { open: 0, amountNanoUsd: 0n, oldestAtMs: undefined }
    assert.deepEqual((await reconciler.figures()).unknowns, nothing)
    const unknown = entry({ kind: 'unknown', tokens: undefined, amountNanoUsd: 700n })
    await ledger.append(nodeId, [unknown, entry({ kind: 'unknown', tokens: undefined, amountNanoUsd: 50n })])
    await ledger.resolveUnknown({
      requestId: unknown.requestId,
      attempt: 0,
      kind: 'void',
      actor: { kind: 'member', name: 'tester' },
    })
    const lost = identifiers.next()
    await ledger.startNode({ id: lost, host: 'there', version: '1.0.0' })
    // The budget counts by the clock of the database here: its window must be the one of now.
    const now = {
      budget: { ...budget, id: 'project:x' },
      window: windowOf('month', Date.now()),
      liveNodes: 1,
    }
    await budgets.lease({ ...now, nodeId: lost, operation: identifiers.next(), neededNanoUsd: 30_000n })
    await budgets.lease({ ...now, nodeId, operation: identifiers.next(), neededNanoUsd: 1000n })
    await database.query(`UPDATE nodes SET seen_at = now() - interval '61 seconds' WHERE node_id = $1`, [
      lost,
    ])
    await keys.createProject('old', {}, { kind: 'member', name: 'tester' })
    await keys.deleteProject('old', { kind: 'member', name: 'tester' })

    const figures = await reconciler.figures()
    assert.deepEqual([figures.unknowns.open, figures.unknowns.amountNanoUsd], [1, 50n])
    assert.ok(Math.abs((figures.unknowns.oldestAtMs ?? 0) - Date.now()) < 60_000)
    assert.deepEqual(figures.nodes, { alive: 1, silent: 1 })
    assert.deepEqual(figures.lostLeases, [{ nodeId: lost, amountNanoUsd: 30_000n }])
    const [held] = figures.budgets
    assert.deepEqual(
      [figures.budgets.length, held?.budgetId, held?.limitNanoUsd, held?.spentNanoUsd],
      [1, 'project:x', 100_000n, 0n],
    )
    assert.ok((held?.leasedNanoUsd ?? 0n) > 30_000n)
    assert.equal(figures.deletedProjects, 1)
  })

  test(`${name}: a lost node is ended: its money comes home, and nothing is taken in its name`, async () => {
    const stores = await open()
    const { ledger, nodeId, entry, audit, database } = stores
    await spend(stores)
    const held = BigInt((await budgetRow(stores))?.leased ?? 0)
    assert.ok(held > 0n)
    const end = { force: false, actor: { kind: 'member', name: 'tester' } } as const
    assert.deepEqual(await endNode(database, nodeId, end), { kind: 'alive' })
    assert.equal((await listNodes(database))[0]?.leased_usd, decimalOf(held))
    await database.query(`UPDATE nodes SET seen_at = now() - interval '61 seconds'`)
    assert.equal((await listNodes(database))[0]?.state, 'silent')
    assert.deepEqual(await endNode(database, nodeId, end), { kind: 'ended', returnedNanoUsd: held })
    assert.deepEqual(await budgetRow(stores), { spent: 200, leased: 0 })
    assert.equal((await listNodes(database))[0]?.state, 'ended')
    assert.deepEqual(await endNode(database, nodeId, end), { kind: 'ended-before' })
    assert.deepEqual(await endNode(database, '01890000-0000-7000-8000-000000000000', end), {
      kind: 'missing',
    })
    await assert.rejects(ledger.append(nodeId, [entry()]), { name: 'NodeEnded' })
    const entries = await audit.list({ limit: 10 })
    assert.deepEqual(
      entries.map(({ actor, action, target }) => [actor, action, target]),
      [['tester', 'node.end', nodeId]],
    )
  })

  test(`${name}: a living node is ended only by force`, async () => {
    const { nodeId, database } = await open()
    assert.equal(
      (await endNode(database, nodeId, { force: true, actor: { kind: 'member', name: 'tester' } })).kind,
      'ended',
    )
  })
}
