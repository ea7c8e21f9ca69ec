/** Budgets, the fullest first. */
import { useQuery } from '@tanstack/react-query'
import { day, money, share } from '../../app/format.ts'
import { nanoOf } from '../../app/money.ts'
import { DAY_MS } from '../../time/day.ts'
import { nowMs } from '../../time/now.ts'
import { paths } from '../../app/paths.ts'
import { useSession } from '../../app/session.ts'
import { moneyQueries } from '../../api/queries/money.ts'
import { Meter } from '../../charts/meter.tsx'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Link } from '../../ui/link.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { fullness, isUsedUp, markOf, type Standing } from './standing.ts'

interface BudgetListProps {
  readonly budgets: readonly Standing[]
  readonly chosen: string | undefined
  readonly scope: 'project' | 'key' | undefined
  readonly project: string | undefined
  readonly more: (() => void) | undefined
}

export function BudgetList({ budgets, chosen, scope, project, more }: BudgetListProps) {
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <ul>
        {budgets.map((budget) => (
          <li key={budget.id}>
            <Row budget={budget} isChosen={budget.id === chosen} scope={scope} />
          </li>
        ))}
        {scope !== 'key' && project === undefined && <Probes />}
      </ul>
      {more && (
        <div className="p-4">
          <Button onClick={more}>{words.ui.loadMore}</Button>
        </div>
      )}
    </div>
  )
}

interface RowProps {
  readonly budget: Standing
  readonly isChosen: boolean
  readonly scope: 'project' | 'key' | undefined
}

function Row({ budget, isChosen, scope }: RowProps) {
  const say = words.budgets
  const mark = markOf(budget)
  const isCalm = mark === 'good'
  const limit = `${money(budget.limit_usd)} ${say.per[budget.per]}${budget.hard ? say.hard : ''}`
  const usedUpAt = budget.forecast?.used_up_at
  const until = isUsedUp(budget)
    ? say.usedUp
    : budget.refuses
      ? say.refuses
      : usedUpAt
        ? say.until(day(usedUpAt, 'UTC'))
        : ''
  return (
    <Link
      to={paths.budget(budget.id, { scope })}
      data-row
      aria-current={isChosen || undefined}
      className={classes(
        'flex gap-2 border-b border-line px-5 py-2.5 phone:px-4',
        isChosen ? 'bg-selected' : 'hover:bg-hover',
      )}
    >
      <span className="pt-0.5">
        <StateMark mark={mark} word={isCalm ? words.ui.states.good : until} size={11} />
      </span>
      <span className="min-w-0 flex-1">
        <span className="flex items-baseline gap-2">
          <span className="truncate font-semibold">{budget.name}</span>
          <span className="text-12 text-ink-2">{say.scope[budget.scope]}</span>
          <span className="ml-auto font-semibold tabular-nums">{share(fullness(budget), 0)}</span>
        </span>
        <Meter
          share={fullness(budget)}
          colour={isCalm ? 'ink-2' : mark === 'bad' ? 'bad' : 'warn'}
          className="mt-1.5"
        />
        <span className="mt-1.5 flex justify-between gap-2 text-12 text-ink-2">
          <span className="truncate">{say.of(money(budget.spent_usd), limit)}</span>
          {until !== '' && (
            <span className={classes('shrink-0', mark === 'bad' ? 'text-bad' : 'text-warn')}>{until}</span>
          )}
        </span>
      </span>
    </Link>
  )
}

/** The gateway's own calls have no budget, and cost something all the same. */
function Probes() {
  const { projects } = useSession()
  const month = new Date(nowMs()).toISOString().slice(0, 7)
  const { data } = useQuery({
    ...moneyQueries.usage({
      by: 'project',
      from: `${month}-01T00:00:00.000Z`,
      to: new Date(Math.ceil(nowMs() / DAY_MS) * DAY_MS).toISOString(),
      only: ['project:system'],
      project: undefined,
      before: false,
      groups: 1,
    }),
    enabled: projects === null,
  })
  const usd = data?.total.usd
  if (usd === undefined || nanoOf(usd) === 0n) return null
  const say = words.budgets
  return (
    <li className="flex gap-2 border-b border-line px-5 py-2.5 phone:px-4">
      <span className="pt-0.5">
        <StateMark mark="off" size={11} />
      </span>
      <span className="min-w-0 flex-1">
        <span className="flex items-baseline gap-2">
          <span className="font-semibold">system</span>
          <span className="text-12 text-ink-2">{say.probes}</span>
          <span className="ml-auto font-semibold tabular-nums">{money(usd)}</span>
        </span>
        <span className="text-12 text-ink-2">{say.noBudget}</span>
      </span>
    </li>
  )
}
