/** What is going on now, and what needs me. */
import { useQuery } from '@tanstack/react-query'
import { Pause, Play, Table, Waves, type LucideIcon } from 'lucide-react'
import { useMemo, useState, type ReactNode } from 'react'
import { useChangeSearch } from '../../app/change-search.ts'
import { clockSeconds, rate } from '../../app/format.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { useNow } from '../../time/now.ts'
import type { SearchOf } from '../../app/place.ts'
import { RangeControl } from '../../app/range-control.tsx'
import { rangeOf, sinceUntil } from '../../time/range.ts'
import { DAY_MS, MINUTE_MS } from '../../time/day.ts'
import { useMay, useSession } from '../../app/session.ts'
import { useStream, useStreamState } from '../../app/stream.ts'
import { overviewQueries, type Attention, type Flow, type Overview } from '../../api/queries/overview.ts'
import { IconButton } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { LiveMark } from '../../ui/live-mark.tsx'
import { usePhone } from '../../ui/media.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { snippetOf } from '../../parts/snippets/first-call.ts'
import { useModelToCall } from '../../parts/snippets/model-to-call.ts'
import { KEY } from '../../parts/snippets/snippet.ts'
import { AttentionList } from './attention-list.tsx'
import { ModelBars } from './model-bars.tsx'
import { Multiples } from './multiples.tsx'
import { METRICS } from './traffic-graph.ts'
import { TrafficPicture } from './traffic-picture.tsx'
import { overview as place } from './place.ts'

const FlowTable = lazyPart(async () => (await import('./flow-table.tsx')).FlowTable)

type OverviewSearch = SearchOf<typeof place>

interface LiveFlows {
  readonly at: string
  readonly nodes: Overview['nodes']
  readonly flows: readonly Flow[]
}

export function OverviewPage() {
  const search = place.useSearch()
  const now = Math.floor(useNow() / MINUTE_MS) * MINUTE_MS
  const range = rangeOf(search, '1h', now)
  const query = useQuery(overviewQueries.overview(sinceUntil(range), search.project))
  const since = new Date(Math.floor(now / DAY_MS) * DAY_MS).toISOString()
  const day = useQuery(overviewQueries.overview({ since }, search.project))
  const { data } = query
  const [live, setLive] = useState<LiveFlows>()
  const [attention, setAttention] = useState<readonly Attention[]>()
  const [isPaused, setPaused] = useState(false)
  const filters = { project: search.project }
  useStream<LiveFlows>('flows', setLive, { on: !isPaused, filters })
  const deployments = useDeployments(data?.deployments)
  useStream<readonly Attention[]>('attention', setAttention, { filters })
  const stream = useStreamState()
  const isPhone = usePhone()
  const flows = live?.flows ?? data?.flows
  const nodes = live?.nodes ?? data?.nodes
  const perSecond = flows?.reduce((sum, { requests }) => sum + requests, 0) ?? 0
  const isNew =
    data !== undefined && flows?.length === 0 && data.series.data.every((slot) => sumOf(slot) === 0)
  return (
    <Page
      title={words.places.overview}
      fill
      actions={
        <>
          <LiveMark state={isPaused ? 'idle' : stream} />
          <span className="phone:hidden">
            <IconButton
              label={isPaused ? words.overview.resume : words.overview.pause}
              onClick={() => setPaused(!isPaused)}
            >
              {isPaused ? <Play size={15} aria-hidden /> : <Pause size={15} aria-hidden />}
            </IconButton>
          </span>
          {!isPhone && <CopyButton text={() => location.href} label={words.ui.copyLink} />}
          <RangeControl search={search} usual="1h" />
        </>
      }
    >
      {data === undefined && query.error !== null ? (
        <Problem error={query.error} retry={() => void query.refetch()} />
      ) : (
        <div className="flex min-h-0 flex-1 flex-col overflow-y-auto phone:overflow-visible">
          <div className="flex min-h-100 shrink-0 grow basis-auto tight:flex-col-reverse tight:justify-end phone:flex-col-reverse">
            <section className="flex min-w-0 flex-1 flex-col">
              <header className="flex min-h-13 flex-wrap items-center gap-x-3 px-6 phone:px-4">
                <h2 className="text-13 font-semibold">{words.overview.traffic}</h2>
                {nodes !== undefined && (
                  <span className="text-12 whitespace-nowrap text-ink-2 phone:whitespace-normal">
                    {isPaused && live !== undefined
                      ? words.overview.paused(clockSeconds(live.at))
                      : words.overview.rate(rate(perSecond), nodes.reporting, nodes.alive)}
                  </span>
                )}
                {!isNew && !isPhone && <TrafficControls search={search} />}
              </header>
              {isNew ? (
                <FirstRequest />
              ) : isPhone ? (
                flows && <ModelBars flows={flows} deployments={deployments} />
              ) : search.view === 'table' ? (
                <FlowTable flows={flows} />
              ) : (
                flows && (
                  <TrafficPicture
                    flows={flows}
                    deployments={deployments}
                    metric={search.metric ?? 'requests'}
                    nowMs={Date.parse(live?.at ?? data?.at ?? '')}
                  />
                )
              )}
            </section>
            <aside className="relative w-79 shrink-0 border-l border-line tight:w-full tight:border-b tight:border-l-0 phone:w-full phone:border-b phone:border-l-0">
              <div className="absolute inset-0 overflow-y-auto tight:static tight:max-h-48 phone:static">
                <AttentionList items={attention ?? data?.attention} />
              </div>
            </aside>
          </div>
          {data !== undefined && (
            <Multiples data={data} day={day.data?.series} fromMs={range.fromMs} toMs={range.toMs} />
          )}
        </div>
      )}
    </Page>
  )
}

/** As they were at the last answer, and as the stream has told since. */
function useDeployments(asked: Overview['deployments'] | undefined): Overview['deployments'] {
  const [changed, setChanged] = useState<ReadonlyMap<string, Overview['deployments'][number]>>(new Map())
  const may = useMay()
  useStream<Overview['deployments'][number]>(
    'deployment',
    (one) => setChanged((before) => new Map([...before, [one.id, one]])),
    // A topic that the session may not have would end the stream for all others.
    { on: may('deployments.read') },
  )
  return useMemo(
    () => (asked ?? []).map((one) => ({ ...one, ...stateOf(changed.get(one.id)) })),
    [asked, changed],
  )
}

function stateOf(told: Overview['deployments'][number] | undefined) {
  return told && { state: told.state, until: told.until }
}

function TrafficControls({ search }: { readonly search: OverviewSearch }) {
  const change = useChangeSearch<OverviewSearch>()
  const { metrics, picture } = words.overview
  return (
    <span className="ml-auto flex items-center gap-3">
      <Segmented
        label={metrics.label}
        value={search.metric ?? 'requests'}
        onChange={(metric) => change({ metric }, { replace: true })}
        segments={METRICS.map((metric) => ({ value: metric, label: metrics[metric] }))}
      />
      <Segmented
        label={picture.view}
        value={search.view ?? 'picture'}
        onChange={(view) => change({ view }, { replace: true })}
        segments={[
          { value: 'picture', label: <Labelled icon={Waves}>{picture.asPicture}</Labelled> },
          { value: 'table', label: <Labelled icon={Table}>{picture.asTable}</Labelled> },
        ]}
      />
    </span>
  )
}

function sumOf({ answered, refused, limited, failed, unknown }: Overview['series']['data'][number]): number {
  return answered + refused + limited + failed + unknown
}

/** No request yet: the line that makes one. */
function FirstRequest() {
  const { install } = useSession()
  const { id: model, kind } = useModelToCall()
  const code = snippetOf('curl', { baseUrl: `${install.gateway_url}/v1`, key: KEY, model, kind })
  return (
    <div className="flex max-w-160 flex-col gap-3 px-6 py-4 phone:px-4">
      <p className="font-semibold">{words.overview.waiting}</p>
      <p className="text-ink-2">{words.overview.waitingText}</p>
      <CodeBlock code={code} />
    </div>
  )
}

function Labelled({ icon: Icon, children }: { readonly icon: LucideIcon; readonly children: ReactNode }) {
  return (
    <span className="flex items-center gap-1.5">
      <Icon size={13} aria-hidden className="phone:hidden" />
      {children}
    </span>
  )
}
