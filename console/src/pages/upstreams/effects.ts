/** What saving would do, in sentences. */
import type { EffectOfChange } from '../../api/queries/routing.ts'
import { share } from '../../app/format.ts'
import type { Mark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'

/** What needs something to be done, or can't be undone. */
const WARNS: ReadonlySet<EffectOfChange['kind']> = new Set([
  'model_removed',
  'key_dropped',
  'key_deleted',
  'key_missing',
])

/** One line per effect; the shares of one model are one line. */
export function effectLines(effects: readonly EffectOfChange[]): readonly (readonly [Mark, string])[] {
  const shares = Map.groupBy(
    effects.filter(({ kind }) => kind === 'share'),
    ({ model }) => model,
  )
  return [
    ...Array.from(shares.values(), (of) => ['good', sharesText(of)] as const),
    ...effects
      .filter(({ kind }) => kind !== 'share')
      .map((one) => [WARNS.has(one.kind) ? 'warn' : 'good', effectText(one)] as const),
  ]
}

function sharesText([first, ...more]: readonly EffectOfChange[]): string {
  const say = words.routing.effects
  if (first === undefined) return ''
  const sentence = (first.share_24h === null ? say.share : say.shareWas)(factsOf(first))
  return `${sentence}${more.map((one) => say.shareMore(factsOf(one))).join('')}${say.end}`
}

function effectText(effect: EffectOfChange): string {
  const say = words.routing.effects
  const { kind, price } = effect
  if (kind !== 'price') return say[kind](factsOf(effect))
  // `free` has no amount that is worth reading.
  const text = price?.endsWith('free') ? say.free : price?.endsWith('unpriced') ? say.unpriced : say.price
  return text(factsOf(effect))
}

function factsOf({ model, upstream, to, price, share: part, share_24h: past }: EffectOfChange) {
  return {
    model: model ?? '',
    upstream: upstream ?? '',
    to: to ?? '',
    price: price ?? '',
    share: share(part, 0),
    share_24h: share(past, 0),
  }
}
