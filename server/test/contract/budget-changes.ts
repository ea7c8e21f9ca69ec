/** What every `BudgetStore` promises when the period of a budget changes while money is leased from it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { windowOf, type Budget, type BudgetPeriod } from '#core/money/budget.ts'
import type { LeaseQuestion } from '#ports/budgets.ts'
import { aNode, anEntry, aProject, nextId, requestIdAt, type OpenLedger } from './open-ledger.ts'

const DAY_MS = 86_400_000
/** A Tuesday of last week and the Monday before it: windows of weeks and of its day begin at the same moment. */
const MONDAY_MS = windowOf('week', Date.now()).startMs - 7 * DAY_MS
const TUESDAY_MS = MONDAY_MS + DAY_MS

export function budgetChangesSuite(name: string, shared: () => Promise<OpenLedger>): void {
  test(`${name}: what is leased from a window counts in every other that shares a moment with it`, async () => {
    const stores = await shared()
    const [first, second, project] = [await aNode(stores), await aNode(stores), aProject()]
    assert.equal(await granted(stores, ask(project, first, 'day', 60n)), 60n)
    // It is a month now. Requests of the first node run under the day.
    assert.equal(await granted(stores, ask(project, second, 'month', 41n)), 0n)
    assert.equal(await granted(stores, ask(project, second, 'month', 40n)), 40n)
    assert.equal(await granted(stores, ask(project, first, 'total', 1n)), 0n)
    // Of another day nothing is in this one.
    assert.equal(await granted(stores, ask(project, first, 'day', 100n, TUESDAY_MS + DAY_MS)), 0n)
    assert.equal(await granted(stores, ask(project, first, 'day', 60n, TUESDAY_MS + DAY_MS)), 60n)
  })

  test(`${name}: a node leases from a new window once nothing of the earlier one is out`, async () => {
    const stores = await shared()
    const [node, project] = [await aNode(stores), aProject()]
    const question = ask(project, node, 'day', 30n)
    assert.equal(await granted(stores, question), 30n)
    assert.equal(await granted(stores, ask(project, node, 'month', 1n)), 0n)
    const requestId = requestIdAt(TUESDAY_MS)
    await stores.ledger.append(node, [
      anEntry(project, { requestId, amountNanoUsd: 20n, projectLeaseNanoUsd: 20n }),
    ])
    assert.equal(await granted(stores, ask(project, node, 'month', 1n)), 0n)
    const { budget, window } = question
    const giving = { budgetId: budget.id, window, nodeId: node, operation: nextId(), amountNanoUsd: 10n }
    await stores.budgets.giveBack(giving)
    assert.equal(await granted(stores, ask(project, node, 'month', 81n)), 0n)
    assert.equal(await granted(stores, ask(project, node, 'month', 80n)), 80n)
  })

  test(`${name}: of two periods that begin at the same moment, the one asked about says what counts`, async () => {
    const stores = await shared()
    const [node, project] = [await aNode(stores), aProject()]
    assert.equal(await granted(stores, ask(project, node, 'day', 30n, MONDAY_MS)), 30n)
    const spend = (atMs: number, amountNanoUsd: bigint): Promise<void> =>
      stores.ledger.append(node, [
        anEntry(project, { requestId: requestIdAt(atMs), amountNanoUsd, projectLeaseNanoUsd: amountNanoUsd }),
      ])
    await spend(MONDAY_MS, 30n)
    await spend(TUESDAY_MS, 50n)
    assert.equal(await granted(stores, ask(project, node, 'week', 21n, MONDAY_MS)), 0n)
    assert.equal(await granted(stores, ask(project, node, 'week', 20n, MONDAY_MS)), 20n)
    await spend(TUESDAY_MS, 20n)
    assert.equal(await granted(stores, ask(project, node, 'week', 1n, MONDAY_MS)), 0n)
    assert.equal(await granted(stores, ask(project, node, 'day', 70n, MONDAY_MS)), 70n)
  })

  test(`${name}: a window grows over another once nothing is leased from that one, so that no entry is paid out of two leases`, async () => {
    const stores = await shared()
    const [node, other, project] = [await aNode(stores), await aNode(stores), aProject()]
    const monday = ask(project, node, 'day', 30n, MONDAY_MS)
    assert.equal(await granted(stores, monday), 30n)
    assert.equal(await granted(stores, ask(project, node, 'day', 20n)), 20n)
    // It is a week now, which begins with the Monday whose money is leased.
    assert.equal(await granted(stores, ask(project, other, 'week', 1n)), 0n)
    await stores.ledger.append(node, [
      anEntry(project, {
        requestId: requestIdAt(TUESDAY_MS),
        amountNanoUsd: 20n,
        projectLeaseNanoUsd: 20n,
      }),
    ])
    const { budget, window } = monday
    assert.equal(await stores.inspect.leaseNanoUsd(budget.id, window, node), 30n)
    assert.equal(await granted(stores, ask(project, other, 'week', 51n)), 0n)
    assert.equal(await granted(stores, ask(project, other, 'week', 50n)), 50n)
  })
}

function ask(
  project: string,
  nodeId: string,
  per: BudgetPeriod,
  neededNanoUsd: bigint,
  atMs = TUESDAY_MS,
): LeaseQuestion {
  const budget: Budget = { id: `project:${project}`, limitNanoUsd: 100n, per, hard: true }
  // Enough nodes that no share is larger than what is needed.
  return {
    budget,
    window: windowOf(per, atMs),
    nodeId,
    operation: nextId(),
    neededNanoUsd,
    liveNodes: 1000,
  }
}

async function granted({ budgets }: OpenLedger, question: LeaseQuestion): Promise<bigint> {
  return (await budgets.lease(question)).grantedNanoUsd
}
