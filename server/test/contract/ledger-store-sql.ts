/** Promises of a ledger in SQL to which several connections write at once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { windowOf, type Budget } from '#core/money/budget.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import { NodeEnded } from '#ports/ledger.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { PostgresBudgets } from '#stores/postgres/ledger/budgets.ts'
import { openPostgres } from '#stores/postgres/database.ts'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import {
  aNode,
  anEntry,
  aProject,
  nextId,
  sumsOf,
  type OpenLedger,
  type OpenDatabaseLedger,
} from './open-ledger.ts'

const WRITERS = 8
/** Any number that is the end of a node's id: nodes with the same one share their rollup rows. */
const SAME_SHARD = '0003'

export function sqlLedgerSuite(
  name: string,
  shared: () => Promise<OpenDatabaseLedger>,
  writersMs: number,
): void {
  test(`${name}: rows of the ledger can be neither changed nor deleted`, async () => {
    const stores = await shared()
    const [node, project] = [await aNode(stores), aProject()]
    const entry = anEntry(project)
    await stores.ledger.append(node, [entry])
    for (const statement of [
      'UPDATE usage_events SET amount_nano = 0 WHERE request_id = $1',
      'DELETE FROM usage_events WHERE request_id = $1',
    ])
      await assert.rejects(stores.database.query(statement, [entry.requestId]), /append-only/)
    assert.equal((await stores.inspect.entries(project)).length, 1)
  })

  test(`${name}: a batch with an entry that can't be written is refused as a whole, and not as trouble of the store`, async () => {
    const stores = await shared()
    const [node, project] = [await aNode(stores), aProject()]
    const batch = [anEntry(project), anEntry(project, { amountNanoUsd: 2n ** 63n })]
    const isRefusal = (error: unknown): boolean =>
      !(error instanceof StoreUnreachable) && !(error instanceof NodeEnded)
    for (const how of ['append', 'appendLate'] as const)
      await assert.rejects(stores.ledger[how](node, batch), isRefusal)
    assert.deepEqual(await stores.inspect.entries(project), [])
    assert.equal((await stores.inspect.rollups(project)).amountNanoUsd, 0n)
  })

  test(`${name}: a store that can't be reached is away, and not at fault with what was asked`, async () => {
    const [project, nodeId] = [aProject(), nextId()]
    // No system listens on this reserved port.
    const nowhere = openPostgres('postgres://nobody@127.0.0.1:1/nothing')
    const [ledger, budgets] = [new PostgresLedger(nowhere), new PostgresBudgets(nowhere)]
    const budget: Budget = { id: `project:${project}`, limitNanoUsd: 1n, per: 'day', hard: true }
    const window = windowOf('day', Date.now())
    const lease = { budget, window, nodeId, operation: nextId(), neededNanoUsd: 1n, liveNodes: 1 }
    for (const work of [
      ledger.append(nodeId, [anEntry(project)]),
      ledger.appendLate(nodeId, [anEntry(project)]),
      ledger.endNode(nodeId, []),
      ledger.heartbeat(nodeId),
      ledger.openUnknowns({ limit: 1 }),
      ledger.resolveUnknown({
        requestId: nextId(),
        attempt: 0,
        kind: 'void',
        actor: { kind: 'member', name: 'ada' },
      }),
      budgets.lease(lease),
      budgets.giveBack({ budgetId: budget.id, window, nodeId, operation: nextId(), amountNanoUsd: 1n }),
      budgets.spentNanoUsd([{ budgetId: budget.id, window }]),
    ])
      await assert.rejects(work, StoreUnreachable)
    await nowhere.close()
  })

  test(`${name}: an append and the end of its node never both have their way`, async () => {
    const stores = await shared()
    for (let time = 0; time < 20; time += 1) {
      const [node, project] = [await aNode(stores), aProject()]
      const posts = Array.from({ length: 20 }, () => anEntry(project, { amountNanoUsd: 100n }))
      const unknowns = posts.map((post) => ({ ...post, kind: 'unknown' as const, amountNanoUsd: 250n }))
      const [appended] = await Promise.allSettled([
        stores.ledger.append(node, posts),
        stores.ledger.endNode(node, unknowns),
      ])
      if (appended.status === 'rejected') assert.ok(appended.reason instanceof NodeEnded)
      const kept = await stores.inspect.entries(project)
      const kind = appended.status === 'fulfilled' ? 'post' : 'unknown'
      assert.deepEqual(
        kept.map((entry) => entry.kind),
        posts.map(() => kind),
      )
      assert.deepEqual(await stores.inspect.rollups(project), sumsOf(kept))
    }
  })

  test(`${name}: ${WRITERS} writers in random order never block one another, and every sum is right`, async () => {
    const stores = await shared()
    const projects = Array.from({ length: 3 }, aProject)
    const sent = new Map<string, LedgerEntry>()
    const owners = projects.flatMap((project) => [
      `project:${project}`,
      ...KEYS.map((key) => `key:${project}/${key}`),
    ])
    const budgets = owners.map((id): Budget => ({ id, limitNanoUsd: 10n ** 12n, per: 'month', hard: true }))
    const first = await aNode(stores)
    for (const budget of budgets) await leaseSome(stores, first, budget)
    const endMs = performance.now() + writersMs
    const write = async (): Promise<void> => {
      let node = await aNodeOfShard(stores)
      while (performance.now() < endMs) {
        const dice = Math.random()
        if (dice < 0.1) await leaseSome(stores, node, budgets[below(budgets.length)] as Budget)
        else if (dice < 0.13) {
          // Calls of a node are its own: no other node writes about them while it is ended.
          const openCalls = new Map<string, LedgerEntry>()
          await stores.ledger.endNode(node, shuffled(batchOf(projects, openCalls)))
          for (const [id, call] of openCalls) sent.set(id, call)
          node = await aNodeOfShard(stores)
        } else if (dice < 0.3) await stores.ledger.appendLate(node, shuffled(batchOf(projects, sent)))
        else await stores.ledger.append(node, shuffled(batchOf(projects, sent)))
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, write))
    for (const project of projects) {
      const kept = await stores.inspect.entries(project)
      const expected = [...sent.values()].filter((entry) => entry.project === project)
      assert.deepEqual(sumsOf(kept), sumsOf(expected))
      assert.deepEqual(await stores.inspect.rollups(project), sumsOf(kept))
      const window = windowOf('month', Date.now())
      for (const id of owners.filter((owner) => owner.split(/[:/]/)[1] === project)) {
        const state = await stores.inspect.budgetState(id, window)
        assert.deepEqual(await stores.budgets.spentNanoUsd([{ budgetId: id, window }]), [state?.spentNanoUsd])
      }
    }
    const [row] = await stores.database.query<{ deadlocks: bigint }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    )
    assert.equal(row?.deadlocks, 0n)
  })
}

const KEYS = ['a', 'b', 'c', 'd']

async function aNodeOfShard({ ledger }: OpenLedger): Promise<string> {
  const id = nextId().slice(0, -SAME_SHARD.length) + SAME_SHARD
  await ledger.startNode({ id, host: 'test', version: '0' })
  return id
}

/** New entries, and a fifth that was sent before by whomever. */
function batchOf(projects: readonly string[], sent: Map<string, LedgerEntry>): LedgerEntry[] {
  const recent = [...sent.values()].slice(-200)
  return Array.from({ length: 1 + below(40) }, () => {
    const again = recent[below(recent.length)]
    if (again !== undefined && Math.random() < 0.2) return again
    const project = projects[below(projects.length)] as string
    const keyId = `${project}/${KEYS[below(KEYS.length)]}`
    const entry = anEntry(project, { keyId, model: `model-${below(3)}`, amountNanoUsd: BigInt(below(1000)) })
    sent.set(entry.requestId, entry)
    return entry
  })
}

async function leaseSome({ budgets }: OpenLedger, nodeId: string, budget: Budget): Promise<void> {
  const window = windowOf(budget.per, Date.now())
  const question = { budget, window, nodeId, operation: nextId(), neededNanoUsd: 1000n, liveNodes: WRITERS }
  const { grantedNanoUsd } = await budgets.lease(question)
  const amountNanoUsd = grantedNanoUsd / 2n
  await budgets.giveBack({ budgetId: budget.id, window, nodeId, operation: nextId(), amountNanoUsd })
}

function shuffled<Value>(values: readonly Value[]): Value[] {
  return values
    .map((value) => ({ value, order: Math.random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ value }) => value)
}

function below(limit: number): number {
  return Math.floor(Math.random() * limit)
}
