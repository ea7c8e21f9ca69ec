/** Composition of what the control API shows of models. */
import { knownProviders, offeredModels, tryUpstream } from '#config/build/offer.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { healthOf, weekFromMs, WEEK_CELL_MS } from '#http/control/models/health.ts'
import type { ModelsDependencies } from '#http/control/models/routes.ts'
import type { StoredModelsDependencies } from '#http/control/upstreams/models.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from './catalog.ts'
import { shared, type Live } from './live.ts'
import type { SharedVectors } from './sharing.ts'
import type { Spaces } from './spaces.ts'
import type { Stores } from './stores.ts'
import type { Upstreams } from './upstreams.ts'

/** Slots of six hours change slowly, and a week of them is a sum over many rows. */
const WEEK_MS = 20_000

export interface ModelParts {
  readonly upstreams: Pick<Upstreams, 'listing'>
  readonly catalog: CatalogInForce
  readonly stores: Pick<Stores, 'modelFigures' | 'upstreams' | 'credentials' | 'drains' | 'history'>
  readonly live: Pick<Live, 'summaries'>
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
  const { catalog, stores, live, spaces, sharing } = parts
  const startedAtMs = clock.nowMs()
  const week = shared(
    WEEK_MS,
    () => clock.monotonicMs(),
    async () => {
      const fromMs = weekFromMs(clock.nowMs())
      return { fromMs, worst: (await stores.history?.worstStates(fromMs, WEEK_CELL_MS)) ?? [] }
    },
  )
  return {
    catalog: () => catalog.current,
    declared: () => catalog.projects,
    figures: stores.modelFigures,
    generationOf: spaces.generationOf,
    averageItems: sharing.averageItems,
    nowMs: () => clock.nowMs(),
    limits,
    health: async () => {
      const [summaries, drains, worst] = await Promise.all([live.summaries(), stores.drains.list(), week()])
      return healthOf({ summaries, drains, ...worst, startedAtMs })
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
    view: async () => ({ ...models, figures: undefined, health: await models.health() }),
  }
}
