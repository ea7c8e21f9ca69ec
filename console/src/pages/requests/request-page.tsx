/** One request: where its time and its money went, and what happened to it. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ChevronDown, ChevronUp } from 'lucide-react'
import { requestQueries, type RequestDetail } from '../../api/queries/requests.ts'
import { clockExact, count, moneyExact, moneyInList, NONE, shortId } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { SmallWaterfall, Waterfall, WaterfallLegend } from '../../charts/waterfall/waterfall.tsx'
import { Missing } from '../../app/problems.tsx'
import { IconButton } from '../../ui/button.tsx'
import { CopyIconButton } from '../../ui/copy.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Figures } from '../../ui/figures.tsx'
import { useKeys } from '../../ui/keyboard.ts'
import { usePhone } from '../../ui/media.ts'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { words } from '../../words/words.ts'
import { CallersError } from './callers-error.tsx'
import { Forgotten } from './forgotten.tsx'
import { HeadersTab } from './headers-tab.tsx'
import { JobTab } from './job-tab.tsx'
import { LedgerTable } from './ledger-table.tsx'
import { MoneyTable, SmallMoneyTable } from './money-table.tsx'
import { neighboursOf } from '../../parts/requests/neighbours.ts'
import { OutcomeHead } from '../../parts/requests/outcome.tsx'
import { CopyCurl, exactMs } from './peek.tsx'
import { RequestSide } from './request-side.tsx'
import { failureNote, findingOf, layoutOf, nameOf, noteOf } from './waterfall-words.ts'
import { WireTab } from './wire-tab.tsx'
import { request as place } from './place.ts'

type TabName = 'waterfall' | 'wire' | 'headers' | 'ledger' | 'job'

const TABS: readonly TabName[] = ['waterfall', 'wire', 'headers', 'ledger']

export function RequestPage() {
  const { id } = place.useParams()
  const { tab = 'waterfall' } = place.useSearch()
  const found = useQuery(requestQueries.one(id))
  const isPhone = usePhone()
  const navigate = useNavigate()
  const { newer, older } = neighboursOf(id)
  const walk = (to: string | undefined) => (): boolean => {
    if (to === undefined) return false
    void navigate({ ...paths.request(to, { tab: tab === 'waterfall' ? undefined : tab }), replace: true })
    return true
  }
  useKeys({ j: walk(older), k: walk(newer), Escape: () => void navigate(paths.requests()) })
  const detail = found.data?.log === 'kept' ? found.data : undefined
  return (
    <Page
      title={`${words.places.requests} ${shortId(id)}`}
      crumbs={[{ label: words.places.requests, to: paths.requests() }]}
      head={
        <>
          <span className="mono-12 text-13 font-medium">{shortId(id)}</span>
          <span data-copy-id>
            <CopyIconButton text={id} />
          </span>
        </>
      }
      actions={
        <>
          {detail && !isPhone && <CopyCurl request={detail} />}
          <IconButton label={words.requests.newer} disabled={newer === undefined} onClick={walk(newer)}>
            <ChevronUp size={16} aria-hidden />
          </IconButton>
          <IconButton label={words.requests.older} disabled={older === undefined} onClick={walk(older)}>
            <ChevronDown size={16} aria-hidden />
          </IconButton>
        </>
      }
      side={detail && <RequestSide request={detail} />}
      sideWidth={356}
    >
      {(found.data === undefined || found.isError) && (
        <Missing query={found} gone={<Empty title={words.requests.noRequest} />} />
      )}
      {found.data?.log === 'deleted' && <Forgotten request={found.data} />}
      {detail && (isPhone ? <PhoneBody request={detail} /> : <Body request={detail} tab={tab} />)}
    </Page>
  )
}

function Body({ request, tab }: { readonly request: RequestDetail; readonly tab: TabName }) {
  const { tabs, figures } = words.requests
  const to = (name: TabName) => paths.request(request.id, { tab: name === 'waterfall' ? undefined : name })
  return (
    <div className="px-6 pt-[18px] pb-5">
      <Figures
        figures={[
          { name: figures.outcome, value: <OutcomeHead row={request} /> },
          { name: figures.took, value: exactMs(request.duration_ms) },
          { name: figures.own, value: exactMs(request.own_ms) },
          { name: figures.inputs, value: inputsText(request) },
          { name: figures.calls, value: callsText(request) },
          {
            name: figures.cost,
            value: request.unpriced ? words.ui.unpriced : moneyExact(request.cost_usd),
          },
        ]}
      />
      <CallersError request={request} />
      <Tabs
        label={tabs.label}
        value={tab}
        className="mt-3"
        tabs={(request.kind === 'embedding' ? TABS : [...TABS, 'job' as const]).map((name) => ({
          value: name,
          label: tabs[name],
          to: to(name),
        }))}
      />
      {tab === 'waterfall' && <WaterfallTab request={request} />}
      {tab === 'wire' && <WireTab request={request} />}
      {tab === 'headers' && <HeadersTab request={request} />}
      {tab === 'ledger' && <LedgerTable rows={request.ledger} />}
      {tab === 'job' && <JobTab request={request} />}
    </div>
  )
}

function WaterfallTab({ request }: { readonly request: RequestDetail }) {
  const layout = layoutOf(request)
  const { attempts, steps } = request
  return (
    <>
      <Waterfall layout={layout} nameOf={nameOf} noteOf={noteOf(request)} finding={findingOf(request)} />
      <WaterfallLegend
        hasCache={steps.some(({ name }) => name === 'gather')}
        hasAnswered={attempts.some(({ outcome }) => outcome === 'ok')}
        hasFailed={attempts.some(({ outcome }) => outcome !== 'ok')}
        hasWaited={attempts.some(({ waited_ms }) => waited_ms > 0)}
      />
      <hr className="my-4 border-line" />
      <MoneyTable request={request} />
    </>
  )
}

function inputsText({ inputs, hits, kind, images }: RequestDetail): string {
  if (kind !== 'embedding') return images === null ? count(inputs) : count(images)
  if (inputs === null) return NONE
  return hits === null || hits === 0 ? count(inputs) : words.requests.cachedOf(count(inputs), count(hits))
}

function callsText({ attempts }: RequestDetail): string {
  return words.requests.callsRefused(
    attempts.length,
    attempts.filter(({ outcome }) => outcome !== 'ok').length,
  )
}

function PhoneBody({ request }: { readonly request: RequestDetail }) {
  const text = words.requests
  const figures = [
    { name: text.took, value: exactMs(request.duration_ms) },
    { name: text.byTorana, value: exactMs(request.own_ms) },
    { name: text.calls, value: callsText(request) },
    { name: text.inputs, value: count(request.inputs) },
    { name: text.fromCache, value: count(request.hits) },
    { name: text.cost, value: request.unpriced ? words.ui.unpriced : moneyInList(request.cost_usd) },
  ]
  return (
    <div className="flex flex-col gap-4 px-4 py-3.5">
      <div className="flex items-center">
        <span className="font-semibold">
          <OutcomeHead row={request} />
        </span>
        <span className="ml-auto tabular-nums text-ink-3">{clockExact(request.at)}</span>
      </div>
      <dl className="grid grid-cols-3 gap-y-3">
        {figures.map(({ name, value }) => (
          <div key={name}>
            <dt className="text-12 text-ink-3">{name}</dt>
            <dd className="font-semibold tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      <CallersError request={request} />
      <SmallWaterfall
        layout={layoutOf(request)}
        nameOf={nameOf}
        noteOf={failureNote}
        finding={findingOf(request)}
      />
      <SmallMoneyTable request={request} />
    </div>
  )
}
