/** Who sends what where, as ribbons from keys through models to deployments. */
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useState, type KeyboardEvent } from 'react'
import type { Flow } from '../../api/queries/overview.ts'
import { paths } from '../../app/paths.ts'
import { paint } from '../../charts/colours.ts'
import { useEased } from '../../charts/ribbons/eased.ts'
import { ribbonLayout, type RibbonLayout } from '../../charts/ribbons/layout.ts'
import { RibbonBands } from '../../charts/ribbons/ribbon-bands.tsx'
import { useSize } from '../../charts/size.ts'
import { words } from '../../words/words.ts'
import { BAR, columnsIn, LOOK_COLOUR, stateColour, type Columns } from './traffic-look.ts'
import { TrafficNodeLabel } from './traffic-node.tsx'
import { SteadyOrder, trafficGraph, type Brief, type Metric, type TrafficNode } from './traffic-graph.ts'

interface TrafficPictureProps {
  readonly flows: readonly Flow[]
  readonly deployments: readonly Brief[]
  readonly metric: Metric
  /** When this was so. */
  readonly nowMs: number
}

const LEAST_HEIGHT = 280

export function TrafficPicture({ flows, deployments, metric, nowMs }: TrafficPictureProps) {
  const [ref, size] = useSize<HTMLDivElement>()
  const [steady] = useState(() => new SteadyOrder())
  const [looked, setLooked] = useState<string>()
  const [stop, setStop] = useState<string>()
  const graph = useMemo(
    () =>
      trafficGraph(flows, deployments, metric, (column, ideal) =>
        steady.of(`${metric} ${column}`, ideal, nowMs),
      ),
    [flows, deployments, metric, nowMs, steady],
  )
  const leastHeight = useMemo(() => ribbonLayout(graph, LEAST_HEIGHT).height, [graph])
  const target = useMemo(
    () => ribbonLayout(graph, Math.max(leastHeight, size.height)),
    [graph, leastHeight, size.height],
  )
  const layout = useEased(target)
  const navigate = useNavigate()
  const columns = columnsIn(size.width)
  const nodes = graph.columns.flat()
  const tabStop = nodes.find(({ id }) => id === stop)?.id ?? nodes[0]?.id
  const xOf = (id: string, end: 'from' | 'to'): number => columns[end][id.split(':', 1)[0] ?? ''] ?? 0
  const bands = graph.ribbons.map((ribbon) => ({
    id: ribbon.id,
    fromX: xOf(ribbon.from, 'from'),
    toX: xOf(ribbon.to, 'to'),
    colour: paint(LOOK_COLOUR[ribbon.look]),
    isLit: looked === undefined ? undefined : ribbon.id === looked || ribbon.ways.has(looked),
    onClick: () => void navigate(paths.requests(ribbon.filter)),
    onHover: (isOver: boolean) => setLooked(isOver ? ribbon.id : undefined),
  }))
  return (
    <div className="flex min-h-0 flex-1 flex-col px-6 pb-5">
      <Heads columns={columns} metric={metric} />
      <div ref={ref} className="relative flex-1" style={{ minHeight: leastHeight }}>
        {size.width > 0 && (
          <Nodes graph={graph.columns} layout={layout} onLook={setLooked}>
            <RibbonBands layout={layout} width={size.width} bands={bands}>
              <Bars graph={graph.columns} layout={layout} columns={columns} />
            </RibbonBands>
            {nodes.map((node) => (
              <TrafficNodeLabel
                key={node.id}
                node={node}
                place={layout.nodes.get(node.id)}
                columns={columns}
                metric={metric}
                nowMs={nowMs}
                isTabStop={node.id === tabStop}
                onLook={setLooked}
                onStop={setStop}
              />
            ))}
          </Nodes>
        )}
      </div>
    </div>
  )
}

function Heads({ columns, metric }: { readonly columns: Columns; readonly metric: Metric }) {
  const { picture } = words.overview
  return (
    <div aria-hidden className="relative h-6 shrink-0 text-11 text-ink-2">
      <span className="absolute left-0">{picture.units[metric]}</span>
      <span className="absolute" style={{ right: `calc(100% - ${columns.keyX - 8}px)` }}>
        {picture.keys}
      </span>
      <span className="absolute" style={{ left: columns.modelX + 12 }}>
        {picture.models}
      </span>
      <span className="absolute" style={{ left: columns.deploymentX + 32 }}>
        {picture.deployments}
      </span>
      <span className="absolute right-18">p95</span>
      <span className="absolute right-0">{picture.units[metric]}</span>
    </div>
  )
}

interface BarsProps {
  readonly graph: readonly (readonly TrafficNode[])[]
  readonly layout: RibbonLayout
  readonly columns: Columns
}

function Bars({ graph, layout, columns }: BarsProps) {
  return graph.flat().map((node) => {
    const place = layout.nodes.get(node.id)
    if (place === undefined || node.column === 'model') return null
    const colour = node.column === 'key' ? paint('ink-2') : stateColour(node)
    const x = node.column === 'key' ? columns.keyX : columns.deploymentX
    const isIdle = node.column === 'deployment' && node.value === 0
    const height = isIdle ? BAR / 2 : place.height
    const y = isIdle ? place.y + place.height / 2 - height / 2 : place.y
    const model = layout.nodes.get(`model:${node.group}`)
    return (
      <g key={node.id}>
        {isIdle && model !== undefined && (
          <path
            d={dashed(columns.modelEndX, model.y + model.height * 0.75, columns.deploymentX, y + height / 2)}
            fill="none"
            stroke={colour}
            strokeDasharray="3 3"
            opacity={0.7}
          />
        )}
        <rect x={x} y={y} width={BAR} height={height} rx={1} fill={colour} />
      </g>
    )
  })
}

function dashed(fromX: number, fromY: number, toX: number, toY: number): string {
  const middle = (fromX + toX) / 2
  return `M${fromX} ${fromY}C${middle} ${fromY} ${middle} ${toY} ${toX} ${toY}`
}

interface NodesProps {
  readonly graph: readonly (readonly TrafficNode[])[]
  readonly layout: RibbonLayout
  readonly onLook: (id: string | undefined) => void
  readonly children: React.ReactNode
}

/** One tab stop: arrow keys walk over the nodes, column by column. */
function Nodes({ graph, layout, onLook, children }: NodesProps) {
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    const steps: Record<string, readonly [columns: number, rows: number]> = {
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
    }
    const step = steps[event.key]
    const focused = (event.target as HTMLElement).closest<HTMLElement>('[data-node]')
    if (step === undefined || focused === null) return
    event.preventDefault()
    const next = nextNode(graph, layout, focused.dataset['node'] ?? '', step)
    const part = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-node]')].find(
      ({ dataset }) => dataset['node'] === next,
    )
    part?.focus()
    if (next !== undefined) onLook(next)
  }
  return (
    <div
      role="group"
      aria-label={words.overview.picture.label}
      className="absolute inset-x-0 top-0"
      style={{ height: layout.height }}
      onKeyDown={onKeyDown}
    >
      {children}
    </div>
  )
}

function nextNode(
  graph: readonly (readonly TrafficNode[])[],
  layout: RibbonLayout,
  id: string,
  [columns, rows]: readonly [columns: number, rows: number],
): string | undefined {
  const at = graph.findIndex((column) => column.some((node) => node.id === id))
  const column = graph[at] ?? []
  const index = column.findIndex((node) => node.id === id)
  if (columns === 0) return column[index + rows]?.id
  const middle = (node: string): number => {
    const place = layout.nodes.get(node)
    return place === undefined ? 0 : place.y + place.height / 2
  }
  return (graph[at + columns] ?? [])
    .map((node) => node.id)
    .toSorted((left, right) => Math.abs(middle(left) - middle(id)) - Math.abs(middle(right) - middle(id)))[0]
}
