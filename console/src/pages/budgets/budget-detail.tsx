/** One budget: how it is spent, whether it lasts, who spends it, and what was refused for it. */
import { useQuery } from '@tanstack/react-query'
import { Info, Pencil } from 'lucide-react'
import { useState } from 'react'
import { day, money, moneyOfBudget, share, whole } from '../../app/format.ts'
import { nanoOf, shareOf, usdOf } from '../../app/money.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { moneyQueries } from '../../api/queries/money.ts'
import { Meter } from '../../charts/meter.tsx'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Figures } from '../../ui/figures.tsx'
import { TextLink } from '../../ui/link.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { Section } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { LockTag, Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import { BudgetChart } from './budget-chart.tsx'
import { fullness, markOf, type Detail } from './standing.ts'

const ChangeBudget = lazyPart(async () => (await import('./budget-sheets.tsx')).ChangeBudget)

export function BudgetDetail({ id }: { readonly id: string }) {
  const query = useQuery(moneyQueries.budget(id))
  const [isChanging, setChanging] = useState(false)
  const may = useMay()
  const budget = query.data
  const say = words.budgets
  return (
    <section className="min-w-0 flex-1 overflow-y-auto px-6 py-4 phone:px-4" aria-label={id}>
      {query.error !== null && budget === undefined ? (
        <Problem error={query.error} retry={() => void query.refetch()} className="px-0" />
      ) : budget === undefined ? (
        <LoadingRows className="-mx-6" />
      ) : (
        <>
          <header className="flex min-h-8 flex-wrap items-center gap-2.5">
            <h2 className="truncate text-18 font-semibold">{budget.name}</h2>
            <Tag>{say.scope[budget.scope]}</Tag>
            <Tag tone={markOf(budget) === 'good' ? 'plain' : markOf(budget) === 'bad' ? 'bad' : 'warn'}>
              {share(fullness(budget), 0)}
            </Tag>
            {budget.managed_by === 'configuration' && <LockTag at={budget.managed_at ?? 'torana.yaml'} />}
            <span className="ml-auto">
              <Button
                icon={<Pencil size={14} aria-hidden />}
                why={mayChange(may, budget) ? undefined : say.forbidden}
                onClick={() => setChanging(true)}
              >
                {say.change}
              </Button>
            </span>
          </header>
          <BudgetFigures budget={budget} />
          <BudgetChart budget={budget} />
          <Meaning budget={budget} />
          <div className="mt-5 grid grid-cols-2 gap-8 tight:grid-cols-1 phone:grid-cols-1">
            <Spenders budget={budget} />
            <Refused budget={budget} />
          </div>
          {isChanging && <ChangeBudget budget={budget} onClose={() => setChanging(false)} />}
        </>
      )}
    </section>
  )
}

function mayChange(may: ReturnType<typeof useMay>, { scope, name }: Detail): boolean {
  return scope === 'project' ? may('projects.write') : may('keys.write', name.split('/')[0])
}

function BudgetFigures({ budget }: { readonly budget: Detail }) {
  const say = words.budgets
  const posted = usdOf(nanoOf(budget.spent_usd) - nanoOf(budget.unknown_usd))
  const { end } = budget.window
  return (
    <Figures
      className="pt-2"
      figures={[
        { name: say.limit, value: `${money(budget.limit_usd)} ${say.per[budget.per]}` },
        { name: say.posted, value: moneyOfBudget(posted) },
        { name: say.unknown, value: moneyOfBudget(budget.unknown_usd) },
        { name: say.left, value: moneyOfBudget(budget.left_usd) },
        ...(budget.hard ? [{ name: say.leased, value: moneyOfBudget(budget.leased_usd) }] : []),
        { name: say.next, value: end === null ? say.never : `${day(end, 'UTC')} 00:00 UTC` },
      ]}
    />
  )
}

/** What happens at 100 %, in a sentence. */
function Meaning({ budget }: { readonly budget: Detail }) {
  const say = words.budgets
  const told = budget.marks.filter((mark) => mark.told.length > 0)
  const hosts = [...new Set(told.flatMap((mark) => mark.told))]
  return (
    <p className="mt-4 flex items-start gap-3.5 rounded-control bg-sunken px-3.5 py-2.5 text-12 leading-[18px] text-ink-2">
      <Info size={15} aria-hidden className="mt-0.5 shrink-0" />
      <span>
        {budget.hard ? (
          <>
            {say.hardBefore}
            <span className="mono-12">429 budget_exhausted</span>
            {say.hardAfter}
          </>
        ) : (
          say.softWords
        )}{' '}
        {told.length > 0 &&
          say.toldTo(
            told.map(({ percent }) => percent).join(say.and),
            hosts.join(', '),
            told.map(({ at }) => day(at, 'UTC')).join(say.and),
          )}
      </span>
    </p>
  )
}

const ROW = 'flex h-[34px] items-center gap-3 border-b border-line'

function Spenders({ budget }: { readonly budget: Detail }) {
  const say = words.budgets
  const most = budget.spenders[0]?.usd ?? '0'
  return (
    <Section title={say.who}>
      <ul className="border-t border-line">
        {budget.spenders.length === 0 && <li className={classes(ROW, 'text-ink-2')}>{say.nobody}</li>}
        {budget.spenders.map(({ key, usd, models }) => (
          <li key={key} className={ROW}>
            <TextLink to={paths.key(key)} className="w-28 truncate font-semibold text-ink!">
              {key}
            </TextLink>
            <span className="min-w-0 flex-1 truncate text-12 text-ink-2" title={models.join(', ')}>
              {models[0]}
              {models.length > 1 && ` +${models.length - 1}`}
            </span>
            <Meter share={shareOf(usd, nanoOf(most))} width={90} />
            <span className="w-16 text-right tabular-nums">{money(usd)}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

const REFUSALS = ['budget_reserved', 'budget_exhausted', 'model_unpriced'] as const

function Refused({ budget }: { readonly budget: Detail }) {
  const say = words.budgets
  const filter = budget.scope === 'key' ? { key: budget.name } : { project: budget.name }
  return (
    <Section title={say.refused}>
      <ul className="border-t border-line">
        {REFUSALS.map((fault) => {
          const calls = budget.refused[fault]
          return (
            <li key={fault} className={ROW}>
              <span className="mono-12 w-33 shrink-0">{fault}</span>
              <span className="min-w-0 flex-1 truncate text-12 text-ink-2">
                {calls > 0 ? say.refusedNotes[fault] : ''}
              </span>
              {calls > 0 ? (
                <TextLink
                  to={paths.requests({ fault, from: budget.window.start, ...filter })}
                  className={classes(
                    'tabular-nums',
                    fault === 'budget_reserved' ? 'text-ink!' : 'font-semibold text-warn!',
                  )}
                >
                  {whole(calls)}
                </TextLink>
              ) : (
                <span className="tabular-nums">0</span>
              )}
            </li>
          )
        })}
      </ul>
    </Section>
  )
}
