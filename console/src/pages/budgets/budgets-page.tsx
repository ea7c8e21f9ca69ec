/** Will it last? Budgets by how full they are, and the chosen one beside them. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { lazyPart } from '../../app/lazy-part.tsx'
import { paths } from '../../app/paths.ts'
import { useChangeSearch, useOpened } from '../../app/change-search.ts'
import type { SearchOf } from '../../app/place.ts'
import { useMay } from '../../app/session.ts'
import { useZone } from '../../time/zone.ts'
import { moneyQueries } from '../../api/queries/money.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Empty } from '../../ui/empty.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { usePhone } from '../../ui/media.ts'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { BudgetDetail } from './budget-detail.tsx'
import { BudgetList } from './budget-list.tsx'
import { budget, budgets as place } from './place.ts'

const NewBudget = lazyPart(async () => (await import('./budget-sheets.tsx')).NewBudget)

/** The page of all budgets is also the page of one. */
const ELSEWHERE = { shouldThrow: false } as const

const SCOPES = ['all', 'project', 'key'] as const

export function BudgetsPage() {
  const [ofList, ofOne] = [place.useSearch(ELSEWHERE), budget.useSearch(ELSEWHERE)]
  const search = ofList ?? ofOne ?? {}
  const asked = budget.useParams({ ...ELSEWHERE, select: ({ scope, name }) => `${scope}:${name}` })
  const change = useChangeSearch<SearchOf<typeof place>>()
  const may = useMay()
  const isPhone = usePhone()
  useZone()
  const [isNew, setNew] = useOpened('new', search.new)
  const query = useInfiniteQuery(moneyQueries.budgets(search.scope, search.project))
  const budgets = query.data?.pages.flatMap(({ data }) => data)
  const chosen = asked ?? (isPhone ? undefined : budgets?.[0]?.id)
  const say = words.budgets
  const list = (
    <div className="flex min-h-0 w-89 shrink-0 flex-col border-r border-line phone:w-full phone:border-r-0">
      <div className="flex h-11 shrink-0 items-center justify-between border-b border-line px-5 phone:px-4">
        <Segmented
          label={words.places.budgets}
          segments={SCOPES.map((value) => ({ value, label: say.scopes[value] }))}
          value={search.scope ?? 'all'}
          onChange={(next) => change({ scope: next === 'all' ? undefined : next })}
        />
        <span className="text-12 text-ink-2">{say.order}</span>
      </div>
      {query.error !== null && budgets === undefined ? (
        <Problem error={query.error} retry={() => void query.refetch()} />
      ) : budgets === undefined ? (
        <LoadingRows />
      ) : (
        <BudgetList
          budgets={budgets}
          chosen={chosen}
          scope={search.scope}
          project={search.project}
          more={query.hasNextPage ? () => void query.fetchNextPage() : undefined}
        />
      )}
    </div>
  )
  const isEmpty = budgets !== undefined && budgets.length === 0
  const add = (
    <Button
      look="primary"
      size="large"
      icon={<Plus size={15} aria-hidden />}
      why={may('projects.write') ? undefined : say.forbidden}
      onClick={() => setNew(true)}
    >
      {say.new}
    </Button>
  )
  return (
    <Page
      title={words.places.budgets}
      fill
      actions={
        <>
          {!isPhone && <CopyButton text={() => location.href} label={words.ui.copyLink} />}
          {add}
        </>
      }
      {...(isPhone &&
        asked !== undefined && { crumbs: [{ label: words.places.budgets, to: paths.budgets() }] })}
    >
      {isEmpty && asked === undefined ? (
        <Empty title={say.empty} actions={add} shell={say.emptyShell}>
          {say.emptyMore}
        </Empty>
      ) : (
        <div className="flex min-h-0 flex-1">
          {(!isPhone || asked === undefined) && list}
          {chosen !== undefined && <BudgetDetail key={chosen} id={chosen} />}
        </div>
      )}
      {isNew && may('projects.write') && <NewBudget onClose={() => setNew(false)} />}
    </Page>
  )
}
