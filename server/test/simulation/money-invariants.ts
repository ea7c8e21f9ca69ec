/** What must hold after everything that happens, and what must hold at the end. */
import assert from 'node:assert/strict'
import { windowHolds } from '#core/budget.ts'
import { hourOf } from '#core/ledger.ts'
import { sumsOf, type KeptEntry } from '#test/contract/open-books.ts'
import type { ModelCall, Simulation } from './money-model.ts'
import { attemptOf, identityOf } from './money-world.ts'

export async function assertInvariants(simulation: Simulation): Promise<void> {
  const { inspect } = simulation.world.books
  const entries = await inspect.entries(simulation.world.project)
  const identities = new Set(entries.map(identityOf))
  assert.equal(identities.size, entries.length, 'an entry stands there twice')
  assert.deepEqual(await inspect.rollups(simulation.world.project), sumsOf(entries), 'rollups differ')
  await assertBudgets(simulation, entries)
  await assertCovered(simulation, identities)
  for (const call of simulation.calls.values()) assertAccounted(call, identities)
  for (const { disk } of simulation.nodes)
    assert.deepEqual(disk.spool.aside, [], 'the store refused something')
}

async function assertBudgets(simulation: Simulation, entries: readonly KeptEntry[]): Promise<void> {
  const { books, project } = simulation.world
  for (const { budget, window, overrunNanoUsd } of simulation.budgets.values()) {
    const state = await books.inspect.budgetState(budget.id, window)
    if (state === undefined) continue
    const own = entries.filter(
      ({ requestId, keyId }) =>
        windowHolds(window, hourOf(requestId)) &&
        (budget.id === `project:${project}` || budget.id === `key:${keyId}`),
    )
    const { spentNanoUsd, leasedNanoUsd, limitNanoUsd } = state
    assert.equal(spentNanoUsd, sumsOf(own).amountNanoUsd, `${budget.id} has another sum than the ledger`)
    assert.ok(leasedNanoUsd >= 0n)
    const most = limitNanoUsd + overrunNanoUsd
    assert.ok(
      spentNanoUsd + leasedNanoUsd <= most,
      `${budget.id}: ${spentNanoUsd} + ${leasedNanoUsd} > ${most}`,
    )
  }
}

/** Should a node die now: the lease it holds pays for every call that would become an unknown. */
async function assertCovered(simulation: Simulation, identities: ReadonlySet<string>): Promise<void> {
  const { inspect } = simulation.world.books
  for (const { node, disk, state, isEnded } of simulation.nodes) {
    if (state === 'gone' || isEnded) continue
    for (const { budget, window } of simulation.budgets.values()) {
      let needed = 0n
      for (const call of disk.journal.opened.values()) {
        const isInBooks = ['post', 'unknown'].some((kind) => identities.has(`${attemptOf(call)}/${kind}`))
        if (isInBooks || !windowHolds(window, hourOf(call.requestId))) continue
        if (budget.id === `project:${call.project}`) needed += call.projectLeaseNanoUsd
        if (budget.id === `key:${call.keyId}`) needed += call.keyLeaseNanoUsd
      }
      if (needed === 0n) continue
      const lease = await inspect.leaseNanoUsd(budget.id, window, node.id)
      assert.ok(needed <= lease, `${budget.id}: ${needed} under way, ${lease} leased`)
    }
  }
}

/** A call that was sent is in the books, in the spool of its node, or open in its journal. */
function assertAccounted({ unknown, node, told }: ModelCall, identities: ReadonlySet<string>): void {
  const attempt = attemptOf(unknown)
  const { journal, spool } = node.disk
  const isIn = (kind: 'post' | 'unknown'): boolean => {
    const identity = `${attempt}/${kind}`
    return identities.has(identity) || spool.contents.has(identity)
  }
  assert.ok(isIn('post') || isIn('unknown') || journal.opened.has(attempt), `${attempt} is lost`)
  // What was told to a caller as done has been put down as paid.
  if (told === 'post') assert.ok(isIn('post'), `${attempt} was answered and is not paid`)
  if (told !== undefined && node.state === 'alive')
    assert.ok(!journal.opened.has(attempt), `${attempt} is still under way`)
}

/** Everybody has gone, every disk has been read: the books say what the model says, and no money is held. */
export async function assertAtRest(simulation: Simulation): Promise<void> {
  const { books, project, limiter } = simulation.world
  const entries = await books.inspect.entries(project)
  const sums = Map.groupBy(entries, attemptOf)
  for (const [attempt, call] of simulation.calls) {
    const own = sums.get(attempt) ?? []
    sums.delete(attempt)
    const isPosted = own.some(({ kind }) => kind === 'post')
    assert.equal(
      sumsOf(own).amountNanoUsd,
      simulation.amountOf(call, isPosted),
      `${attempt} costs something else`,
    )
    if (call.wasServed)
      assert.ok(isPosted || own.some(({ kind }) => kind === 'unknown'), `${attempt} is lost`)
  }
  assert.deepEqual([...sums.keys()], [], 'the books hold calls that were never sent')
  for (const { budget, window } of simulation.budgets.values()) {
    const state = await books.inspect.budgetState(budget.id, window)
    assert.equal(state?.leasedNanoUsd ?? 0n, 0n, `${budget.id} is still leased`)
  }
  const { states } = await limiter.take([{ limit: simulation.limit, amount: 1 }])
  const taken = simulation.limit.perMinute - (states[0]?.remaining ?? 0) - 1
  assert.equal(taken, simulation.tokensTaken, 'another number of tokens was taken from the limit')
}
