/** Times of torana.yaml: `12h`, `30d`. */
import { words } from '../../words/words.ts'

type Unit = 'ms' | 's' | 'm' | 'h' | 'd'

/** What a cache is usually set to. */
export const USUAL_SPANS = ['1h', '6h', '12h', '1d', '7d', '30d', '90d', '365d'] as const

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** In the largest unit that has no rest. */
export function spanOf(ms: number): string {
  const [unit, size] = UNITS.find(([, one]) => ms % one === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
}

/** `12 hours`; another text stays as it is. */
export function spanText(span: string): string {
  const [, amount, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(span) ?? []
  return amount === undefined ? span : words.routing.settings.spans[unit as Unit](Number(amount))
}
