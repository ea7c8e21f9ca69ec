/** What the batch costs, and what it leaves of the budgets. */
import { day, money } from '../../app/format.ts'
import { nanoOf, shareOf, usdOf } from '../../app/money.ts'
import { paths } from '../../app/paths.ts'
import { classes } from '../../ui/classes.ts'
import { TextLink } from '../../ui/link.tsx'
import { Section } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'
import type { BudgetLeft, Estimate } from './estimate.ts'
import { priceText } from './price.ts'

export function Cost({ estimate: { lines, usd, highUsd, price } }: { readonly estimate: Estimate }) {
  const say = words.newBatch.estimate
  const amount = usd === null ? say.unpriced : money(usd)
  return (
    <Section title={say.cost}>
      <dl className="flex flex-col gap-1.5 text-12">
        <CostLine name={say.texts(lines, priceText(price))} amount={amount} />
        <CostLine name={say.total} amount={amount} isTotal />
      </dl>
      {usd !== null && highUsd !== null && highUsd !== usd && (
        <p className="pt-1 text-12 text-ink-3">{say.most(money(highUsd))}</p>
      )}
    </Section>
  )
}

interface CostLineProps {
  readonly name: string
  readonly amount: string
  readonly isTotal?: boolean
}

function CostLine({ name, amount, isTotal = false }: CostLineProps) {
  return (
    <div
      className={classes(
        'flex justify-between gap-3',
        isTotal && 'border-t border-line pt-1.5 font-semibold',
      )}
    >
      <dt>{name}</dt>
      <dd className="text-right tabular-nums">{amount}</dd>
    </div>
  )
}

export function Budget({ estimate: { budgets, usd, exceeds } }: { readonly estimate: Estimate }) {
  if (budgets.length === 0) return <p className="text-12 text-ink-3">{words.newBatch.estimate.noBudget}</p>
  return budgets.map((budget) => (
    <BudgetLine
      key={budget.id}
      budget={budget}
      cost={usd === null ? 0n : nanoOf(usd)}
      exceedsUsd={exceeds?.id === budget.id ? exceeds.byUsd : undefined}
    />
  ))
}

interface BudgetLineProps {
  readonly budget: BudgetLeft
  readonly cost: bigint
  readonly exceedsUsd: string | undefined
}

function BudgetLine({ budget, cost, exceedsUsd }: BudgetLineProps) {
  const say = words.newBatch.estimate
  const left = nanoOf(budget.leftUsd)
  const after = money(usdOf(cost > left ? 0n : left - cost))
  return (
    <Section
      title={say.budgetFor(budget.name)}
      actions={
        <span className="text-12 tabular-nums text-ink-2">
          {say.left(money(budget.leftUsd), money(budget.limitUsd))}
        </span>
      }
    >
      <BudgetBar limit={nanoOf(budget.limitUsd)} left={left} cost={cost} />
      {exceedsUsd === undefined ? (
        <p className="pt-1.5 text-12 text-ink-2">
          {budget.endsAt === null ? say.after(after) : say.afterUntil(after, day(budget.endsAt, 'UTC'))}{' '}
          {!budget.hard && say.soft}
        </p>
      ) : (
        <p className="flex items-baseline justify-between gap-3 pt-1.5 text-12 text-bad">
          {say.exceeds(budget.name, money(exceedsUsd))}
          <TextLink to={paths.budget(budget.id)} className="shrink-0">
            {say.changeBudget}
          </TextLink>
        </p>
      )}
    </Section>
  )
}

interface BudgetBarProps {
  readonly limit: bigint
  readonly left: bigint
  readonly cost: bigint
}

/** Spent so far, then this batch. The text beside it has the same numbers. */
function BudgetBar({ limit, left, cost }: BudgetBarProps) {
  const spent = Math.min(1, shareOf(limit - left, limit))
  const own = Math.min(1 - spent, shareOf(cost, limit))
  return (
    <span aria-hidden className="mt-1 flex h-1.5 overflow-hidden rounded-full bg-line">
      <span className="h-full bg-ink-2" style={{ width: `${spent * 100}%` }} />
      <span
        className={classes('h-full', cost > left ? 'bg-bad-fill' : 'bg-s1')}
        style={{ width: cost === 0n ? 0 : `max(2px, ${own * 100}%)` }}
      />
    </span>
  )
}
