/** A request beside the one that was sent again: what differs is marked. */
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { requestQueries, type RequestDetail } from '../../api/queries/requests.ts'
import { clockExact, count, day, moneyExact, NONE, shortId } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { upstreamOf } from '../../parts/deployments/short-names.ts'
import { OutcomeHead } from '../../parts/requests/outcome.tsx'
import { classes } from '../../ui/classes.ts'
import { IconButton } from '../../ui/button.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Problem } from '../../ui/problem.tsx'
import { words } from '../../words/words.ts'
import { exactMs } from './peek.tsx'

interface CompareProps {
  readonly request: RequestDetail
  readonly replayId: string
  readonly onClose: () => void
}

export function Compare({ request, replayId, onClose }: CompareProps) {
  const found = useQuery(requestQueries.replayed(replayId))
  const say = words.replay
  const replay = found.data?.log === 'kept' ? found.data : undefined
  return (
    <section aria-label={say.compare} className="mt-3 rounded-control border border-line">
      <header className="flex items-center gap-2 border-b border-line px-3.5 py-1.5">
        <h2 className="text-13 font-semibold">{say.compare}</h2>
        <span className="ml-auto">
          <IconButton label={words.ui.close} size="small" onClick={onClose}>
            <X size={14} aria-hidden />
          </IconButton>
        </span>
      </header>
      {found.isError ? (
        <Problem error={found.error} retry={() => void found.refetch()} />
      ) : replay === undefined ? (
        <p role="status" className="px-3.5 py-3 text-12 text-ink-2">
          {say.waiting}
        </p>
      ) : (
        <CompareTable first={request} second={replay} />
      )}
    </section>
  )
}

function CompareTable({ first, second }: { readonly first: RequestDetail; readonly second: RequestDetail }) {
  const say = words.replay
  return (
    <div className="overflow-x-auto">
      <table className="w-full table-fixed text-12">
        <thead>
          <tr className="text-left text-ink-3">
            <th scope="col" className="w-34 px-3.5 py-1.5 font-normal phone:w-24">
              <span className="sr-only">{say.what}</span>
            </th>
            <th scope="col" className="px-2 py-1.5 font-normal">
              {say.original} <span className="mono-12 whitespace-nowrap">{shortId(first.id)}</span>
            </th>
            <th scope="col" className="px-2 py-1.5 font-normal">
              {say.again}{' '}
              <TextLink to={paths.request(second.id)}>
                <span className="mono-12 whitespace-nowrap">{shortId(second.id)}</span>
              </TextLink>
            </th>
          </tr>
        </thead>
        <tbody>
          {rowsOf(first, second).map(({ name, cells, texts }) => (
            <tr key={name} className="border-t border-line align-top">
              <th scope="row" className="px-3.5 py-1.5 text-left font-normal text-ink-3">
                {name}
              </th>
              {cells.map((cell, index) => (
                <td
                  key={index}
                  className={classes(
                    'px-2 py-1.5 break-words tabular-nums',
                    index === 1 && texts.length > 0 && texts[0] !== texts[1] && 'font-semibold',
                  )}
                >
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface CompareRow {
  readonly name: string
  readonly cells: readonly ReactNode[]
  /** By which the two are told apart. Empty: they always differ. */
  readonly texts: readonly string[]
}

function rowsOf(...both: readonly [RequestDetail, RequestDetail]): readonly CompareRow[] {
  const { figures, facts } = words.requests
  const say = words.replay
  const row = (name: string, textOf: (one: RequestDetail) => string): CompareRow => {
    const texts = both.map(textOf)
    return { name, cells: texts, texts }
  }
  const timed = (name: string, textOf: (one: RequestDetail) => string): CompareRow => ({
    name,
    cells: both.map(textOf),
    texts: [],
  })
  // The error of the first is above the table; the same one twice says nothing more than its code.
  const errorRows = (): readonly CompareRow[] => {
    const [first, second] = both
    if (second.fault === null) return []
    const isSame = first.fault_text === second.fault_text
    return [row(say.error, ({ fault, fault_text: text }) => (isSame ? fault : text) ?? NONE)]
  }
  const rows = [
    {
      name: figures.outcome,
      cells: both.map((one) => <OutcomeHead key={one.id} row={one} />),
      texts: both.map(({ status, fault }) => `${status} ${fault ?? ''}`),
    },
    ...errorRows(),
    timed(figures.took, ({ duration_ms: ms }) => exactMs(ms)),
    timed(figures.own, ({ own_ms: ms }) => exactMs(ms)),
    row(say.deployments, ({ deployments, model }) =>
      deployments.length === 0 ? NONE : deployments.map((id) => upstreamOf(id, model)).join(', '),
    ),
    row(figures.calls, ({ attempts }) => count(attempts.length)),
    row(words.requests.fromCache, ({ hits }) => count(hits)),
    row(figures.cost, ({ unpriced, cost_usd: cost }) => (unpriced ? words.ui.unpriced : moneyExact(cost))),
    row(facts.space, ({ space }) => space ?? NONE),
    row(facts.key, ({ key }) => key ?? NONE),
    timed(facts.time, ({ at }) => `${day(at)} ${clockExact(at)}`),
  ]
  // What neither has is no difference.
  return rows.filter(({ texts }) => texts.length === 0 || texts.some((text) => text !== NONE))
}
