/** What a model costs that has no list price: free, an amount, or not said. */
import type { Schema } from '../../api/client.ts'
import { Select } from '../../ui/select.tsx'
import { words } from '../../words/words.ts'

/** The decimal is an amount in dollars per million tokens, or per image. `same`: the price of the deployment beside it. */
export type GivenPrice = 'free' | 'same' | { readonly usd: string }

const AMOUNT = /^\d{1,7}(\.\d{1,9})?$/

export function isWhole(price: GivenPrice): boolean {
  return typeof price === 'string' || AMOUNT.test(price.usd)
}

/** As the API takes it. */
/** As in torana.yaml. */
export type PriceForm = Schema<'GivenPriceInput'>['price']

export function priceForm(kind: 'embedding' | 'image', price: Exclude<GivenPrice, 'same'>): PriceForm {
  if (price === 'free') return price
  return { [kind === 'image' ? 'usdPerImage' : 'usdPerMillionTokens']: price.usd }
}

interface GivenPriceFieldProps {
  readonly model: string
  readonly kind: 'embedding' | 'image'
  readonly value: GivenPrice | undefined
  /** The price of the deployment beside it, in words. Undefined: there is none. */
  readonly same?: string | undefined
  readonly onChange: (price: GivenPrice | undefined) => void
}

export function GivenPriceField({ model, kind, value, same, onChange }: GivenPriceFieldProps) {
  const say = words.upstreams
  const chosen = value === undefined ? 'none' : typeof value === 'string' ? value : 'amount'
  return (
    <span className="flex items-center justify-end gap-1.5">
      {typeof value === 'object' && (
        <input
          inputMode="decimal"
          aria-label={say.amountOf(model)}
          aria-invalid={!isWhole(value)}
          placeholder="0.02"
          value={value.usd}
          className="h-8 w-18 rounded-control border border-line-strong bg-surface px-2 text-right text-13 text-ink aria-invalid:border-bad-fill phone:h-9"
          onChange={(event) => onChange({ usd: event.target.value.trim() })}
        />
      )}
      <span className={same === undefined ? 'w-36' : 'w-48'}>
        <Select
          label={say.priceOfModel(model)}
          className="phone:h-9"
          value={chosen}
          options={[
            ...(same === undefined ? [] : [{ value: 'same' as const, label: same }]),
            { value: 'none', label: say.noPrice },
            { value: 'free', label: say.free },
            { value: 'amount', label: kind === 'image' ? say.dollarsPerImage : say.dollarsPerTokens },
          ]}
          onChange={(next) => onChange(next === 'none' ? undefined : next === 'amount' ? { usd: '' } : next)}
        />
      </span>
    </span>
  )
}
