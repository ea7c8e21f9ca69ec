/** Traffic on a narrow screen: one bar a model, a part of it for each deployment, and what each of them is like. */
import { Zap } from 'lucide-react'
import type { Flow, Overview } from '../../api/queries/overview.ts'
import { duration, rate } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { paint, type Colour } from '../../charts/colours.ts'
import { STATE_MARKS } from '../../parts/deployments/state-marks.ts'
import { Empty } from '../../ui/empty.tsx'
import { Link } from '../../ui/link.tsx'
import { MARK_TEXT, StateMark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { modelsIn, type ModelTraffic } from './model-traffic.ts'

type State = Overview['deployments'][number]['state']

interface ModelBarsProps {
  readonly flows: readonly Flow[]
  readonly deployments: Overview['deployments']
}

export function ModelBars({ flows, deployments }: ModelBarsProps) {
  const models = modelsIn(flows, deployments)
  const most = Math.max(...models.map(({ requests }) => requests))
  if (models.length === 0) return <Empty title={words.overview.quiet}>{words.overview.quietText}</Empty>
  return (
    <ul className="flex flex-col gap-3 px-4 pb-4">
      {models.map((model) => (
        <li key={model.model}>
          <Link to={paths.model(model.model)} className="block">
            <Bar model={model} most={most} />
          </Link>
        </li>
      ))}
    </ul>
  )
}

function Bar({ model, most }: { readonly model: ModelTraffic; readonly most: number }) {
  return (
    <>
      <span className="flex gap-3">
        <span className="min-w-0 flex-1 truncate font-strong">{model.model}</span>
        <span className="font-strong tabular-nums">{rate(model.requests)}</span>
      </span>
      <span aria-hidden className="my-1 flex h-1.5 gap-px overflow-hidden rounded-[2px]">
        {model.parts.map(({ deployment, requests, state }) => (
          <span
            key={deployment ?? ''}
            style={{
              width: `${(requests / most) * 100}%`,
              background: paint(colourOf(deployment, state)),
            }}
          />
        ))}
      </span>
      <span className="flex flex-wrap gap-x-3.5 gap-y-0.5 text-12 text-ink-2">
        {model.parts.map((part) => (
          <Part key={part.deployment ?? ''} part={part} />
        ))}
      </span>
    </>
  )
}

function Part({ part }: { readonly part: ModelTraffic['parts'][number] }) {
  const { deployment, name, state, p95Ms } = part
  if (deployment === null)
    return (
      <span className="flex items-center gap-1.5">
        <Zap size={11} aria-hidden className="fill-current text-good-fill" />
        {words.overview.cache}
      </span>
    )
  const mark = STATE_MARKS[state]
  return (
    <span className="flex items-center gap-1.5">
      <StateMark mark={mark} word={words.deployments.states[state]} size={9} />
      {name}
      <span className={mark === 'good' ? 'text-ink-3' : MARK_TEXT[mark]}>
        {mark === 'good' ? duration(p95Ms) : words.deployments.states[state]}
      </span>
    </span>
  )
}

function colourOf(deployment: string | null, state: State): Colour {
  if (deployment === null) return 's3'
  return state === 'ejected' ? 'bad' : 'pale'
}
