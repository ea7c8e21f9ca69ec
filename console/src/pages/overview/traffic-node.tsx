/** The words of one node of the traffic picture; a click opens what it stands for. */
import { Zap } from 'lucide-react'
import { age, count, duration, moneyInList, rate } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import type { NodePlace } from '../../charts/ribbons/layout.ts'
import { paint } from '../../charts/colours.ts'
import { STATE_MARKS } from '../../parts/deployments/state-marks.ts'
import { classes } from '../../ui/classes.ts'
import { Link, type Address } from '../../ui/link.tsx'
import { MARK_TEXT, StateMark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import type { Metric, TrafficNode } from './traffic-graph.ts'
import { BAR, LOOK_COLOUR, type Columns } from './traffic-look.ts'

interface TrafficNodeLabelProps {
  readonly node: TrafficNode
  readonly place: NodePlace | undefined
  readonly columns: Columns
  readonly metric: Metric
  readonly nowMs: number
  /** Arrow keys lead on from here. */
  readonly isTabStop: boolean
  readonly onLook: (id: string | undefined) => void
  readonly onStop: (id: string) => void
}

const LINE = 20

export function TrafficNodeLabel(props: TrafficNodeLabelProps) {
  const { node, place, columns, isTabStop, onLook, onStop } = props
  if (place === undefined) return null
  const isBox = node.column === 'model'
  const [left, right] = edgesOf(node, columns)
  const style = {
    left,
    ...(right === undefined ? { right: 0 } : { width: right - left }),
    top: isBox ? place.y : place.y + place.height / 2 - LINE / 2,
    height: isBox ? place.height : LINE,
    ...(isBox && { borderColor: paint(LOOK_COLOUR[node.look]) }),
  }
  const look = classes(
    'absolute flex items-center gap-2 text-12 whitespace-nowrap',
    isBox && 'rounded-control border bg-surface px-3',
  )
  const events = {
    'data-node': node.id,
    onPointerEnter: () => onLook(node.id),
    onPointerLeave: () => onLook(undefined),
    tabIndex: isTabStop ? 0 : -1,
    onFocus: () => {
      onLook(node.id)
      onStop(node.id)
    },
    onBlur: () => onLook(undefined),
  }
  const to = addressOf(node)
  const parts = <Parts {...props} />
  if (to === undefined)
    return (
      <span {...events} className={look} style={style}>
        {parts}
      </span>
    )
  return (
    <Link {...events} to={to} className={look} style={style}>
      {parts}
    </Link>
  )
}

function edgesOf({ column }: TrafficNode, { keyX, modelX, modelEndX, deploymentX }: Columns) {
  if (column === 'key') return [0, keyX - 8] as const
  if (column === 'model') return [modelX, modelEndX] as const
  return [deploymentX + BAR + 8, undefined] as const
}

function addressOf({ column, subject }: TrafficNode): Address | undefined {
  if (subject === undefined) return undefined
  if (column === 'key') return subject.includes('/') ? paths.key(subject) : undefined
  return column === 'model' ? paths.model(subject) : paths.deployment(subject)
}

function Parts({ node, metric, nowMs }: TrafficNodeLabelProps) {
  const value = <span className="text-ink-2 tabular-nums">{valueText(node.value, metric)}</span>
  const name =
    node.others > 0
      ? words.overview.picture.others(node.others)
      : node.look === 'cache'
        ? words.overview.cache
        : node.name
  if (node.column === 'key')
    return (
      <>
        {value}
        <span className="min-w-0 flex-1 truncate text-right text-ink">{name}</span>
      </>
    )
  if (node.column === 'model')
    return (
      <>
        <span className="min-w-0 flex-1 truncate font-strong text-ink">{name}</span>
        <span className="font-strong text-ink tabular-nums">{valueText(node.value, metric)}</span>
      </>
    )
  return (
    <>
      <EndMark node={node} />
      <span className="min-w-0 flex-1 truncate text-ink">{name}</span>
      <EndState node={node} nowMs={nowMs} />
      <span className="w-12 shrink-0 text-right font-strong text-ink tabular-nums">
        {valueText(node.value, metric)}
      </span>
    </>
  )
}

function EndMark({ node }: { readonly node: TrafficNode }) {
  if (node.look === 'cache') return <Zap size={12} aria-hidden className="fill-current text-good-fill" />
  if (node.brief === undefined) return <span className="w-3" />
  const { state } = node.brief
  return <StateMark mark={STATE_MARKS[state]} word={words.deployments.states[state]} />
}

/** What is wrong comes first; else how fast it is. */
function EndState({ node: { brief, p95Ms }, nowMs }: { readonly node: TrafficNode; readonly nowMs: number }) {
  const mark = brief === undefined ? 'good' : STATE_MARKS[brief.state]
  if (brief === undefined || mark === 'good')
    return (
      <span className="text-ink-2 tabular-nums">
        {p95Ms === null || p95Ms === undefined ? '' : duration(p95Ms)}
      </span>
    )
  const leftMs = brief.until === null ? 0 : Date.parse(brief.until) - nowMs
  const state = words.deployments.states[brief.state]
  return <span className={MARK_TEXT[mark]}>{leftMs > 0 ? `${state} · ${age(leftMs)}` : state}</span>
}

function valueText(value: number, metric: Metric): string {
  if (metric === 'usd') return moneyInList(value.toFixed(9))
  return metric === 'tokens' ? count(Math.round(value)) : rate(value)
}
