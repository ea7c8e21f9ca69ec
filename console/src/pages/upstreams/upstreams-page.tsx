/** Where calls go: upstreams, the routing of one model, and one set of pending changes for both. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { modelQueries } from '../../api/queries/models.ts'
import { routingQueries } from '../../api/queries/routing.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import type { SearchOf } from '../../app/place.ts'
import { useMay } from '../../app/session.ts'
import { useStream } from '../../app/stream.ts'
import type { AddedDeployment } from '../../parts/connect-upstream/fallbacks.ts'
import { ConnectSheet } from '../../parts/connect-upstream/connect-sheet.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { Empty } from '../../ui/empty.tsx'
import { useKeys } from '../../ui/keyboard.ts'
import { usePhone, useWide } from '../../ui/media.ts'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { ChangePanel } from './change-panel.tsx'
import { withAdded } from './added.ts'
import { useChecks } from './checks.ts'
import type { Change } from './draft.ts'
import { ChangeHistory } from './history.tsx'
import { AddUpstream, PageActions } from './page-actions.tsx'
import { useDraft } from './draft-store.ts'
import { usePending } from './pending.ts'
import { upstreams as place } from './place.ts'
import { ReviewBar } from './review-bar.tsx'
import { RoutingEditor } from './routing-editor.tsx'
import { ShowDeclared, type Declared } from './source-tag.tsx'
import { UpstreamDialogs, useUpstreamActions } from './upstream-actions.tsx'
import { UpstreamList } from './upstream-list.tsx'
import { rowsOf } from './upstream-row.ts'
import { shownState } from './upstream-state.tsx'

const YamlSheet = lazyPart(async () => (await import('./yaml-sheet.tsx')).YamlSheet)

type Search = SearchOf<typeof place>

export function UpstreamsPage() {
  const search = place.useSearch()
  const change = useChangeSearch<Search>()
  const may = useMay()
  const [isPhone, isWide] = [usePhone(), useWide()]
  const list = useQuery(routingQueries.upstreams())
  const models = useQuery(modelQueries.all(undefined))
  const pending = usePending()
  const [, changeDraft] = useDraft()
  const queries = useQueryClient()
  const checks = useChecks()
  const [isReviewing, setReviewing] = useState(false)
  const [declared, setDeclared] = useState<Declared>()
  useLiveStates()
  const { draft } = pending
  const upstreams = list.data?.data
  const rows = useMemo(
    () => upstreams && rowsOf(upstreams, draft, checks.results),
    [upstreams, draft, checks.results],
  )
  const { actions, dialog, close } = useUpstreamActions(draft, checks, rows ?? [], search)
  const served = models.data?.data.filter(({ retired }) => retired === null)
  const model =
    search.model ?? served?.find(({ deployments }) => deployments.length > 1)?.id ?? served?.[0]?.id
  const tab = search.tab ?? 'upstreams'
  useKeys({
    'mod+s': () => {
      if (pending.count === 0) return false
      if (isWide || isReviewing) void (pending.why === undefined && pending.save())
      else setReviewing(true)
      return true
    },
  })
  const addFallbacks = async (added: readonly AddedDeployment[]): Promise<void> => {
    for (const one of added) {
      const routing = await queries.fetchQuery({ ...routingQueries.routing(one.model), staleTime: 0 })
      changeDraft((before) => withAdded(before, routing, one))
    }
    change({ new: undefined, model: added[0]?.model, tab: 'routing' }, { replace: true })
    toast(words.upstreams.pendingFallbacks(added.length), { text: words.upstreams.pendingText })
  }
  const open = ({ object, name }: Pick<Change, 'object' | 'name'>): void => {
    if (object === 'model') change({ model: name, tab: 'routing' })
  }
  const panel = (
    <>
      <ChangePanel pending={pending} />
      <ChangeHistory onOpened={open} />
    </>
  )
  return (
    <ShowDeclared value={may('configuration.export') ? setDeclared : undefined}>
      <Page
        title={words.places.upstreams}
        actions={
          <PageActions
            names={upstreams?.map(({ name }) => name) ?? []}
            checks={checks}
            onHistory={isWide ? undefined : () => setReviewing(true)}
            onAdd={() => change({ new: true })}
          />
        }
        {...(isWide && { side: panel })}
        sideWidth={356}
      >
        <div className="flex min-h-full flex-col">
          {isPhone && (
            <Tabs
              tab={tab}
              count={rows?.length}
              isBad={rows?.some((row) => shownState(row, 0).mark === 'bad') === true}
              onChange={(next) => change({ tab: next === 'routing' ? next : undefined }, { replace: true })}
            />
          )}
          {(!isPhone || tab === 'upstreams') && (
            <UpstreamList
              rows={rows}
              query={list}
              actions={actions}
              add={<AddUpstream onClick={() => change({ new: true })} />}
            />
          )}
          {(!isPhone || tab === 'routing') && (
            <div className="flex-1">
              {models.error !== null && served === undefined && (
                <Problem error={models.error} retry={() => void models.refetch()} />
              )}
              {served !== undefined && model === undefined && <Empty title={words.routing.model.none} />}
              {served !== undefined && model !== undefined && (
                <RoutingEditor
                  models={served}
                  model={model}
                  draft={draft}
                  onModel={(next) => change({ model: next }, { replace: true })}
                />
              )}
            </div>
          )}
          {!isWide && pending.count > 0 && (
            <ReviewBar pending={pending} onReview={() => setReviewing(true)} />
          )}
        </div>
        <UpstreamDialogs dialog={dialog} rows={rows ?? []} onClose={close} />
        <ConnectSheet
          open={search.new === true}
          onClose={() => change({ new: undefined }, { replace: true })}
          onFallbacks={addFallbacks}
        />
        {!isWide && (
          <Sheet
            open={isReviewing}
            onClose={() => setReviewing(false)}
            title={pending.count > 0 ? words.routing.changes.review : words.routing.history.title}
          >
            <div className="-mx-5 -mt-4 phone:mx-0">{panel}</div>
          </Sheet>
        )}
        {declared !== undefined && <YamlSheet declared={declared} onClose={() => setDeclared(undefined)} />}
      </Page>
    </ShowDeclared>
  )
}

interface TabsProps {
  readonly tab: 'upstreams' | 'routing'
  readonly count: number | undefined
  readonly isBad: boolean
  readonly onChange: (tab: 'upstreams' | 'routing') => void
}

function Tabs({ tab, count, isBad, onChange }: TabsProps) {
  const say = words.routing.tabs
  return (
    <div className="px-4 py-2.5">
      <Segmented
        label={say.label}
        value={tab}
        className="w-full *:flex-1 *:justify-center"
        segments={[
          {
            value: 'upstreams',
            label: (
              <>
                {say.upstreams} {count}
                {isBad && <StateMark mark="bad" size={11} />}
              </>
            ),
          },
          { value: 'routing', label: say.routing },
        ]}
        onChange={onChange}
      />
    </div>
  )
}

/** A change of state is asked for again at most this often: an outage changes many at once. */
const MIN_INTERVAL_MS = 1000

/** A deployment that changes its state changes that of its upstream. */
function useLiveStates(): void {
  const queries = useQueryClient()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  useStream('deployment', () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      void queries.invalidateQueries({ queryKey: ['get', '/api/v1/upstreams'] })
      void queries.invalidateQueries({ queryKey: ['get', '/api/v1/routing/{model}'] })
    }, MIN_INTERVAL_MS)
  })
}
