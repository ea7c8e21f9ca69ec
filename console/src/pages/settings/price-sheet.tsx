/** Sets what a deployment costs, and says what that would have changed. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { money } from '../../app/format.ts'
import { nanoOf, usdOf } from '../../app/money.ts'
import { DAY_MS } from '../../time/day.ts'
import { nowMs } from '../../time/now.ts'
import type { Schema } from '../../api/client.ts'
import { moneyQueries } from '../../api/queries/money.ts'
import { useWrite } from '../../api/write.ts'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'

export type Price = Schema<'Price'>

type Way = 'tokens' | 'image' | 'megapixel' | 'free'

const AMOUNT = /^\d{1,7}(\.\d{1,9})?$/
const EFFECT_DAYS = 30

const FIELDS: Record<Exclude<Way, 'free'>, string> = {
  tokens: 'usdPerMillionTokens',
  image: 'usdPerImage',
  megapixel: 'usdPerMegapixel',
}

const TOUCHED = { touches: ['/api/v1/models', '/api/v1/price-changes'] } as const

export function PriceSheet({ price, onClose }: { readonly price: Price; readonly onClose: () => void }) {
  const isImage = price.kind === 'image'
  const ways: readonly Way[] = isImage ? ['image', 'megapixel', 'free'] : ['tokens', 'free']
  const [way, setWay] = useState<Way>(wayOf(price) ?? ways[0] ?? 'free')
  const [usd, setUsd] = useState(amountOf(price))
  const save = useWrite('put', '/api/v1/prices/{deployment}', TOUCHED)
  const forget = useWrite('delete', '/api/v1/prices/{deployment}', TOUCHED)
  const { deployment } = price
  const say = words.prices.sheet
  const params = { path: { deployment } }
  return (
    <FormSheet
      title={say.title(deployment)}
      note={<Effect deployment={deployment} way={way} usd={usd} />}
      go={say.save}
      onSubmit={async () => {
        await save.send({ params, body: { price: way === 'free' ? 'free' : { [FIELDS[way]]: usd } } })
        toast(say.saved(deployment))
      }}
      other={
        price.from === 'store'
          ? {
              go: say.forget,
              onGo: async () => {
                await forget.send({ params })
                toast(say.forgotten(deployment))
              },
            }
          : undefined
      }
      onClose={onClose}
    >
      <Field name="way" label={say.way} {...(isImage && { hint: say.table })}>
        <Segmented
          label={say.way}
          segments={ways.map((value) => ({ value, label: say.ways[value] }))}
          value={way}
          onChange={setWay}
          className="self-start"
        />
      </Field>
      {way !== 'free' && (
        <Field name="price" label={say.usd[way]}>
          <TextInput
            required
            before="$"
            inputMode="decimal"
            pattern="\d{1,7}(\.\d{1,9})?"
            value={usd}
            onChange={setUsd}
          />
        </Field>
      )}
    </FormSheet>
  )
}

interface EffectProps {
  readonly deployment: string
  readonly way: Way
  readonly usd: string
}

/** What the last 30 days would have cost at this price. */
function Effect({ deployment, way, usd }: EffectProps) {
  const endMs = Math.ceil(nowMs() / DAY_MS) * DAY_MS
  const { data } = useQuery(
    moneyQueries.usage({
      by: 'deployment',
      from: new Date(endMs - EFFECT_DAYS * DAY_MS).toISOString(),
      to: new Date(endMs).toISOString(),
      only: [`deployment:${deployment}`],
      project: undefined,
      before: false,
      groups: 1,
    }),
  )
  const cost = data && costWith(data.total, way, usd)
  if (data === undefined || cost === undefined) return null
  return <>{words.prices.sheet.effect(money(data.total.usd), money(usdOf(cost)))}</>
}

/** Undefined: nobody counted what such a price is for. */
function costWith({ tokens, images }: Schema<'Usage'>['total'], way: Way, usd: string): bigint | undefined {
  if (way === 'free') return 0n
  if (!AMOUNT.test(usd) || way === 'megapixel') return undefined
  return way === 'tokens' ? (nanoOf(usd) * BigInt(tokens)) / 1_000_000n : nanoOf(usd) * BigInt(images)
}

function wayOf({ price }: Price): Way | undefined {
  if (typeof price === 'string') return price === 'free' ? 'free' : undefined
  return (Object.keys(FIELDS) as Exclude<Way, 'free'>[]).find((way) => typeof price[FIELDS[way]] === 'string')
}

function amountOf(own: Price): string {
  const way = wayOf(own)
  if (way === undefined || way === 'free' || typeof own.price === 'string') return ''
  return String(own.price[FIELDS[way]])
}
