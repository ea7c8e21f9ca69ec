/** Which calls may have been paid? Each is resolved in place, with a reason. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { money } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import type { SearchOf } from '../../app/place.ts'
import { useNow } from '../../time/now.ts'
import { useZone } from '../../time/zone.ts'
import { moneyQueries } from '../../api/queries/money.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { TextLink } from '../../ui/link.tsx'
import { usePhone } from '../../ui/media.ts'
import { Page } from '../../ui/page.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { HowToFindOut } from './how-to.tsx'
import { ResolveCard } from './resolve-card.tsx'
import { idOf, Known, openColumns, phoneRow, resolvedColumns, type UnknownCall } from './unknown-columns.tsx'
import { unknowns as place } from './place.ts'

/** Ages are told in minutes: the table need not be drawn anew each second. */
const MINUTE_MS = 60_000

export function UnknownsPage() {
  const search = place.useSearch()
  const change = useChangeSearch<SearchOf<typeof place>>()
  useZone()
  const { state = 'open', project } = search
  const query = useInfiniteQuery(moneyQueries.unknowns(state, project))
  const calls = query.data?.pages.flatMap(({ data }) => data)
  const summary = query.data?.pages[0]?.summary
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const nowMs = Math.floor(useNow() / MINUTE_MS) * MINUTE_MS
  const columns = useMemo(
    () => (state === 'open' ? openColumns(nowMs) : resolvedColumns(nowMs)),
    [state, nowMs],
  )
  const chosen = chosenOf(calls, ticked, search.open)
  const isPhone = usePhone()
  const say = words.unknowns
  const resolving = (
    <Resolving
      calls={chosen}
      onResolved={() => {
        setTicked(new Set())
        change({ open: undefined }, { replace: true })
      }}
    />
  )
  // Below a long list of a phone the form would be out of reach: the chosen call has the page to itself.
  if (isPhone && state === 'open' && search.open !== undefined)
    return (
      <Page title={words.places.unknowns} crumbs={[{ label: words.places.unknowns, to: paths.unknowns() }]}>
        {resolving}
      </Page>
    )
  return (
    <Page
      title={words.places.unknowns}
      fill
      actions={
        summary !== undefined &&
        summary.open > 0 && (
          <span className="text-13 text-ink-2">
            <span className="font-semibold text-ink">{money(summary.reserved_usd)}</span>
            {say.reserved(summary.open)}
          </span>
        )
      }
      bar={
        <>
          <Segmented
            label={words.places.unknowns}
            segments={[
              { value: 'open', label: say.states.open, count: summary?.open },
              { value: 'resolved', label: say.states.resolved, count: summary?.resolved },
            ]}
            value={state}
            onChange={(next) => {
              setTicked(new Set())
              change({ state: next === 'open' ? undefined : next, open: undefined })
            }}
          />
          <span className="ml-auto text-12 text-ink-2 phone:ml-0">{say.countsAsSpent}</span>
        </>
      }
      sideWidth={424}
      side={state === 'open' && chosen.length > 0 && !isPhone && resolving}
    >
      <DataTable
        label={words.places.unknowns}
        columns={columns}
        rows={calls}
        rowKey={idOf}
        query={query}
        rowHeight={46}
        phoneRow={phoneRow}
        href={(call) =>
          state === 'open'
            ? paths.unknowns({ open: idOf(call) })
            : paths.request(call.request_id, { tab: 'ledger' })
        }
        selected={state === 'open' && ticked.size === 0 ? chosen[0] && idOf(chosen[0]) : undefined}
        {...(state === 'open' &&
          (calls?.length ?? 0) > 1 && {
            ticks: { ticked, onChange: setTicked, label: (call: UnknownCall) => say.tick(call.call_id) },
          })}
        empty={<NoCalls state={state} resolved={summary?.resolved ?? 0} />}
      />
    </Page>
  )
}

function NoCalls({ state, resolved }: { readonly state: 'open' | 'resolved'; readonly resolved: number }) {
  const say = words.unknowns
  if (state === 'resolved') return <Empty title={say.nothingResolved} />
  return (
    <Empty
      title={say.empty}
      actions={
        resolved > 0 && <TextLink to={paths.unknowns({ state: 'resolved' })}>{say.seeResolved}</TextLink>
      }
    >
      {say.emptyResolved(resolved)}
    </Empty>
  )
}

function Resolving({
  calls,
  onResolved,
}: {
  readonly calls: readonly UnknownCall[]
  readonly onResolved: () => void
}) {
  const [only] = calls
  if (only === undefined) return null
  return (
    <div className="flex flex-col gap-5 p-5 phone:px-4">
      {calls.length === 1 && <Known call={only} />}
      <ResolveCard key={calls.map(idOf).join(' ')} calls={calls} onResolved={onResolved} />
      <HowToFindOut />
    </div>
  )
}

/** Those that are ticked, or the one that the address names, or the oldest. */
function chosenOf(
  calls: readonly UnknownCall[] | undefined,
  ticked: ReadonlySet<string>,
  open: string | undefined,
): readonly UnknownCall[] {
  if (calls === undefined) return []
  const several = calls.filter((call) => ticked.has(idOf(call)))
  if (several.length > 0) return several
  const one = calls.find((call) => idOf(call) === open) ?? calls[0]
  return one === undefined ? [] : [one]
}
