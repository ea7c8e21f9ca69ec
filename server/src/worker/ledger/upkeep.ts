/** The ledger's periodic chores, done by the oldest living node. */
import type { HoursSealed } from '#ports/sealed-hours.ts'
import type { PostgresSealing } from '#stores/postgres/ledger/seal.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { LedgerFigures, PartitionsMade, Reconciliation } from '#ports/upkeep.ts'
import type { PostgresReconciler } from '#stores/postgres/ledger/reconciler.ts'
import type { PostgresUpkeep } from '#stores/postgres/ledger/upkeep.ts'
import { every, type Repetition } from '../every.ts'

/** Interval at which the figures of the metrics are read and due chores are done. */
const ROUND_MS = 60_000
/** Interval of reconciliation: a budget that is wrong is corrected within it. Each hour is compared once. */
const RECONCILE_MS = 600_000
/** Interval of daily rollups: people who look at days do not need the last minutes. */
const ROLL_UP_MS = 600_000
/** Interval of chores that create something days ahead, or remove what was kept for weeks. */
const HOUR_MS = 3_600_000

/**
 * Time for which the store's clock must run without a jump before a node deletes or posts what is due: a clock that is wrong after a
 * start, or jumps, is seen and corrected in that time.
 */
export const STEADY_CLOCK_MS = 3_600_000

export interface UpkeepParts {
  readonly nodeId: string
  readonly upkeep: PostgresUpkeep
  readonly reconciler: PostgresReconciler
  readonly sealing: PostgresSealing
  readonly events: UpkeepEvents
  readonly monotonicMs: () => number
  /** How long the store's clock has run without a jump. */
  readonly steadyMs: () => number
  /** `ROUND_MS` unless given. */
  readonly roundMs?: number | undefined
}

export interface UpkeepEvents {
  /** The ledger's figures; undefined when another node is in charge of them now. */
  figures(figures: LedgerFigures | undefined): void
  reconciled(reconciliation: Reconciliation): void
  sealed(sealed: HoursSealed): void
  partitions(partitions: PartitionsMade): void
  /** What was posted, dropped or deleted because it was due, for the log. */
  did(what: Readonly<Record<string, unknown>>): void
  /** A chore was done: if it had failed before, it works again. */
  done(chore: string): void
  /** The store was unreachable: the chore is done in a later round. */
  postponed(chore: string, error: Error): void
  failed(chore: string, error: Error): void
}

interface Chore {
  readonly name: string
  readonly everyMs: number
  /** It can't be undone: it waits until the store's clock has been steady for long enough to be believed. */
  readonly isFinal?: true
  readonly work: () => Promise<void>
}

/** Runs until it is stopped. `stop` waits for the chore in progress and leaves the others. */
export function startUpkeep(parts: UpkeepParts): Repetition {
  const { nodeId, upkeep, events, monotonicMs, steadyMs, roundMs = ROUND_MS } = parts
  const chores = choresOf(parts)
  const doneMs = new Map<Chore, number>()
  let isStopped = false
  const isDue = (chore: Chore): boolean =>
    !isStopped &&
    monotonicMs() - (doneMs.get(chore) ?? -Infinity) >= chore.everyMs &&
    (chore.isFinal !== true || steadyMs() >= STEADY_CLOCK_MS)
  /** A failing chore holds up no other. */
  const attempt = async (name: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (error instanceof StoreUnreachable) events.postponed(name, error)
      else events.failed(name, error as Error)
    }
  }
  const round = async (): Promise<void> => {
    if (!(await upkeep.isEldest(nodeId))) return events.figures(undefined)
    for (const chore of chores) {
      if (!isDue(chore)) continue
      await attempt(chore.name, async () => {
        await chore.work()
        doneMs.set(chore, monotonicMs())
        events.done(chore.name)
      })
    }
  }
  const rounds = every(
    roundMs,
    () => attempt('round', round),
    (error) => events.failed('round', error as Error),
  )
  return {
    stop() {
      isStopped = true
      return rounds.stop()
    },
  }
}

/** The chore that hurts most when it is late comes first. */
function choresOf({ upkeep, reconciler, sealing, events }: UpkeepParts): readonly Chore[] {
  return [
    {
      name: 'partitions',
      everyMs: HOUR_MS,
      work: async () => events.partitions(await upkeep.makePartitions()),
    },
    {
      name: 'reconcile',
      everyMs: RECONCILE_MS,
      work: async () => events.reconciled(await reconciler.reconcileDue()),
    },
    { name: 'seal', everyMs: 0, work: async () => events.sealed(await sealing.sealDue()) },
    {
      name: 'expire unknowns',
      everyMs: HOUR_MS,
      isFinal: true,
      work: async () => {
        const unknowns = await upkeep.expireUnknowns()
        if (unknowns > 0) events.did({ unknowns })
      },
    },
    { name: 'days', everyMs: ROLL_UP_MS, work: () => upkeep.rollUpDays() },
    {
      name: 'drop what is old',
      everyMs: HOUR_MS,
      isFinal: true,
      work: async () => {
        const { partitions, nodes } = await upkeep.dropOld()
        if (partitions.length + nodes > 0) events.did({ partitions, nodes })
      },
    },
    {
      name: 'delete projects',
      everyMs: HOUR_MS,
      isFinal: true,
      work: async () => {
        const projects = await upkeep.deleteProjects()
        if (projects.length > 0) events.did({ projects })
      },
    },
    { name: 'figures', everyMs: 0, work: async () => events.figures(await reconciler.figures()) },
  ]
}
