/** What happened to prices, budgets and spaces, as marks on the time axis. */
import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query'
import { keyQueries } from '../../api/queries/keys.ts'
import { moneyQueries } from '../../api/queries/money.ts'
import { shareOf } from '../../app/money.ts'
import { useMay } from '../../app/session.ts'
import type { ColumnMark } from '../../charts/columns.tsx'
import type { UsageRange } from '../../parts/usage/usage-range.ts'
import { words } from '../../words/words.ts'

/** Of each kind: more would lie on one another. */
const MOST_OF_A_KIND = 3
/** The first mark of a budget is at its half. */
const FIRST_MARK = 0.5

export function useMarks({ fromMs, toMs }: UsageRange, project: string | undefined): readonly ColumnMark[] {
  const span = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }
  const all = [...usePriceMarks(span), ...useSpaceMarks(span), ...useBudgetMarks(project)]
  return all
    .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
    .toSorted((left, right) => left.atMs - right.atMs)
}

interface Span {
  readonly from: string
  readonly to: string
}

function usePriceMarks({ from, to }: Span): readonly ColumnMark[] {
  const may = useMay()
  const { data } = useQuery({ ...moneyQueries.priceChanges(from, to), enabled: may('prices.read') })
  return (data?.data ?? []).slice(-MOST_OF_A_KIND).map(({ at, deployment, before, after }) => ({
    atMs: Date.parse(at),
    sign: '$',
    text: words.usage.priceChanged(modelIn(deployment), amountsOf(before), amountsOf(after)),
  }))
}

/** The audit knows all of them; the list of spaces knows the newest of each model. */
function useSpaceMarks(span: Span): readonly ColumnMark[] {
  const may = useMay()
  const { data } = useInfiniteQuery({
    ...keyQueries.audit({ action: 'space.accept', ...span }),
    enabled: may('audit.read'),
  })
  const entries = data?.pages.flatMap((page) => page.data) ?? []
  return entries.slice(0, MOST_OF_A_KIND).map(({ at, target }) => ({
    atMs: Date.parse(at),
    sign: 'S',
    text: words.usage.spaceAccepted(target),
  }))
}

/** The highest mark of each of the fullest budgets, in their present windows. */
function useBudgetMarks(project: string | undefined): readonly ColumnMark[] {
  const { data } = useInfiniteQuery(moneyQueries.budgets(undefined, project))
  const fullest = (data?.pages[0]?.data ?? [])
    .filter(({ spent_usd: spent, limit_usd: limit }) => shareOf(spent, limit) >= FIRST_MARK)
    .slice(0, MOST_OF_A_KIND)
  return useQueries({ queries: fullest.map(({ id }) => moneyQueries.budget(id)) }).flatMap(
    ({ data: one }) => {
      const mark = one?.marks.at(-1)
      return one === undefined || mark === undefined
        ? []
        : [
            {
              atMs: Date.parse(mark.at),
              sign: '%',
              text: words.usage.budgetPassed(one.name, mark.percent),
            },
          ]
    },
  )
}

/** `embed-v4.0/cohere` → `embed-v4.0`; ids of models may hold a slash of their own. */
function modelIn(deployment: string): string {
  return deployment.slice(0, Math.max(deployment.lastIndexOf('/'), 0)) || deployment
}

function amountsOf(texts: readonly { readonly amount: string; readonly unit: string }[]): string {
  return texts.map(({ amount, unit }) => (unit === 'free' || amount === '' ? unit : amount)).join(', ')
}
