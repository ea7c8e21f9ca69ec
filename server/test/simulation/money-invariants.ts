/** What must hold after every event, and at the end. */
import assert from 'node:assert/strict'
import { windowHolds, windowOf } from '#core/money/budget.ts'
import { hourOf, momentOf } from '#core/money/ledger.ts'
import { sumsOf, type KeptEntry } from '#test/contract/open-ledger.ts'
import { unheldOf, type ModelCall, type Simulation } from './money-model.ts'
import { attemptOf, identityOf } from './money-world.ts'

export async function assertInvariants(simulation: Simulation): Promise<void> {
  const { inspect } = simulation.world.stores
  const entries = await inspect.entries(simulation.world.project)
  const identities = new Set(entries.map(identityOf))
  assert.equal(identities.size, entries.length, 'an entry stands there twice')
  assert.deepEqual(await inspect.rollups(simulation.world.project), sumsOf(entries), 'rollups differ')
  await assertBudgets(simulation, entries)
  assertAdmitted(simulation, entries)
  simulation.admittedNow = undefined
  assertRights(simulation)
  simulation.sentNow.length = 0
  await assertCovered(simulation, identities)
  for (const call of simulation.calls.values()) assertAccounted(call, identities)
  for (const { node } of simulation.nodes)
    assert.ok(!node.events.includes('refused'), 'the store refused something')
}

async function assertBudgets(simulation: Simulation, entries: readonly KeptEntry[]): Promise<void> {
  const { stores, project } = simulation.world
  for (const [id, touched] of simulation.budgets) {
    const { budgetId, per, window, overrunNanoUsd } = touched
    const state = await stores.inspect.budgetState(budgetId, window)
    if (state === undefined) continue
    const endMs = await stores.inspect.windowEndMs(budgetId, window)
    const own = entries.filter(
      ({ requestId, keyId }) =>
        windowHolds({ ...window, endMs }, hourOf(requestId)) &&
        (budgetId === `project:${project}` || budgetId === `key:${keyId}`),
    )
    const { spentNanoUsd, leasedNanoUsd } = state
    assert.equal(spentNanoUsd, sumsOf(own).amountNanoUsd, `${budgetId} has another sum than the ledger`)
    assert.ok(leasedNanoUsd >= 0n)
    // Calls from a time when the budget was soft were never held against it.
    const held = own.filter((entry) => simulation.calls.get(attemptOf(entry))?.windows.has(id) ?? true)
    // Unless money was returned to them: then the total is less.
    const heldNanoUsd = sumsOf(held).amountNanoUsd
    const sum = (heldNanoUsd < spentNanoUsd ? heldNanoUsd : spentNanoUsd) + leasedNanoUsd
    const now = simulation.terms.inForce(budgetId)
    if (now?.hard && now.per === per) {
      const most = now.limitNanoUsd > touched.seenNanoUsd ? now.limitNanoUsd : touched.seenNanoUsd
      assert.ok(sum <= most + overrunNanoUsd, `${id}: ${sum} > ${most} + ${overrunNanoUsd}`)
    }
    // What is held stays held, also when other calls use up again what was returned.
    touched.seenNanoUsd = heldNanoUsd + leasedNanoUsd
  }
}

/**
 * The oracle: what is in the ledger, plus what is reserved for calls that are not, never grows beyond the
 * limit in force when a request is admitted; calls in progress while the budget was soft are left out. It
 * reads neither the rows of budgets nor the leases.
 */
function assertAdmitted(simulation: Simulation, entries: readonly KeptEntry[]): void {
  const { admittedNow } = simulation
  if (admittedNow === undefined) return
  const inLedger = new Set(entries.filter(({ kind }) => kind !== 'adjust').map(attemptOf))
  for (const { id, per, limitNanoUsd } of admittedNow.budgets) {
    const window = windowOf(per, momentOf(admittedNow.requestId))
    const belongs = ({ requestId, keyId }: Pick<KeptEntry, 'requestId' | 'keyId'>): boolean =>
      windowHolds(window, hourOf(requestId)) && (id.startsWith('project:') || id === `key:${keyId}`)
    const isHeld = (entry: KeptEntry): boolean => !simulation.unheld.has(unheldOf(id, attemptOf(entry)))
    let total = sumsOf(entries.filter((entry) => belongs(entry) && isHeld(entry))).amountNanoUsd
    for (const [attempt, { unknown, recorded, costNanoUsd }] of simulation.calls) {
      if (inLedger.has(attempt) || !belongs(unknown)) continue
      const reserved = id.startsWith('project:') ? unknown.projectLeaseNanoUsd : unknown.keyLeaseNanoUsd
      // Its cost may be known and durable on its node's disk, and not in the ledger yet.
      total += recorded === 'post' && costNanoUsd < reserved ? costNanoUsd : reserved
    }
    const overrun = simulation.budgets.get(`${id}@${window.startMs}`)?.overrunNanoUsd ?? 0n
    assert.ok(
      total <= limitNanoUsd + overrun,
      `${id}: ${total} admitted, ${limitNanoUsd} + ${overrun} allowed`,
    )
  }
}

/**
 * The second oracle: a call that was just sent had the right to be. It reads neither the table of
 * continuations nor the admission. Its key is valid, or a person let its batch continue; its project exists;
 * and each hard budget in force reserved all of it.
 */
function assertRights({ sentNow, terms }: Simulation): void {
  for (const { call, work, isStale } of sentNow) {
    const { attempt, amountNanoUsd = 0n, projectLeaseNanoUsd, keyLeaseNanoUsd } = call.unknown
    const what = `call ${attempt} of ${work?.kind ?? 'a caller'}`
    if (work !== undefined) {
      const standing = terms.standings[work.key]
      assert.ok(!terms.isProjectDeleted, `${what} was sent for a deleted project`)
      assert.notEqual(standing, 'leaked', `${what} was sent under a leaked key`)
      if (!work.isContinued)
        assert.equal(standing, 'valid', `${what} was sent under a key that is ${standing}`)
    }
    if (isStale) continue
    const isUnderKey = work?.isContinued !== true
    if (terms.inForce(terms.budgetId('project'))?.hard)
      assert.equal(projectLeaseNanoUsd, amountNanoUsd, `${what} is not held against the project's budget`)
    if (
      isUnderKey &&
      terms.budgetId('key') === `key:${call.unknown.keyId}` &&
      terms.inForce(terms.budgetId('key'))?.hard
    )
      assert.equal(keyLeaseNanoUsd, amountNanoUsd, `${what} is not held against the key's budget`)
  }
}

/** If a node dies now, its lease pays for every call that would become an unknown. */
async function assertCovered(simulation: Simulation, identities: ReadonlySet<string>): Promise<void> {
  const { inspect } = simulation.world.stores
  for (const { node, disk, state, isEnded } of simulation.nodes) {
    if (state === 'gone' || isEnded) continue
    for (const [id, { budgetId, window }] of simulation.budgets) {
      let needed = 0n
      for (const call of disk.journal.opened.values()) {
        const isInLedger = ['post', 'unknown'].some((kind) => identities.has(`${attemptOf(call)}/${kind}`))
        if (isInLedger || !simulation.calls.get(attemptOf(call))?.windows.has(id)) continue
        if (budgetId === `project:${call.project}`) needed += call.projectLeaseNanoUsd
        if (budgetId === `key:${call.keyId}`) needed += call.keyLeaseNanoUsd
      }
      if (needed === 0n) continue
      const lease = await inspect.leaseNanoUsd(budgetId, window, node.id)
      assert.ok(needed <= lease, `${budgetId}: ${needed} under way, ${lease} leased`)
    }
  }
}

/** A sent call is in the ledger, in the spool of its node, or open in its journal. */
function assertAccounted({ unknown, node, recorded }: ModelCall, identities: ReadonlySet<string>): void {
  const attempt = attemptOf(unknown)
  const { journal, spool } = node.disk
  const isIn = (kind: 'post' | 'unknown'): boolean => {
    const identity = `${attempt}/${kind}`
    return identities.has(identity) || spool.contents.has(identity)
  }
  assert.ok(isIn('post') || isIn('unknown') || journal.opened.has(attempt), `${attempt} is lost`)
  // A call that was answered to a caller is recorded as paid.
  if (recorded === 'post') assert.ok(isIn('post'), `${attempt} was answered and is not paid`)
  if (recorded !== undefined && node.state === 'alive')
    assert.ok(!journal.opened.has(attempt), `${attempt} is still under way`)
}

/** All nodes have ended, every disk has been read: the ledger agrees with the model, and no money is held. */
export async function assertAtRest(simulation: Simulation): Promise<void> {
  const { stores, project, limiter } = simulation.world
  const entries = await stores.inspect.entries(project)
  const sums = Map.groupBy(entries, attemptOf)
  for (const [attempt, call] of simulation.calls) {
    const own = sums.get(attempt) ?? []
    sums.delete(attempt)
    const isPosted = own.some(({ kind }) => kind === 'post')
    const isWritten = isPosted || own.some(({ kind }) => kind === 'unknown')
    assert.equal(
      sumsOf(own).amountNanoUsd,
      simulation.amountOf(call, { isPosted, isWritten }),
      `${attempt} costs something else`,
    )
    if (call.wasServed) assert.ok(isWritten, `${attempt} is lost`)
  }
  assert.deepEqual([...sums.keys()], [], 'the ledger holds calls that were never sent')
  for (const { budgetId, window } of simulation.budgets.values()) {
    const state = await stores.inspect.budgetState(budgetId, window)
    assert.equal(state?.leasedNanoUsd ?? 0n, 0n, `${budgetId} is still leased`)
  }
  const { limit } = simulation.terms
  const { states } = await limiter.take([{ limit, amount: 1 }])
  const taken = limit.perMinute - (states[0]?.remaining ?? 0) - 1
  assert.equal(taken, simulation.tokensTaken, 'another number of tokens was taken from the limit')
}
