/** Composition of what the control API shows of models. */
import { knownProviders, offeredModels, tryUpstream } from '#config/build/offer.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { DeploymentReport } from '#core/schedule/scheduler.ts'
import type { ModelsDependencies } from '#http/control/models/routes.ts'
import type { StoredModelsDependencies } from '#http/control/upstreams/models.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from './catalog.ts'
import type { SharedVectors } from './sharing.ts'
import type { Spaces } from './spaces.ts'
import type { Stores } from './stores.ts'
import type { Traffic } from './traffic.ts'
import type { Upstreams } from './upstreams.ts'

export interface ModelParts {
  readonly upstreams: Pick<Upstreams, 'listing'>
  readonly catalog: CatalogInForce
  readonly stores: Pick<Stores, 'modelFigures' | 'upstreams' | 'credentials'>
  readonly traffic: Pick<Traffic, 'scheduler'>
  readonly spaces: Pick<Spaces, 'generationOf'>
  readonly sharing: Pick<SharedVectors, 'averageItems'>
}

/** What the routes about models and upstreams need. */
export interface ModelRoutes {
  readonly models: ModelsDependencies
  /** Undefined: nothing is kept, so that nothing can be added. */
  readonly storedModels: StoredModelsDependencies | undefined
}

export function modelsFor(basics: Basics, parts: ModelParts): ModelRoutes {
  const models = shownModels(basics, parts)
  return { models, storedModels: storedModels(basics, parts, models) }
}

function shownModels({ clock, limits }: Basics, parts: ModelParts): ModelsDependencies {
  const { catalog, stores, traffic, spaces, sharing } = parts
  const standings = new Standings(clock.nowMs())
  return {
    catalog: () => catalog.current,
    declared: () => catalog.projects,
    figures: stores.modelFigures,
    generationOf: spaces.generationOf,
    averageItems: sharing.averageItems,
    limits,
    standingOf: (deployment) => {
      const nowMs = clock.monotonicMs()
      const report = traffic.scheduler.states(nowMs).find((one) => one.deployment === deployment)
      return standings.of(deployment, report, { nowMs: clock.nowMs(), monotonicMs: nowMs })
    },
  }
}

function storedModels(
  { clock }: Basics,
  { catalog, stores, upstreams: { listing } }: ModelParts,
  models: ModelsDependencies,
): StoredModelsDependencies | undefined {
  const { upstreams, credentials } = stores
  if (upstreams === undefined) return undefined
  return {
    catalog: () => catalog.declared,
    upstreams,
    credentials,
    offers: {
      providers: () => knownProviders(),
      build: (name, entry) => tryUpstream(name, entry),
      async check(name, entry, secret) {
        const tried = tryUpstream(name, secret === undefined ? entry : { ...entry, apiKey: secret })
        if (!('upstream' in tried)) throw new Error(`an upstream that can't be built was checked`)
        const startedMs = clock.monotonicMs()
        const outcome = await listing.list(tried.upstream).catch((error: unknown) => {
          if (error instanceof UpstreamFailure) return error
          throw error
        })
        const durationMs = clock.monotonicMs() - startedMs
        if (outcome instanceof UpstreamFailure)
          return { durationMs, failure: outcome, isListed: false, models: [] }
        const ids = outcome.kind === 'listed' ? outcome.ids : undefined
        return {
          durationMs,
          failure: undefined,
          isListed: ids !== undefined,
          models: offeredModels(tried, ids),
        }
      },
    },
    inForce: () => catalog.completed(),
    problemsWith: (additions) => catalog.problemsWith(additions),
    view: { ...models, figures: undefined },
  }
}

/** Since when each deployment is in its state, as far as this node has looked. */
class Standings {
  readonly #startedAtMs: number
  readonly #seen = new Map<string, { readonly state: DeploymentReport['state']; readonly sinceMs: number }>()

  constructor(startedAtMs: number) {
    this.#startedAtMs = startedAtMs
  }

  of(
    deployment: string,
    report: DeploymentReport | undefined,
    { nowMs, monotonicMs }: { readonly nowMs: number; readonly monotonicMs: number },
  ) {
    const state = report?.state ?? 'healthy'
    const seen = this.#seen.get(deployment)
    const sinceMs = seen === undefined ? this.#startedAtMs : seen.state === state ? seen.sinceMs : nowMs
    this.#seen.set(deployment, { state, sinceMs })
    const untilMs = report?.closedUntilMs
    return { state, sinceMs, untilMs: untilMs === undefined ? undefined : nowMs + untilMs - monotonicMs }
  }
}
