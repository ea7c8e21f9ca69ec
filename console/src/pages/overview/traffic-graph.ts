/** Flows as nodes in three columns and ribbons between them. Pure, tested. */
import type { Flow, Overview } from '../../api/queries/overview.ts'
import { upstreamOf } from '../../parts/deployments/short-names.ts'
import type { Ribbon, RibbonGraph } from '../../charts/ribbons/layout.ts'

export type Brief = Overview['deployments'][number]
export type Metric = 'requests' | 'tokens' | 'images' | 'usd'
export const METRICS: readonly Metric[] = ['requests', 'tokens', 'images', 'usd']

export type Look = 'embedding' | 'image' | 'cache' | 'failed' | 'idle'

export interface TrafficNode {
  readonly id: string
  readonly column: 'key' | 'model' | 'deployment'
  /** Of the key, the model or the deployment; undefined: it stands for `others` many. */
  readonly subject: string | undefined
  readonly others: number
  readonly name: string
  /** A second; of dollars an hour. */
  readonly value: number
  readonly look: Look
  /** Of a deployment alone. */
  readonly brief?: Brief | undefined
  readonly p95Ms?: number | null
  readonly group?: string
}

interface TrafficRibbon extends Ribbon {
  readonly look: Look
  /** What `Requests` is filtered by. */
  readonly filter: { readonly key?: string; readonly model?: string; readonly deployment?: string }
  /** The keys, models and deployments whose way it is a part of. */
  readonly ways: ReadonlySet<string>
}

export interface TrafficGraph extends RibbonGraph {
  readonly columns: readonly (readonly TrafficNode[])[]
  readonly ribbons: readonly TrafficRibbon[]
}

/** What a screen has room for. */
const MOST_KEYS = 8
const MOST_MODELS = 8
const MOST_DEPLOYMENTS = 16
const OTHERS = '…'

export function valueOf(flow: Flow, metric: Metric): number {
  return metric === 'usd' ? Number(flow.usd) * 3600 : flow[metric]
}

/** `order` puts names that stay in their place before those that came later. */
export function trafficGraph(
  flows: readonly Flow[],
  deployments: readonly Brief[],
  metric: Metric,
  order: (column: string, ideal: readonly string[]) => readonly string[] = (_, ideal) => ideal,
): TrafficGraph {
  const sum = (of: (flow: Flow) => string): Map<string, number> => {
    const sums = new Map<string, number>()
    for (const flow of flows) sums.set(of(flow), (sums.get(of(flow)) ?? 0) + valueOf(flow, metric))
    return sums
  }
  const [byKey, byModel] = [sum(({ key }) => key), sum(({ model }) => model)]
  // A model without traffic has a place when something is wrong with it, or when there is no traffic at all.
  for (const { model, state } of deployments)
    if (!byModel.has(model) && (flows.length === 0 || state !== 'healthy')) byModel.set(model, 0)
  const keys = order('key', ranked(byKey)).slice(0, MOST_KEYS)
  const models = order('model', ranked(byModel)).slice(0, MOST_MODELS)
  const ends = endsOf(flows, deployments, models)
  const shownEnds = new Set(ends.slice(0, MOST_DEPLOYMENTS).map(({ id }) => id))
  const place = (
    column: 'key' | 'model' | 'deployment',
    subject: string,
    shown: ReadonlySet<string>,
  ): string => `${column}:${shown.has(subject) ? subject : OTHERS}`
  const ribbons = new Map<string, TrafficRibbon>()
  const add = (ribbon: Omit<TrafficRibbon, 'id' | 'ways'>, ways: readonly string[]): void => {
    const id = `${ribbon.from}→${ribbon.to}:${ribbon.look}`
    const before = ribbons.get(id)
    ribbons.set(id, {
      ...ribbon,
      id,
      value: (before?.value ?? 0) + ribbon.value,
      ways: new Set([...(before?.ways ?? []), ...ways]),
    })
  }
  const shown = { keys: new Set(keys), models: new Set(models) }
  for (const flow of flows) {
    const value = valueOf(flow, metric)
    if (value === 0) continue
    const [key, model, end] = [
      place('key', flow.key, shown.keys),
      place('model', flow.model, shown.models),
      place('deployment', endOf(flow), shownEnds),
    ]
    const ways = [key, model, end]
    const look = lookOf(flow, deployments)
    add(
      {
        from: key,
        to: model,
        value,
        look: look === 'cache' ? kindOf(flow, deployments) : look,
        filter: { key: flow.key, model: flow.model },
      },
      ways,
    )
    const failed = metric === 'requests' ? Math.min(flow.failed, value) : 0
    const filter = { model: flow.model, ...(flow.deployment !== null && { deployment: flow.deployment }) }
    if (value > failed) add({ from: model, to: end, value: value - failed, look, filter }, ways)
    if (failed > 0) add({ from: model, to: end, value: failed, look: 'failed', filter }, ways)
  }
  const columns = [
    nodesOf('key', keys, byKey, ({ key }) => key, flows, deployments),
    nodesOf('model', models, byModel, ({ model }) => model, flows, deployments),
    endNodes(ends, shownEnds, flows, deployments, metric),
  ]
  return { columns, ribbons: [...ribbons.values()] }
}

function ranked(sums: ReadonlyMap<string, number>): string[] {
  return [...sums].toSorted(([left, a], [right, b]) => b - a || (left < right ? -1 : 1)).map(([name]) => name)
}

/** The cache of a model is where its hits end. */
function endOf({ model, deployment }: Pick<Flow, 'model' | 'deployment'>): string {
  return deployment ?? `${model}/`
}

interface End {
  readonly id: string
  readonly model: string
}

/** In the order of the models, then as configured; what is unknown to the caller and the cache come last. */
function endsOf(
  flows: readonly Flow[],
  deployments: readonly Brief[],
  models: readonly string[],
): readonly End[] {
  return models.flatMap((model) => {
    const known = deployments.filter((one) => one.model === model).map(({ id }) => id)
    const used = flows.filter((flow) => flow.model === model)
    const unknown = used.flatMap(({ deployment }) =>
      deployment === null || known.includes(deployment) ? [] : [deployment],
    )
    const cache = used.some(({ deployment }) => deployment === null)
      ? [endOf({ model, deployment: null })]
      : []
    return [...new Set([...known, ...unknown, ...cache])].map((id) => ({ id, model }))
  })
}

function kindOf(flow: Pick<Flow, 'model' | 'images'>, deployments: readonly Brief[]): 'embedding' | 'image' {
  return (
    deployments.find(({ model }) => model === flow.model)?.kind ?? (flow.images > 0 ? 'image' : 'embedding')
  )
}

function lookOf(flow: Flow, deployments: readonly Brief[]): Look {
  return flow.deployment === null ? 'cache' : kindOf(flow, deployments)
}

function nodesOf(
  column: 'key' | 'model',
  shown: readonly string[],
  sums: ReadonlyMap<string, number>,
  of: (flow: Flow) => string,
  flows: readonly Flow[],
  deployments: readonly Brief[],
): TrafficNode[] {
  const nodes = shown.map((subject): TrafficNode => {
    const own = flows.find((flow) => of(flow) === subject)
    const kind = kindOf(own ?? { model: subject, images: 0 }, deployments)
    return {
      id: `${column}:${subject}`,
      column,
      subject,
      others: 0,
      name: subject,
      value: sums.get(subject) ?? 0,
      look: kind,
    }
  })
  const rest = [...sums].filter(([name]) => !shown.includes(name))
  if (rest.length === 0) return nodes
  const value = rest.reduce((sum, [, one]) => sum + one, 0)
  return [
    ...nodes,
    {
      id: `${column}:${OTHERS}`,
      column,
      subject: undefined,
      others: rest.length,
      name: '',
      value,
      look: 'idle',
    },
  ]
}

function endNodes(
  ends: readonly End[],
  shown: ReadonlySet<string>,
  flows: readonly Flow[],
  deployments: readonly Brief[],
  metric: Metric,
): TrafficNode[] {
  const nodes = ends
    .filter(({ id }) => shown.has(id))
    .map(({ id, model }): TrafficNode => {
      const through = flows.filter((flow) => endOf(flow) === id)
      const times = through.flatMap(({ p95_ms: ms }) => (ms === null ? [] : [ms]))
      const isCache = id === endOf({ model, deployment: null })
      return {
        id: `deployment:${id}`,
        column: 'deployment',
        subject: isCache ? undefined : id,
        others: 0,
        name: upstreamOf(id, model),
        value: through.reduce((sum, flow) => sum + valueOf(flow, metric), 0),
        look: isCache ? 'cache' : kindOf({ model, images: 0 }, deployments),
        brief: deployments.find((one) => one.id === id),
        p95Ms: times.length === 0 ? null : Math.max(...times),
        group: model,
      }
    })
  const rest = flows.filter((flow) => !shown.has(endOf(flow)))
  const others = new Set([...ends.map(({ id }) => id), ...flows.map(endOf)].filter((id) => !shown.has(id)))
    .size
  if (others === 0) return nodes
  const value = rest.reduce((sum, flow) => sum + valueOf(flow, metric), 0)
  return [
    ...nodes,
    {
      id: `deployment:${OTHERS}`,
      column: 'deployment',
      subject: undefined,
      others,
      name: '',
      value,
      look: 'idle',
    },
  ]
}

/** Keeps names in their places: another order counts only after it has held for a while. */
export class SteadyOrder {
  readonly #columns = new Map<string, { order: readonly string[]; differsSinceMs: number | undefined }>()

  of(column: string, ideal: readonly string[], nowMs: number): readonly string[] {
    const known = this.#columns.get(column)
    const kept = known?.order.filter((name) => ideal.includes(name)) ?? []
    const order = [...kept]
    for (const [index, name] of ideal.entries()) if (!kept.includes(name)) order.splice(index, 0, name)
    const isIdeal = order.every((name, index) => name === ideal[index])
    const differsSinceMs = isIdeal ? undefined : (known?.differsSinceMs ?? nowMs)
    const isOver = differsSinceMs !== undefined && nowMs - differsSinceMs >= STEADY_MS
    this.#columns.set(
      column,
      isOver ? { order: ideal, differsSinceMs: undefined } : { order, differsSinceMs },
    )
    return isOver ? ideal : order
  }
}

/** Two keys that take turns at the top would make the picture jump every second. */
const STEADY_MS = 10_000
