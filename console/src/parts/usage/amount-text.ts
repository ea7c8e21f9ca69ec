/** Amounts of what is shown, in words and on an axis. */
import { count, money, moneyTick } from '../../app/format.ts'
import { usdOf } from '../../app/money.ts'
import type { Show } from './usage-groups.ts'

export function amountText(show: Show): (value: number) => string {
  return show === 'usd' ? (value) => money(usdOf(BigInt(Math.round(value * 1e9)))) : count
}

export function tickText(show: Show): (value: number, digits?: number) => string {
  return show === 'usd' ? moneyTick : count
}
