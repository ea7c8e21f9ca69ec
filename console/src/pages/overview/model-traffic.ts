/** Flows of keys as traffic of models. Pure, tested. */
import type { Flow, Overview } from '../../api/queries/overview.ts'
import { upstreamOf } from '../../parts/deployments/short-names.ts'

type Brief = Overview['deployments'][number]

interface Part {
  /** null: the vector cache. */
  readonly deployment: string | null
  /** Without its model, which stands above it. */
  readonly name: string
  readonly state: Brief['state']
  readonly requests: number
  /** The slowest of its flows. */
  readonly p95Ms: number | null
}

export interface ModelTraffic {
  readonly model: string
  readonly requests: number
  readonly parts: readonly Part[]
}

/** The busiest first. Deployments that are not well stand there without traffic too; the cache comes last. */
export function modelsIn(flows: readonly Flow[], deployments: readonly Brief[]): readonly ModelTraffic[] {
  const models = new Set(flows.map(({ model }) => model))
  return Array.from(models, (model) => {
    const own = flows.filter((flow) => flow.model === model)
    const ill = deployments
      .filter((one) => one.model === model && one.state !== 'healthy')
      .map(({ id }) => id)
    const ids = new Set([...own.map(({ deployment }) => deployment), ...ill])
    const parts = Array.from(ids, (deployment): Part => {
      const through = own.filter((flow) => flow.deployment === deployment)
      const times = through.flatMap(({ p95_ms: ms }) => (ms === null ? [] : [ms]))
      return {
        deployment,
        name: upstreamOf(deployment ?? '', model),
        state: deployments.find(({ id }) => id === deployment)?.state ?? 'healthy',
        requests: sumOf(through),
        p95Ms: times.length === 0 ? null : Math.max(...times),
      }
    })
    return { model, requests: sumOf(own), parts: parts.toSorted(inOrder) }
  }).toSorted((left, right) => right.requests - left.requests)
}

function sumOf(flows: readonly Flow[]): number {
  return flows.reduce((sum, { requests }) => sum + requests, 0)
}

function inOrder(left: Part, right: Part): number {
  const [isCache, isOther] = [left.deployment === null, right.deployment === null]
  return isCache === isOther ? right.requests - left.requests : isCache ? 1 : -1
}
