/** The burn-up of one budget. */
import { useQuery } from '@tanstack/react-query'
import { clock, day, money, moneyTick } from '../../app/format.ts'
import { dollarsForPicture, usdOf } from '../../app/money.ts'
import { DAY_MS } from '../../time/day.ts'
import { nowMs } from '../../time/now.ts'
import { moneyQueries } from '../../api/queries/money.ts'
import { BurnUp } from '../../charts/burn-up.tsx'
import { usePhone } from '../../ui/media.ts'
import { words } from '../../words/words.ts'
import type { Detail } from './standing.ts'

/** A budget without an end shows a month ahead. */
const AHEAD_MS = 30 * DAY_MS

export function BudgetChart({ budget }: { readonly budget: Detail }) {
  const { data } = useQuery(moneyQueries.budgetSeries(budget.id))
  const isPhone = usePhone()
  const say = words.budgets
  const points = (data?.data ?? []).map(({ at, spent_usd: spent }) => ({
    atMs: Date.parse(at),
    value: dollarsForPicture(spent),
  }))
  const { fromMs, toMs } = windowOf(budget, points[0]?.atMs)
  const { forecast } = budget
  const usedUpMs = timeOf(forecast?.used_up_at)
  const usedUpDay = usedUpMs === undefined ? undefined : day(usedUpMs, 'UTC')
  const slotText = (ms: number): string =>
    budget.per === 'day' ? clock(ms, 'UTC') : `${day(ms, 'UTC')} ${clock(ms, 'UTC')}`
  const finding =
    usedUpDay !== undefined
      ? say.usedUpOn(usedUpDay, '')
      : forecast?.at_end_usd
        ? say.lasts(money(forecast.at_end_usd), day(toMs - 1, 'UTC'))
        : say.noForecast
  return (
    <div className="mt-3">
      <BurnUp
        caption={say.caption(budget.name, money(budget.spent_usd), money(budget.limit_usd), finding)}
        fromMs={fromMs}
        toMs={toMs}
        nowMs={nowMs()}
        points={points}
        limit={dollarsForPicture(budget.limit_usd)}
        forecast={
          forecast === null
            ? undefined
            : {
                usedUpMs,
                earliestMs: timeOf(forecast.earliest),
                latestMs: timeOf(forecast.latest),
                atEnd: forecast.at_end_usd === null ? undefined : dollarsForPicture(forecast.at_end_usd),
              }
        }
        marks={budget.marks.map(({ percent, at, told }) => ({
          atMs: Date.parse(at),
          text: told.length > 0 ? say.told(percent) : say.passed(percent),
        }))}
        valueText={(value) => money(usdOf(BigInt(Math.round(value * 1e9))))}
        axisText={moneyTick}
        slotText={slotText}
        words={{
          now: say.now(money(budget.spent_usd)),
          pace: say.pace,
          spent: say.spent,
          usedUp: usedUpDay === undefined ? undefined : say.usedUpOn(usedUpDay, betweenText(budget)),
        }}
        height={isPhone ? 236 : 338}
      />
      {forecast === null && <p className="pt-1 text-12 text-ink-3">{say.noForecast}</p>}
    </div>
  )
}

/** `, 18 – 22`: the days between which it is used up. */
function betweenText({ forecast }: Detail): string {
  const [first, last] = [forecast?.earliest, forecast?.latest]
  if (!first || !last) return ''
  const [from, to] = [new Date(first).getUTCDate(), new Date(last).getUTCDate()]
  return from === to ? '' : `, ${from} – ${to}`
}

function windowOf(
  { window }: Detail,
  firstMs: number | undefined,
): { readonly fromMs: number; readonly toMs: number } {
  if (window.end !== null) return { fromMs: Date.parse(window.start), toMs: Date.parse(window.end) }
  return { fromMs: firstMs ?? nowMs() - AHEAD_MS, toMs: nowMs() + AHEAD_MS }
}

function timeOf(time: string | null | undefined): number | undefined {
  return time === null || time === undefined ? undefined : Date.parse(time)
}
