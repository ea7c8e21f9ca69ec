/** What every `BudgetStore` promises, wherever budgets are kept, and how they move with the ledger beside them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import fc from 'fast-check'
import {
  windowOf,
  type Budget,
  type BudgetPeriod,
  type BudgetState,
  type BudgetWindow,
} from '#core/money/budget.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import type { LeaseAnswer, LeaseQuestion } from '#ports/budgets.ts'
import { NodeEnded } from '#ports/ledger.ts'
import { runs } from '#test/support/arbitraries.ts'
import { budgetChangesSuite } from './budget-changes.ts'
import {
  aNode,
  anEntry,
  aProject,
  nextId,
  requestIdAt,
  sharedLedger,
  type OpenLedger,
  type OpenDatabaseLedger,
} from './open-ledger.ts'

interface Ours {
  readonly project: string
  readonly budget: Budget
  readonly window: BudgetWindow
}

function aBudget(limitNanoUsd: bigint, per: BudgetPeriod = 'month'): Ours {
  const project = aProject()
  const budget: Budget = { id: `project:${project}`, limitNanoUsd, per, hard: true }
  return { project, budget, window: windowOf(per, Date.now()) }
}

function ask({ budget, window }: Ours, nodeId: string, neededNanoUsd: bigint): LeaseQuestion {
  return { budget, window, nodeId, operation: nextId(), neededNanoUsd, liveNodes: 3 }
}

async function stateOf({ inspect }: OpenLedger, { budget, window }: Ours): Promise<BudgetState> {
  const state = await inspect.budgetState(budget.id, window)
  assert.ok(state)
  return state
}

/** `numRuns`: how often properties are tried; engines that are slow, or have one session, are asked for less of everything. */
export function budgetStoreSuite(
  name: string,
  open: () => Promise<OpenDatabaseLedger>,
  numRuns: number,
): void {
  const shared = sharedLedger(open)
  budgetChangesSuite(name, shared)

  test(`${name}: spent and leased stay within the limit at every moment, whatever nodes do at once`, async () => {
    const stores = await shared()
    await fc.assert(
      fc.asyncProperty(lives, async (lives) => {
        const ours = aBudget(1000n)
        const watch = watching(stores, ours)
        const held = await Promise.all(
          lives.map(async (steps) => {
            const life = new Life(stores, ours)
            await life.begin()
            for (const { afterRounds, step } of steps) {
              for (let round = 0; round < afterRounds; round += 1) await yieldLoop()
              await life.take(step)
            }
            return life
          }),
        )
        await watch.end()
        const sums = held.reduce(
          (sum, life) => ({ leased: sum.leased + life.heldNanoUsd, spent: sum.spent + life.spentNanoUsd }),
          { leased: 0n, spent: 0n },
        )
        const state = await stores.inspect.budgetState(ours.budget.id, ours.window)
        assert.equal(state?.leasedNanoUsd ?? 0n, sums.leased)
        assert.equal(state?.spentNanoUsd ?? 0n, state ? sums.spent : 0n)
      }),
      runs(numRuns),
    )
  })

  test(`${name}: of many who ask at once for a tenth of a budget no more than ten get it`, async () => {
    const stores = await shared()
    const ours = aBudget(1000n)
    const nodes = await Promise.all([aNode(stores), aNode(stores), aNode(stores)])
    const answers = await Promise.all(
      Array.from({ length: Math.min(30, 6 * numRuns) }, (_, index) =>
        stores.budgets.lease(ask(ours, nodes[index % 3] as string, 100n)),
      ),
    )
    const granted = answers.map(({ grantedNanoUsd }) => grantedNanoUsd).filter((amount) => amount > 0n)
    assert.ok(granted.length > 0 && granted.length <= 10)
    assert.ok(granted.every((amount) => amount >= 100n))
    const sum = granted.reduce((a, b) => a + b)
    assert.ok(sum > 900n && sum <= 1000n)
    assert.equal((await stateOf(stores, ours)).leasedNanoUsd, sum)
  })

  test(`${name}: a question asked twice is granted once`, async () => {
    const stores = await shared()
    const ours = aBudget(1000n)
    const node = await aNode(stores)
    const question = ask(ours, node, 300n)
    // At once and for the first time, then again.
    const answers = await Promise.all(Array.from({ length: 5 }, () => stores.budgets.lease(question)))
    answers.push(await stores.budgets.lease(question))
    for (const { grantedNanoUsd } of answers) assert.equal(grantedNanoUsd, 300n)
    assert.equal((await stateOf(stores, ours)).leasedNanoUsd, 300n)
    // It is not granted again when some of it has been spent, either.
    await stores.ledger.append(node, [
      anEntry(ours.project, { amountNanoUsd: 100n, projectLeaseNanoUsd: 100n }),
    ])
    const again = await stores.budgets.lease({ ...question, neededNanoUsd: 900n })
    assert.deepEqual(again, {
      limitNanoUsd: 1000n,
      spentNanoUsd: 100n,
      leasedNanoUsd: 200n,
      grantedNanoUsd: 300n,
    })
  })

  test(`${name}: what is given back twice comes home once`, async () => {
    const stores = await shared()
    const ours = aBudget(1000n)
    const [node, other] = [await aNode(stores), await aNode(stores)]
    await stores.budgets.lease(ask(ours, node, 400n))
    await stores.budgets.lease(ask(ours, other, 50n))
    const giving = {
      budgetId: ours.budget.id,
      window: ours.window,
      nodeId: node,
      operation: nextId(),
      amountNanoUsd: 150n,
    }
    await Promise.all(Array.from({ length: 5 }, () => stores.budgets.giveBack(giving)))
    await stores.budgets.giveBack(giving)
    assert.equal((await stateOf(stores, ours)).leasedNanoUsd, 300n)
    // A node can't give back what it does not hold.
    await stores.budgets.giveBack({ ...giving, operation: nextId(), amountNanoUsd: 10_000n })
    assert.equal((await stateOf(stores, ours)).leasedNanoUsd, 50n)
  })

  test(`${name}: what does not fit is granted not in part but not at all`, async () => {
    const stores = await shared()
    const ours = aBudget(1000n)
    const node = await aNode(stores)
    const refused = { limitNanoUsd: 1000n, spentNanoUsd: 0n, leasedNanoUsd: 0n, grantedNanoUsd: 0n }
    assert.deepEqual(await stores.budgets.lease(ask(ours, node, 1001n)), refused)
    const all = await stores.budgets.lease(ask(ours, node, 1000n))
    assert.deepEqual(all, { ...refused, leasedNanoUsd: 1000n, grantedNanoUsd: 1000n })
  })

  test(`${name}: a budget that is asked about for the first time starts with what its window holds`, async () => {
    const stores = await shared()
    const ours = aBudget(1000n)
    const node = await aNode(stores)
    const { project, window } = ours
    const keyId = `${project}/one`
    await stores.ledger.append(node, [
      anEntry(project, { keyId, amountNanoUsd: 120n }),
      anEntry(project, { keyId, kind: 'unknown', amountNanoUsd: 200n }),
      anEntry(project, { amountNanoUsd: 30n }),
      anEntry(project, { amountNanoUsd: undefined }),
      anEntry(project, { requestId: requestIdAt(window.startMs - 1), amountNanoUsd: 7n }),
    ])
    const spent = async (budget: Budget): Promise<LeaseAnswer> =>
      stores.budgets.lease(ask({ ...ours, budget }, node, 1_000_000n))
    assert.equal((await spent(ours.budget)).spentNanoUsd, 350n)
    assert.equal((await spent({ ...ours.budget, id: `key:${keyId}` })).spentNanoUsd, 320n)
    await stores.ledger.append(node, [anEntry(project, { keyId, amountNanoUsd: 1n })])
    assert.equal((await spent(ours.budget)).spentNanoUsd, 351n)
    assert.equal((await spent({ ...ours.budget, id: `key:${keyId}` })).spentNanoUsd, 321n)
    const asked = [ours.budget.id, 'project:nobody', `key:${keyId}`].map((budgetId) => ({ budgetId, window }))
    assert.deepEqual(await stores.budgets.spentNanoUsd(asked), [351n, 0n, 321n])
    assert.deepEqual(await stores.budgets.spentNanoUsd([]), [])
  })

  test(`${name}: a budget first seen amid the traffic of its project misses none of it`, async () => {
    const stores = await shared()
    for (let time = 0; time < Math.min(5, numRuns / 4); time += 1) {
      const ours = aBudget(10n ** 9n)
      const nodes = await Promise.all(Array.from({ length: 4 }, () => aNode(stores)))
      const traffic = { isOver: false }
      const flowing = nodes.map(async (node) => {
        while (!traffic.isOver) {
          const entries = Array.from({ length: 20 }, () => anEntry(ours.project))
          await Promise.all([stores.ledger.append(node, entries), yieldLoop()])
        }
      })
      for (let round = 0; round < 20; round += 1) await yieldLoop()
      await Promise.all(nodes.map((node) => stores.budgets.lease(ask(ours, node, 1n))))
      traffic.isOver = true
      await Promise.all(flowing)
      const { spentNanoUsd } = await stateOf(stores, ours)
      const asked = { budgetId: ours.budget.id, window: ours.window }
      assert.deepEqual(await stores.budgets.spentNanoUsd([asked]), [spentNanoUsd])
    }
  })

  test(`${name}: a request counts in the window it was accepted in, whenever its entry is written`, async () => {
    const stores = await shared()
    for (const per of ['day', 'week', 'month'] as const) {
      const ours = aBudget(1000n, per)
      const node = await aNode(stores)
      const { window: now } = ours
      const before = windowOf(per, now.startMs - 1)
      const [old, young] = [{ ...ours, window: before }, ours]
      for (const each of [old, young]) await stores.budgets.lease(ask(each, node, 400n))
      await stores.ledger.append(node, [
        anEntry(ours.project, {
          requestId: requestIdAt(now.startMs - 1),
          amountNanoUsd: 90n,
          projectLeaseNanoUsd: 90n,
        }),
        anEntry(ours.project, {
          requestId: requestIdAt(now.startMs),
          amountNanoUsd: 5n,
          projectLeaseNanoUsd: 5n,
        }),
      ])
      const state = { limitNanoUsd: 1000n, spentNanoUsd: 90n, leasedNanoUsd: 310n }
      assert.deepEqual(await stateOf(stores, old), state)
      assert.deepEqual(await stateOf(stores, young), { ...state, spentNanoUsd: 5n, leasedNanoUsd: 395n })
    }
  })

  test(`${name}: a limit that is raised or lowered holds from the next question on`, async () => {
    const stores = await shared()
    const ours = aBudget(100n)
    const node = await aNode(stores)
    const asking = async (limitNanoUsd: bigint, needed: bigint): Promise<bigint> => {
      const question = ask({ ...ours, budget: { ...ours.budget, limitNanoUsd } }, node, needed)
      return (await stores.budgets.lease(question)).grantedNanoUsd
    }
    assert.equal(await asking(100n, 80n), 80n)
    assert.equal(await asking(100n, 30n), 0n)
    assert.equal(await asking(120n, 30n), 30n)
    // Below what is held already: nothing more until enough has been returned.
    assert.equal(await asking(60n, 1n), 0n)
    assert.equal((await stateOf(stores, ours)).leasedNanoUsd, 110n)
    const { budget, window } = ours
    await stores.budgets.giveBack({
      budgetId: budget.id,
      window,
      nodeId: node,
      operation: nextId(),
      amountNanoUsd: 100n,
    })
    assert.equal(await asking(60n, 51n), 0n)
    assert.equal(await asking(60n, 50n), 50n)
  })

  test(`${name}: an entry uses up the lease it was made under, and no more than that lease holds`, async () => {
    const stores = await shared()
    const ours = aBudget(1000n, 'day')
    const node = await aNode(stores)
    const longer = { ...ours, budget: { ...ours.budget, per: 'month' as const } }
    const month = { ...longer, window: windowOf('month', Date.now()) }
    // The period was changed: the row of the month is still there, and nothing is leased from it any more.
    await stores.budgets.lease(ask(month, node, 5000n))
    await stores.budgets.lease(ask(ours, node, 300n))
    await stores.ledger.append(node, [
      anEntry(ours.project, { amountNanoUsd: 300n, projectLeaseNanoUsd: 250n }),
    ])
    if (month.window.startMs !== ours.window.startMs)
      assert.deepEqual(await stateOf(stores, month), {
        limitNanoUsd: 1000n,
        spentNanoUsd: 300n,
        leasedNanoUsd: 0n,
      })
    assert.equal((await stateOf(stores, ours)).leasedNanoUsd, 50n)
    await stores.ledger.append(node, [
      anEntry(ours.project, { amountNanoUsd: 300n, projectLeaseNanoUsd: 250n }),
    ])
    assert.deepEqual(await stateOf(stores, ours), {
      limitNanoUsd: 1000n,
      spentNanoUsd: 600n,
      leasedNanoUsd: 0n,
    })
  })

  test(`${name}: a node that has been ended leases nothing, and what it gives back is home already`, async () => {
    const stores = await shared()
    const ours = aBudget(1000n)
    const [node, other] = [await aNode(stores), await aNode(stores)]
    const question = ask(ours, node, 300n)
    await stores.budgets.lease(question)
    await stores.budgets.lease(ask(ours, other, 200n))
    await stores.ledger.endNode(node, [])
    await assert.rejects(stores.budgets.lease(question), NodeEnded)
    await assert.rejects(stores.budgets.lease(ask(ours, node, 1n)), NodeEnded)
    await assert.rejects(stores.budgets.lease(ask(aBudget(5n), nextId(), 1n)), NodeEnded)
    const { budget, window } = ours
    const giving = { budgetId: budget.id, window, nodeId: node, operation: nextId(), amountNanoUsd: 300n }
    await stores.budgets.giveBack(giving)
    assert.equal((await stateOf(stores, ours)).leasedNanoUsd, 200n)
  })

  test(`${name}: a node that ends while its late entries arrive loses its lease once`, async () => {
    const stores = await shared()
    for (let time = 0; time < Math.min(8, numRuns / 2); time += 1) {
      const ours = aBudget(1000n)
      const [node, other] = [await aNode(stores), await aNode(stores)]
      await stores.budgets.lease(ask(ours, node, 500n))
      await stores.budgets.lease(ask(ours, other, 100n))
      const late: LedgerEntry[] = Array.from({ length: 4 }, () =>
        anEntry(ours.project, { amountNanoUsd: 100n, projectLeaseNanoUsd: 100n }),
      )
      await Promise.all([
        stores.ledger.appendLate(node, late.slice(0, 2)),
        stores.ledger.endNode(node, []),
        stores.ledger.appendLate(node, late.slice(2)),
      ])
      const state = { limitNanoUsd: 1000n, spentNanoUsd: 400n, leasedNanoUsd: 100n }
      assert.deepEqual(await stateOf(stores, ours), state)
    }
  })
}

type Step =
  | { readonly does: 'lease'; readonly neededNanoUsd: bigint }
  | { readonly does: 'giveBack' | 'post' | 'postLate'; readonly part: number }
  | { readonly does: 'repeat' | 'end' }

const amount = fc.bigInt({ min: 1n, max: 400n })
const part = fc.double({ min: 0, max: 1, noNaN: true })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('lease' as const), neededNanoUsd: amount }) },
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constantFrom('giveBack' as const, 'post' as const, 'postLate' as const),
      part,
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('repeat' as const, 'end' as const) }) },
)
/** The actions of three nodes, each in sequence. */
const lives = fc.array(
  fc.array(fc.record({ afterRounds: fc.nat(4), step }), { minLength: 1, maxLength: 10 }),
  { minLength: 3, maxLength: 3 },
)

/** One node's view of its lease, in plain numbers. */
class Life {
  heldNanoUsd = 0n
  spentNanoUsd = 0n
  readonly #stores: OpenLedger
  readonly #ours: Ours
  #nodeId = ''
  #last: LeaseQuestion | undefined

  constructor(stores: OpenLedger, ours: Ours) {
    this.#stores = stores
    this.#ours = ours
  }

  async begin(): Promise<void> {
    this.#nodeId = await aNode(this.#stores)
    this.#last = undefined
  }

  async take(step: Step): Promise<void> {
    const { ledger, budgets } = this.#stores
    const { budget, window } = this.#ours
    switch (step.does) {
      case 'lease': {
        this.#last = ask(this.#ours, this.#nodeId, step.neededNanoUsd)
        this.heldNanoUsd += (await budgets.lease(this.#last)).grantedNanoUsd
        return
      }
      case 'repeat': {
        // Its answer is known; only if it was refused then can it be granted now.
        if (this.#last === undefined) return
        const { neededNanoUsd } = this.#last
        this.#last = ask(this.#ours, this.#nodeId, neededNanoUsd)
        const [first, second] = [await budgets.lease(this.#last), await budgets.lease(this.#last)]
        if (first.grantedNanoUsd > 0n) assert.equal(second.grantedNanoUsd, first.grantedNanoUsd)
        this.heldNanoUsd += second.grantedNanoUsd
        return
      }
      case 'giveBack': {
        const amountNanoUsd = this.#partOf(step.part)
        const giving = {
          budgetId: budget.id,
          window,
          nodeId: this.#nodeId,
          operation: nextId(),
          amountNanoUsd,
        }
        await budgets.giveBack(giving)
        await budgets.giveBack(giving)
        this.heldNanoUsd -= amountNanoUsd
        return
      }
      case 'post':
      case 'postLate': {
        const leased = this.#partOf(step.part)
        const entry = anEntry(this.#ours.project, { amountNanoUsd: leased, projectLeaseNanoUsd: leased })
        const how = step.does === 'post' ? 'append' : 'appendLate'
        await ledger[how](this.#nodeId, [entry, entry])
        await ledger[how](this.#nodeId, [entry])
        this.heldNanoUsd -= leased
        this.spentNanoUsd += leased
        return
      }
      case 'end': {
        const leased = this.heldNanoUsd / 2n
        const open = anEntry(this.#ours.project, {
          kind: 'unknown',
          amountNanoUsd: leased,
          projectLeaseNanoUsd: leased,
        })
        await ledger.endNode(this.#nodeId, leased === 0n ? [] : [open])
        this.spentNanoUsd += leased
        this.heldNanoUsd = 0n
        await this.begin()
      }
    }
  }

  #partOf(part: number): bigint {
    return BigInt(Math.floor(Number(this.heldNanoUsd) * part))
  }
}

/** Reads the budget repeatedly until `end`. */
function watching({ inspect }: OpenLedger, { budget, window }: Ours): { end(): Promise<void> } {
  let isOver = false
  const looking = (async () => {
    for (;;) {
      const state = await inspect.budgetState(budget.id, window)
      if (state) assert.ok(state.spentNanoUsd + state.leasedNanoUsd <= state.limitNanoUsd)
      if (state) assert.ok(state.leasedNanoUsd >= 0n)
      if (isOver) return
      await yieldLoop()
    }
  })()
  return {
    end() {
      isOver = true
      return looking
    },
  }
}
