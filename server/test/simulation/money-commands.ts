/** What can happen, drawn at random and shrunk when it breaks something. */
import { setImmediate as yieldLoop } from 'node:timers/promises'
import fc from 'fast-check'
import type { BudgetPeriod } from '#core/money/budget.ts'
import { NodeEnded } from '#ports/ledger.ts'
import type { Loss } from '#test/support/losing-store.ts'
import { assertAtRest, assertInvariants } from './money-invariants.ts'
import { Simulation, type Outcome, type SimulatedNode } from './money-model.ts'
import { KEY_NAMES, type KeyName, type Owner } from './money-terms.ts'
import { attemptOf, type World } from './money-world.ts'

const NODES_MAX = 3
const DAY_MS = 86_400_000
/** Idle time after which a lease is returned. */
const IDLE_MS = 1000

type Command = fc.AsyncCommand<Simulation, Simulation>
type Happening = (simulation: Simulation) => Promise<void> | undefined

const which = fc.nat(100)
const losses: fc.Arbitrary<readonly Loss[]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom<Loss>('none', 'before', 'after'), { maxLength: 3 }) },
)

function pick<Value>(values: readonly Value[], index: number): Value | undefined {
  return values[index % Math.max(1, values.length)]
}

function nodesThat(simulation: Simulation, is: (node: SimulatedNode) => boolean): SimulatedNode[] {
  return simulation.nodes.filter(is)
}

const alive = ({ state }: SimulatedNode): boolean => state === 'alive'
const dead = ({ state }: SimulatedNode): boolean => state === 'dead'
const known = ({ state }: SimulatedNode): boolean => state !== 'gone'

/** Does something, waits until all its consequences are done, and checks the invariants. */
function command(name: string, details: unknown, happen: Happening): Command {
  return {
    check: () => true,
    async run(simulation) {
      for (const { disk } of simulation.nodes) disk.journal.lastClosed.length = 0
      const happening = happen(simulation)
      if (happening) simulation.count(name)
      await happening
      for (const { node, state } of simulation.nodes) {
        if (state === 'alive') await node.ledger.settled()
        node.link.planned.length = 0
      }
      await yieldLoop()
      await assertInvariants(simulation)
    },
    toString: () => `${name} ${fc.stringify(details)}`,
  }
}

/** With a link that loses some of what follows. */
function losing(at: SimulatedNode, losses: readonly Loss[]): SimulatedNode {
  at.node.link.planned.push(...losses)
  return at
}

const requests = fc
  .record({
    node: which,
    key: fc.constantFrom<KeyName>('a', 'b'),
    isStale: fc.boolean(),
    sizes: fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 1, maxLength: 2 }),
    losses,
  })
  .map((drawn) =>
    command('request', drawn, (simulation) => {
      const at = pick(nodesThat(simulation, alive), drawn.node)
      const { terms } = simulation
      // A caller whose key has ended is refused before admission.
      if (at === undefined || terms.of(terms.ownerOf(drawn.key)).standing !== 'valid') return undefined
      const { isStale, sizes } = drawn
      return simulation.request(losing(at, drawn.losses), {
        key: terms.keyOf(drawn.key, isStale),
        isStale,
        sizes,
      })
    }),
  )

const newBatches = fc.constantFrom<KeyName>('a', 'b').map((key) =>
  command('create a batch', key, ({ terms, batches }) => {
    if (terms.of(terms.ownerOf(key)).standing !== 'valid') return undefined
    batches.push({ kind: 'batch', key, isContinued: false })
    return Promise.resolve()
  }),
)

const sizes = fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 1, maxLength: 4 })

const lines = fc.record({ node: which, batch: which, sizes, losses }).map((drawn) =>
  command('lines of a batch', drawn, (simulation) => {
    const at = pick(nodesThat(simulation, alive), drawn.node)
    const work = pick(simulation.batches, drawn.batch)
    return at && work && simulation.request(losing(at, drawn.losses), { work, sizes: drawn.sizes })
  }),
)

const jobs = fc
  .record({
    node: which,
    key: fc.constantFrom<KeyName>('a', 'b', 'player'),
    sizes,
    losses,
  })
  .map((drawn) =>
    command('a job', drawn, (simulation) => {
      const { key, sizes: asked } = drawn
      const at = pick(nodesThat(simulation, alive), drawn.node)
      const { terms } = simulation
      if (at === undefined || terms.of(terms.ownerOf(key)).standing !== 'valid') return undefined
      const kind = key === 'player' ? 'playground' : 'job'
      return simulation.request(losing(at, drawn.losses), {
        work: { kind, key, isContinued: false },
        sizes: asked,
      })
    }),
  )

const nextCalls = fc.record({ request: which, losses }).map((drawn) =>
  command('the next call', drawn, (simulation) => {
    const waiting = simulation.live.filter(({ rest, hasEnded }) => rest.length > 0 && !hasEnded)
    const live = pick(waiting, drawn.request)
    if (live) losing(live.at, drawn.losses)
    return live && simulation.goOn(live)
  }),
)

const ends = fc
  .record({
    key: fc.constantFrom<KeyName>(...KEY_NAMES),
    standing: fc.constantFrom('expired' as const, 'expired' as const, 'revoked' as const, 'leaked' as const),
  })
  .map(({ key, standing }) =>
    command(`a key is ${standing}`, key, async ({ terms }) => {
      // A revoked key can only be marked as leaked.
      const isRevoked = terms.standings[key] === 'revoked' || terms.standings[key] === 'leaked'
      if (!isRevoked || standing === 'leaked') terms.standings[key] = standing
    }),
  )

const extensions = fc.constantFrom<KeyName>(...KEY_NAMES).map((key) =>
  command('a key gets a later end', key, async ({ terms }) => {
    if (terms.standings[key] === 'expired') terms.standings[key] = 'valid'
  }),
)

const continuations = fc.record({ batch: which }).map((drawn) =>
  command('continue a batch', drawn, async ({ batches }) => {
    const work = pick(batches, drawn.batch)
    if (work) work.isContinued = true
  }),
)

const deletions = fc.constant(
  command('delete the project', '', async ({ terms }) => {
    terms.isProjectDeleted = true
  }),
)

const answers = fc
  .record({
    request: which,
    call: which,
    outcome: fc.constantFrom<Outcome>('served', 'served', 'served', 'refused', 'timeout', 'drop'),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    losses,
  })
  .map((drawn) =>
    command('answer', drawn, (simulation) => {
      const live = pick(simulation.live, drawn.request)
      if (live === undefined || live.open.length === 0) return undefined
      losing(live.at, drawn.losses)
      return simulation.answer(live, drawn.call, drawn.outcome, drawn.share)
    }),
  )

const aborts = fc.record({ request: which, losses }).map((drawn) =>
  command('abort', drawn, (simulation) => {
    const live = pick(simulation.live, drawn.request)
    if (live) losing(live.at, drawn.losses)
    return live && simulation.abort(live)
  }),
)

const kills = fc.record({ node: which, losesEnds: fc.boolean() }).map((drawn) =>
  command('kill', drawn, (simulation) => {
    const at = pick(nodesThat(simulation, alive), drawn.node)
    return at && simulation.kill(at, drawn.losesEnds)
  }),
)

const recoveries = fc.record({ node: which, endsFirst: fc.boolean(), losses }).map((drawn) =>
  command('recover', drawn, (simulation) => {
    const at = pick(nodesThat(simulation, dead), drawn.node)
    return at && simulation.recover(losing(at, drawn.losses), drawn.endsFirst)
  }),
)

const endsByHand = fc.record({ node: which }).map((drawn) =>
  command('end by hand', drawn, (simulation) => {
    const at = pick(nodesThat(simulation, known), drawn.node)
    return at && simulation.endByHand(at)
  }),
)

const flushes = fc.record({ node: which, losses }).map((drawn) =>
  command('flush', drawn, (simulation) => {
    const at = pick(nodesThat(simulation, alive), drawn.node)
    return at && losing(at, drawn.losses).node.ledger.drain()
  }),
)

const idleTimes = fc.record({ node: which, losses }).map((drawn) =>
  command('idle', drawn, (simulation) => {
    simulation.world.clock.atMs += IDLE_MS
    const at = pick(nodesThat(simulation, alive), drawn.node)
    return at && losing(at, drawn.losses).node.leases.returnIdle()
  }),
)

const replays = fc.record({ batch: which, isLate: fc.boolean() }).map((drawn) =>
  command('replay', drawn, async (simulation) => {
    const batch = pick(simulation.sent, drawn.batch)
    if (batch === undefined) return
    const { at, entries } = batch
    if (drawn.isLate) return simulation.store.appendLate(at.node.id, entries)
    await simulation.store.append(at.node.id, entries).catch((error: unknown) => {
      if (!(error instanceof NodeEnded)) throw error
    })
  }),
)

const resolutions = fc
  .record({ unknown: which, kind: fc.constantFrom('post' as const, 'void' as const), cost: fc.nat(700) })
  .map((drawn) =>
    command('resolve', drawn, async (simulation) => {
      const { stores, project } = simulation.world
      const entries = await stores.inspect.entries(project)
      const resolved = new Set(
        entries.filter(({ kind }) => kind === 'post' || kind === 'void').map(attemptOf),
      )
      const open = entries.filter((entry) => entry.kind === 'unknown' && !resolved.has(attemptOf(entry)))
      const unknown = pick(open, drawn.unknown)
      const call = unknown && simulation.calls.get(attemptOf(unknown))
      if (unknown === undefined || call === undefined) return
      const costNanoUsd = drawn.kind === 'post' ? BigInt(drawn.cost) : 0n
      const { requestId, attempt } = unknown
      const resolution = {
        requestId,
        attempt,
        kind: drawn.kind,
        costNanoUsd,
        actor: { kind: 'member', name: 'ada' } as const,
      }
      if (!(await stores.ledger.resolveUnknown(resolution))) throw new Error('it was open')
      call.resolved = { kind: drawn.kind, costNanoUsd }
      const reserved = call.unknown.amountNanoUsd ?? 0n
      // Money that is free now may be missing when its node turns out to know more.
      simulation.allow(call, costNanoUsd > reserved ? costNanoUsd : reserved)
    }),
  )

const adjustments = fc.record({ call: which, amount: fc.integer({ min: -50, max: 50 }) }).map((drawn) =>
  command('adjust', drawn, async (simulation) => {
    const recorded = [...simulation.calls.values()].filter((call) => call.recorded !== undefined)
    const call = pick(recorded, drawn.call)
    const amountNanoUsd = BigInt(drawn.amount)
    if (call === undefined || call.adjustedNanoUsd !== 0n || amountNanoUsd === 0n) return
    const lease = { projectLeaseNanoUsd: 0n, keyLeaseNanoUsd: 0n }
    const entry = { ...call.unknown, ...lease, kind: 'adjust' as const, amountNanoUsd }
    await simulation.store.appendLate(call.node.node.id, [entry])
    call.adjustedNanoUsd = amountNanoUsd
    simulation.allow(call, amountNanoUsd > 0n ? amountNanoUsd : 0n)
  }),
)

const disks = fc.record({ node: which, isFull: fc.boolean() }).map((drawn) =>
  command('disk', drawn, async (simulation) => {
    pick(nodesThat(simulation, alive), drawn.node)?.disk.setFull?.(drawn.isFull)
  }),
)

const changes = fc
  .record({
    owner: fc.constantFrom<Owner>('project', 'key'),
    limitNanoUsd: fc.bigInt({ min: 100n, max: 6000n }),
    per: fc.constantFrom<BudgetPeriod>('day', 'day', 'day', 'week', 'month', 'total'),
    hard: fc.constantFrom(true, true, true, false),
  })
  .map(({ owner, ...terms }) =>
    command('change a budget', { owner, ...terms }, async (simulation) => {
      simulation.changeBudget(owner, terms)
    }),
  )

const removals = fc.constantFrom<Owner>('project', 'key').map((owner) =>
  command('take a budget away', owner, async (simulation) => {
    simulation.changeBudget(owner, undefined)
  }),
)

const rateChanges = fc.integer({ min: 50_000_000, max: 100_000_000 }).map((perMinute) =>
  command('change a rate limit', perMinute, async (simulation) => {
    simulation.terms.changeRate(perMinute)
  }),
)

const days = fc.constant(
  command('a new day', '', async ({ world: { clock } }) => {
    clock.atMs += DAY_MS
  }),
)

const starts = fc.constant(
  command('start', '', (simulation) =>
    nodesThat(simulation, alive).length < NODES_MAX ? simulation.startNode() : undefined,
  ),
)

export function moneyCommands(maxCommands: number): fc.Arbitrary<Iterable<Command>> {
  const by = (times: number, happening: fc.Arbitrary<Command>) =>
    Array.from({ length: times }, () => happening)
  return fc.commands(
    [
      ...by(10, requests),
      ...by(16, answers),
      ...by(3, newBatches),
      ...by(10, lines),
      ...by(5, jobs),
      ...by(12, nextCalls),
      ...by(2, ends),
      ...by(2, extensions),
      ...by(1, continuations),
      ...by(1, deletions),
      ...by(3, flushes),
      ...by(3, idleTimes),
      ...by(3, starts),
      ...by(3, recoveries),
      ...by(2, kills),
      ...by(2, aborts),
      ...by(2, replays),
      ...by(2, resolutions),
      ...by(1, adjustments),
      ...by(1, endsByHand),
      ...by(4, changes),
      ...by(2, removals),
      ...by(1, rateChanges),
      ...by(1, disks),
      ...by(1, days),
    ],
    { maxCommands, size: 'max' },
  )
}

/** One sequence from the first node's start until all have ended. Returns how often each event happened. */
export async function runMoney(
  world: World,
  commands: Iterable<Command>,
): Promise<ReadonlyMap<string, number>> {
  const simulation = new Simulation(world)
  await simulation.startNode()
  await simulation.startNode()
  await fc.asyncModelRun(() => ({ model: simulation, real: simulation }), commands)
  await stopAll(simulation)
  await assertInvariants(simulation)
  await assertAtRest(simulation)
  for (const { kind } of await world.stores.inspect.entries(world.project))
    simulation.count(`entries: ${kind}`)
  return simulation.tally
}

/** Nodes with calls in progress, or with something left on their disk, die; the others stop normally. */
async function stopAll(simulation: Simulation): Promise<void> {
  for (const at of nodesThat(simulation, alive)) {
    const { node, disk } = at
    disk.setFull?.(false)
    await node.ledger.drain()
    const isBusy = disk.journal.size > 0 || disk.spool.waiting > 0 || node.ledger.isStoreUnreachable
    if (isBusy || at.isEnded) await simulation.kill(at, false)
  }
  for (const at of nodesThat(simulation, dead)) await simulation.recover(at, false)
  for (const { node, disk } of nodesThat(simulation, alive)) {
    await node.leases.returnAll()
    await disk.abandon()
  }
}
