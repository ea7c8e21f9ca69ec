/** Composition of the space guard: where its knowledge is kept, how it asks, and what follows its word. */
import { setTimeout as delay } from 'node:timers/promises'
import { PROBE_TEXTS } from '#core/embedding/probe-texts.ts'
import type { HoldReason } from '#core/schedule/deployment.ts'
import type { Scheduler } from '#core/schedule/scheduler.ts'
import type { SpaceStore } from '#ports/spaces.ts'
import { StoreAway } from '#ports/store.ts'
import type { EmbedOutside } from '#request/embeddings/outside.ts'
import { probeSpace } from '#request/embeddings/probe.ts'
import type { Log } from '#telemetry/log.ts'
import { SpaceGuard } from '#worker/spaces/guard.ts'
import type { GuardedStanding } from '#worker/spaces/knowledge.ts'
import type { SpaceAlert } from '#worker/spaces/probe.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from './catalog.ts'
import type { Stores } from './stores.ts'
import type { Upstreams } from './upstreams.ts'

export interface SpaceParts {
  readonly stores: Pick<Stores, 'spaces' | 'isEldest'>
  readonly catalog: CatalogInForce
  readonly scheduler: Scheduler
  readonly outside: EmbedOutside
  readonly upstreams: Pick<Upstreams, 'isAsleep'>
  /** Aborts when the node is told to stop: then nothing is waited for. */
  readonly told: AbortSignal
}

export interface Spaces extends AsyncDisposable {
  readonly guard: SpaceGuard
  readonly store: SpaceStore
  /** Undefined until the store was read once: an admin may have accepted any number of spaces. */
  readonly generationOf: (model: string) => number | undefined
}

/**
 * A start waits for a store that is slow: without the store the node does not know which
 * deployments are in quarantine. A store that is away fails by itself: after three seconds without
 * a connection, after ten without an answer to a statement.
 */
const FIRST_READ_MS = 15_000
/** A start does not wait longer for upstreams that are away: deployments that may not serve are held back. */
const FIRST_PROBES_MS = 2000
/** Eight short texts; a start and an admin wait for it. */
const PROBE_TIMEOUT_MS = 10_000

/** Resolves when the guard knows what the store knows, or has waited long enough for it. */
export async function openSpaces({ log }: Basics, parts: SpaceParts): Promise<Spaces> {
  const { stores, catalog, scheduler, outside, told } = parts
  const { clock, limits } = outside
  const probing = { ...outside, limits: { ...limits, requestTimeoutMs: PROBE_TIMEOUT_MS } }
  const onTrouble = (error: unknown): void => {
    if (!(error instanceof StoreAway)) log.warn({ err: error }, 'the space guard could not probe')
  }
  const guard = new SpaceGuard({
    store: stores.spaces,
    catalog: () => catalog.current,
    probe: (model, deployment) => probeSpace(model, deployment, PROBE_TEXTS, probing),
    clock,
    isProber: stores.isEldest,
    isAsleep: parts.upstreams.isAsleep,
    onStanding: (standing) => scheduler.hold(standing.deployment, heldOf(standing)),
    onAlert: (alert) => tell(alert, log),
    onTrouble,
  })
  catalog.follow(() => guard.reload())
  await within(FIRST_READ_MS, guard.follow().catch(onTrouble), told)
  if (!guard.hasRead && !told.aborted)
    log.error(
      'PostgreSQL could not be read: until it can, only the first deployment of each model serves, and requests that pin a space are refused',
    )
  await within(FIRST_PROBES_MS, guard.start(), told)
  return {
    guard,
    store: stores.spaces,
    generationOf: (model) => (guard.hasRead ? guard.generationOf(model) : undefined),
    [Symbol.asyncDispose]: () => guard.stop(),
  }
}

function tell(alert: SpaceAlert, log: Log): void {
  if (alert.kind === 'returned') log.info({ alert }, 'a deployment answers in its vector space again')
  else if (alert.kind === 'unprobed')
    log.error({ alert }, 'a deployment could not be compared with its vector space')
  else log.error({ alert }, 'a deployment may have left its vector space')
}

function heldOf({ state }: GuardedStanding): HoldReason | undefined {
  return state === 'quarantined' || state === 'held-back' ? state : undefined
}

function within(ms: number, work: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return Promise.race([work, delay(ms, undefined, { ref: false, signal }).catch(() => {})])
}
