/** Composition of what the control API shows of models. */
import type { DeploymentReport } from '#core/schedule/scheduler.ts'
import type { ModelsDependencies } from '#http/control/models/routes.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from './catalog.ts'
import type { SharedVectors } from './sharing.ts'
import type { Spaces } from './spaces.ts'
import type { Stores } from './stores.ts'
import type { Traffic } from './traffic.ts'

export interface ModelParts {
  readonly catalog: CatalogInForce
  readonly stores: Pick<Stores, 'modelFigures'>
  readonly traffic: Pick<Traffic, 'scheduler'>
  readonly spaces: Pick<Spaces, 'generationOf'>
  readonly sharing: Pick<SharedVectors, 'averageItems'>
}

export function modelsFor({ clock, limits }: Basics, parts: ModelParts): ModelsDependencies {
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
