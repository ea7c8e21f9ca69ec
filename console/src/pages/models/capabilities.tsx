/** Options × deployments: done by the upstream, done by Torana, or refused. */
import { Check, Minus, WandSparkles } from 'lucide-react'
import { Fragment } from 'react'
import type { Schema } from '../../api/client.ts'
import { whole } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { STATE_MARKS } from '../../parts/deployments/state-marks.ts'
import { Link } from '../../ui/link.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import { turnText } from './turns.ts'

type Model = Schema<'ModelDetail'>
type Cell = Model['options'][number]['by_deployment'][string]

const GROUPS = ['answers', 'takes', 'money'] as const

export function Capabilities({ model }: { readonly model: Model }) {
  const { detail } = words.models
  return (
    <>
      <div className="overflow-x-auto px-6 phone:px-4">
        <table
          className="w-full table-fixed border-collapse"
          style={{ minWidth: 140 + 150 * model.deployments.length }}
        >
          <colgroup>
            <col style={{ width: 140 }} />
            {model.deployments.map(({ id }) => (
              <col key={id} />
            ))}
          </colgroup>
          <thead>
            <tr className="border-b border-line text-left">
              <td />
              {model.deployments.map(({ id, upstream, state }) => (
                <th key={id} scope="col" className="h-14 pr-2 align-middle font-normal">
                  <Link
                    to={paths.deployment(id)}
                    className="flex items-center gap-2 font-strong hover:text-accent"
                  >
                    <StateMark mark={STATE_MARKS[state]} word={words.models.states[state]} size={9} />
                    <span className="truncate">{upstream}</span>
                  </Link>
                  <span className="block truncate text-12 text-ink-3">{turnText(model, id)}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {GROUPS.map((group) => (
              <Fragment key={group}>
                <tr>
                  <th
                    scope="colgroup"
                    colSpan={model.deployments.length + 1}
                    className="h-8 pt-2 text-left align-bottom text-11 font-normal text-ink-3"
                  >
                    {detail.groups[group]}
                  </th>
                </tr>
                {model.options
                  .filter((row) => row.group === group)
                  .map((row) => (
                    <tr key={row.option} className="border-b border-line">
                      <th scope="row" className="h-[30px] truncate pr-2 text-left font-normal text-ink-2">
                        {optionName(model, row.option)}
                      </th>
                      {model.deployments.map(({ id }) => (
                        <td key={id} className="truncate pr-2 align-middle">
                          <CellView cell={row.by_deployment[id]} />
                        </td>
                      ))}
                    </tr>
                  ))}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1 px-6 py-3 text-12 text-ink-2 phone:px-4">
        <Native /> {detail.nativeNote}
        <ByTorana text={detail.byTorana} /> {detail.byToranaNote}
        <Refused /> {detail.refusedNote}
      </p>
    </>
  )
}

function optionName({ kind }: Model, option: string): string {
  const { options } = words.models.detail
  if (option === 'price' && kind === 'image') return options['image price'] ?? option
  return options[option] ?? option
}

function CellView({ cell }: { readonly cell: Cell | undefined }) {
  if (cell === undefined) return <span className="text-ink-3">–</span>
  switch (cell.how) {
    case 'native':
      return <Native />
    case 'emulated':
      return <ByTorana text={words.models.detail.instead[cell.value] ?? cell.value} />
    case 'refused':
      return <Refused />
    case 'value':
      return <Figure value={cell.value} />
  }
}

function Figure({ value }: { readonly value: string }) {
  if (value === '') return <span className="text-ink-3">–</span>
  if (value === 'unpriced') return <Tag tone="warn">{words.ui.unpriced}</Tag>
  const isCount = /^\d{1,15}$/.test(value)
  return (
    <span className="tabular-nums">
      {isCount ? whole(Number(value)) : (words.models.detail.instead[value] ?? value)}
    </span>
  )
}

function Native() {
  return (
    <span className="flex items-center gap-1.5 text-12 text-good">
      <Check size={14} aria-hidden /> {words.models.detail.native}
    </span>
  )
}

function ByTorana({ text }: { readonly text: string }) {
  return (
    <span className="flex items-center gap-1.5 text-12 text-accent">
      <WandSparkles size={13} aria-hidden /> {text}
    </span>
  )
}

function Refused() {
  return (
    <span className="flex items-center gap-1.5 text-12 text-ink-3">
      <Minus size={13} aria-hidden /> {words.models.detail.refused}
    </span>
  )
}
