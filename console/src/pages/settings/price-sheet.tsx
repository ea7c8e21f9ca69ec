/** Sets what a deployment costs, and says what that would have changed. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { money } from '../../app/format.ts'
import { nanoOf, usdOf } from '../../app/money.ts'
import { nowMs } from '../../app/now.ts'
import { answerOf, client, type Schema } from '../../api/client.ts'
import { FaultError } from '../../api/faults.ts'
import { moneyQueries } from '../../api/queries/money.ts'
import { Button } from '../../ui/button.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { Field, Form, TextInput } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'

export type Price = Schema<'Price'>

type Way = 'tokens' | 'image' | 'megapixel' | 'free'

const AMOUNT = /^\d{1,7}(\.\d{1,9})?$/
const DAY_MS = 86_400_000
const EFFECT_DAYS = 30

const FIELDS: Record<Exclude<Way, 'free'>, string> = {
  tokens: 'usdPerMillionTokens',
  image: 'usdPerImage',
  megapixel: 'usdPerMegapixel',
}

export function PriceSheet({ price, onClose }: { readonly price: Price; readonly onClose: () => void }) {
  const isImage = price.kind === 'image'
  const ways: readonly Way[] = isImage ? ['image', 'megapixel', 'free'] : ['tokens', 'free']
  const [way, setWay] = useState<Way>(wayOf(price) ?? ways[0] ?? 'free')
  const [usd, setUsd] = useState(amountOf(price))
  const queries = useQueryClient()
  const { deployment } = price
  const say = words.prices.sheet
  const done = async (text: string): Promise<void> => {
    await Promise.all(
      [['prices'], ['models'], ['price-changes']].map((queryKey) => queries.invalidateQueries({ queryKey })),
    )
    toast(text)
    onClose()
  }
  const path = { params: { path: { deployment } } }
  const save = useMutation({
    mutationFn: () =>
      answerOf(
        client.PUT('/api/v1/prices/{deployment}', {
          ...path,
          body: { price: way === 'free' ? 'free' : { [FIELDS[way]]: usd } },
        }),
      ),
    onSuccess: () => done(say.saved(deployment)),
  })
  const forget = useMutation({
    mutationFn: () => answerOf(client.DELETE('/api/v1/prices/{deployment}', path)),
    onSuccess: () => done(say.forgotten(deployment)),
  })
  const error = save.error ?? forget.error
  const isOfPrice = error instanceof FaultError && error.param === 'price'
  return (
    <Sheet
      open
      onClose={onClose}
      title={say.title(deployment)}
      note={<Effect deployment={deployment} way={way} usd={usd} />}
      actions={
        <>
          {price.from === 'store' && (
            <Button look="danger" size="large" busy={forget.isPending} onClick={() => forget.mutate()}>
              {say.forget}
            </Button>
          )}
          <Button look="primary" size="large" type="submit" form="price" busy={save.isPending}>
            {say.save}
          </Button>
        </>
      }
    >
      <Form
        id="price"
        className="flex flex-col gap-4"
        errors={isOfPrice ? { price: error.message } : {}}
        onSubmit={() => save.mutate()}
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
          <Field name="price" rule={words.ui.rules.amount} label={say.usd[way]}>
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
        {error !== null && !isOfPrice && <FormProblem>{error.message}</FormProblem>}
      </Form>
    </Sheet>
  )
}

/** What the last 30 days would have cost at this price. */
function Effect({
  deployment,
  way,
  usd,
}: {
  readonly deployment: string
  readonly way: Way
  readonly usd: string
}) {
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
