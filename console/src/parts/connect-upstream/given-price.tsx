/** What a model costs that has no list price: free, an amount, or not said. */
import type { Schema } from '../../api/client.ts'
import { Select } from '../../ui/select.tsx'
import { words } from '../../words/words.ts'

/** The decimal is an amount in dollars per million tokens, or per image. */
export type GivenPrice = 'free' | { readonly usd: string }

const AMOUNT = /^\d{1,7}(\.\d{1,9})?$/

export function isWhole(price: GivenPrice): boolean {
  return price === 'free' || AMOUNT.test(price.usd)
}

/** As the API takes it. */
export function priceBody(kind: 'embedding' | 'image', price: GivenPrice): Schema<'GivenPriceInput'> {
  if (price === 'free') return { price: 'free' }
  return { price: { [kind === 'image' ? 'usdPerImage' : 'usdPerMillionTokens']: price.usd } }
}

interface GivenPriceFieldProps {
  readonly model: string
  readonly kind: 'embedding' | 'image'
  readonly value: GivenPrice | undefined
  readonly onChange: (price: GivenPrice | undefined) => void
}

export function GivenPriceField({ model, kind, value, onChange }: GivenPriceFieldProps) {
  const say = words.upstreams
  const chosen = value === undefined ? 'none' : value === 'free' ? 'free' : 'amount'
  return (
    <span className="flex items-center justify-end gap-1.5">
      {value !== undefined && value !== 'free' && (
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
      <span className="w-36">
        <Select
          label={say.priceOfModel(model)}
          className="phone:h-9"
          value={chosen}
          options={[
            { value: 'none', label: say.noPrice },
            { value: 'free', label: say.free },
            { value: 'amount', label: kind === 'image' ? say.dollarsPerImage : say.dollarsPerTokens },
          ]}
          onChange={(next) => onChange(next === 'none' ? undefined : next === 'free' ? 'free' : { usd: '' })}
        />
      </span>
    </span>
  )
}
