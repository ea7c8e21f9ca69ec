/** Composition of the space guard: where its knowledge is kept, how it asks, and who follows what it says. */
import { setTimeout as delay } from 'node:timers/promises'
import { listModels, type Catalog, type Deployment, type EmbeddingModel } from '#core/catalog.ts'
import { PROBE_TEXTS } from '#core/embedding/probe-texts.ts'
import type { Held } from '#core/schedule/deployment.ts'
import type { Scheduler } from '#core/schedule/scheduler.ts'
import type { SpaceStore } from '#ports/spaces.ts'
import { StoreAway } from '#ports/store.ts'
import type { Outside } from '#request/embeddings/attempt.ts'
import { probeSpace } from '#request/embeddings/probe.ts'
import type { MemoryAudit } from '#stores/memory/audit.ts'
import { MemorySpaces } from '#stores/memory/spaces.ts'
import { PostgresSpaces } from '#stores/postgres/spaces.ts'
import type { Log } from '#telemetry/log.ts'
import { SpaceGuard } from '#worker/spaces/guard.ts'
import { targetOf, type GuardedStanding } from '#worker/spaces/knowledge.ts'
import type { Accounts } from './accounts.ts'

export interface SpaceParts {
  readonly accounts: Pick<Accounts, 'database' | 'isEldest'>
  /** For a node that keeps nothing. */
  readonly memoryAudit: MemoryAudit
  readonly log: Log
  readonly catalog: () => Catalog
  readonly scheduler: Scheduler
  readonly outside: Outside
}

export interface Spaces {
  readonly guard: SpaceGuard
  readonly store: SpaceStore
  /** Undefined until the store was read once: an admin may have accepted any number of spaces. */
  readonly generationOf: (model: string) => number | undefined
  /** Whether a guarded deployment, of whatever catalog, is gone by now or leads elsewhere. */
  readonly isWithdrawn: (deployment: { readonly id: string }) => boolean
  /** Resolves when it knows what the store knows, or has waited long enough for it. */
  start(): Promise<void>
  /** To be called in the turn in which the catalog changes. */
  reload(): void
  stop(): Promise<void>
}

/**
 * A store that is slow is waited for: without it nobody knows who is in quarantine. It fails by itself when it is away, after
 * three seconds without a connection, ten without an answer to a statement.
 */
const FIRST_READ_MS = 15_000
/** A start does not wait longer for upstreams that are away: who may not serve is held back. */
const FIRST_PROBES_MS = 2000
/** Eight short texts; a start and an admin wait for it. */
const PROBE_TIMEOUT_MS = 10_000

export function openSpaces(parts: SpaceParts): Spaces {
  const { accounts, memoryAudit, log, catalog, scheduler, outside } = parts
  const { clock, limits } = outside
  const store = accounts.database ? new PostgresSpaces(accounts.database) : new MemorySpaces(memoryAudit)
  const probing = { ...outside, limits: { ...limits, requestTimeoutMs: PROBE_TIMEOUT_MS } }
  const onTrouble = (error: unknown): void => {
    if (!(error instanceof StoreAway)) log.warn({ err: error }, 'the space guard could not look')
  }
  const guard = new SpaceGuard({
    store,
    catalog,
    probe: (model, deployment) => probeSpace(model, deployment, PROBE_TEXTS, probing),
    clock,
    isProber: accounts.isEldest,
    onStanding: (standing) => scheduler.hold(standing.deployment, heldOf(standing)),
    onAlert: (alert) =>
      alert.kind === 'returned'
        ? log.info({ alert }, 'a deployment answers in its vector space again')
        : alert.kind === 'unprobed'
          ? log.error({ alert }, 'a deployment could not be compared with its vector space')
          : log.error({ alert }, 'a deployment may have left its vector space'),
    onTrouble,
  })
  const targets = new Targets()
  targets.replace(catalog())
  return {
    guard,
    store,
    generationOf: (model) => (guard.hasRead ? guard.generationOf(model) : undefined),
    isWithdrawn: (deployment) => targets.isWithdrawn(deployment),
    async start() {
      await within(FIRST_READ_MS, guard.follow().catch(onTrouble))
      if (!guard.hasRead)
        log.error(
          'the store could not be read: until it can, the first deployment of each model serves, and pinned spaces are refused',
        )
      await within(FIRST_PROBES_MS, guard.start())
    },
    reload() {
      targets.replace(catalog())
      guard.reload()
    },
    stop: () => guard.stop(),
  }
}

function heldOf({ state }: GuardedStanding): Held | undefined {
  return state === 'quarantined' || state === 'held-back' ? state : undefined
}

function within(ms: number, work: Promise<unknown>): Promise<unknown> {
  return Promise.race([work, delay(ms, undefined, { ref: false })])
}

/** Where embedding deployments lead, in the catalog of this moment and in those that requests under way still hold. */
class Targets {
  readonly #models = new WeakMap<object, EmbeddingModel>()
  #current: ReadonlyMap<string, Deployment> = new Map()

  replace(catalog: Catalog): void {
    const current = new Map<string, Deployment>()
    for (const model of listModels(catalog)) {
      if (model.kind !== 'embedding') continue
      for (const deployment of model.deployments) {
        current.set(deployment.id, deployment)
        this.#models.set(deployment, model)
      }
    }
    this.#current = current
  }

  isWithdrawn(deployment: { readonly id: string }): boolean {
    const current = this.#current.get(deployment.id)
    if (current === deployment) return false
    const model = this.#models.get(deployment)
    // Pictures have no space.
    if (model === undefined || !model.isGuarded) return false
    if (current === undefined) return true
    return this.#targetOf(current) !== this.#targetOf(deployment as Deployment)
  }

  #targetOf(deployment: Deployment): string {
    return targetOf(this.#models.get(deployment) as EmbeddingModel, deployment)
  }
}
