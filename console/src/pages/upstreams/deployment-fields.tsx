/** The fields of one deployment, shared by the row of a wide screen, the card of a narrow one and its sheet. */
import { whole } from '../../app/format.ts'
import { classes } from '../../ui/classes.ts'
import { words } from '../../words/words.ts'
import { priorityOf, weightOf, type DeploymentRow } from './deployments.ts'
import { valueAt } from './entry.ts'
import { Changed, LimitField, PriceField } from './fields.tsx'
import { NumberInput } from '../../ui/number-field.tsx'
import { amountOf, choiceOf, priceText, shortPrice, type Kind } from './price.ts'
import type { ModelEdit } from './model-edit.ts'

export type LimitName = 'concurrency' | 'requestsPerMinute' | 'tokensPerMinute' | 'imagesPerMinute'

/** In the order of the columns. */
export const LIMITS: Record<Kind, readonly LimitName[]> = {
  embedding: ['concurrency', 'requestsPerMinute', 'tokensPerMinute'],
  image: ['concurrency', 'requestsPerMinute', 'imagesPerMinute'],
}

const HEADS = {
  concurrency: 'concurrency',
  requestsPerMinute: 'requests',
  tokensPerMinute: 'tokens',
  imagesPerMinute: 'images',
} as const

/** As the API names them. */
const REPORTED = {
  concurrency: 'concurrency',
  requestsPerMinute: 'requests_per_minute',
  tokensPerMinute: 'tokens_per_minute',
  imagesPerMinute: 'images_per_minute',
} as const

export function limitHead(limit: LimitName, isShort = false): string {
  const { heads, short } = words.routing.model
  return (isShort ? short : heads)[HEADS[limit]]
}

/** What no limit means: Torana learns how many calls fit, and counts the others not at all. */
function absentText(limit: LimitName): string {
  const say = words.routing.model
  return limit === 'concurrency' ? say.learned : say.noLimit
}

export interface RowFieldProps {
  readonly row: DeploymentRow
  readonly edit: ModelEdit
}

export function WeightField({ row, edit }: RowFieldProps) {
  const say = words.routing.model
  return (
    <NumberInput
      label={say.field(say.heads.weight, row.upstream)}
      value={row.weight}
      min={0.01}
      format={{ maximumFractionDigits: 2 }}
      disabled={edit.forbidden !== undefined}
      onChange={(next) => next !== null && edit.setDeployment(row.key, ['weight'], next)}
    />
  )
}

/** Undefined: the weight is as it is stored. */
export function weightWas({ was, weight }: DeploymentRow): string | undefined {
  return was === undefined || weightOf(was) === weight ? undefined : String(weightOf(was))
}

export function WeightWithWas(props: RowFieldProps) {
  return (
    <Changed was={weightWas(props.row)}>
      <WeightField {...props} />
    </Changed>
  )
}

export function DeploymentLimit({ row, edit, limit }: RowFieldProps & { readonly limit: LimitName }) {
  const say = words.routing.model
  return (
    <LimitField
      label={say.field(limitHead(limit), row.upstream)}
      value={valueAt(row.entry, ['limits', limit])}
      before={valueAt(row.was ?? null, ['limits', limit])}
      isNew={row.was === undefined}
      placeholder={absentText(limit)}
      disabled={edit.forbidden !== undefined}
      onChange={(value) => edit.setDeployment(row.key, ['limits', limit], value)}
    />
  )
}

export function DeploymentPrice({ row, edit, kind }: RowFieldProps & { readonly kind: Kind }) {
  const say = words.routing.model
  return (
    <PriceField
      label={say.field(say.heads.price, row.upstream)}
      kind={kind}
      price={row.entry?.['price']}
      byDefault={defaultPrice(row, edit, kind)}
      was={priceWas(row, edit, kind)}
      disabled={edit.forbidden !== undefined}
      onChange={(price) => edit.setDeployment(row.key, ['price'], price)}
    />
  )
}

/** What a deployment without a price of its own costs. Undefined: nothing is known. */
function defaultPrice({ live }: DeploymentRow, { entry }: ModelEdit, kind: Kind): string | undefined {
  const say = words.routing.price
  const ofModel = entry?.['price']
  if (ofModel !== undefined) return say.model(priceText(ofModel, kind, ''))
  const [first] = live?.list_price ?? []
  // Of a new deployment, only the preview knows.
  if (live === undefined) return say.list
  if (first === undefined || first.unit === 'unpriced') return undefined
  return first.amount === '' ? say.list : say.listIs(first.amount)
}

export function priceWas(row: DeploymentRow, edit: ModelEdit, kind: Kind): string | undefined {
  const [now, then] = [row.entry?.['price'], row.was?.['price']]
  const isSame = choiceOf(now, kind) === choiceOf(then, kind) && amountOf(now, kind) === amountOf(then, kind)
  if (row.was === undefined || isSame) return undefined
  const text = priceText(then, kind, defaultPrice(row, edit, kind) ?? words.routing.price.unpriced)
  return choiceOf(then, kind) === 'custom' ? text : text.toLowerCase()
}

/** A value that is only shown: of a declared deployment, or on a card. */
export function limitText(row: DeploymentRow, limit: LimitName): string {
  const value = row.entry === null ? row.live?.limits[REPORTED[limit]] : valueAt(row.entry, ['limits', limit])
  return typeof value === 'number' ? whole(value) : absentText(limit)
}

export function shownPrice(row: DeploymentRow, edit: ModelEdit, kind: Kind): string {
  if (row.entry === null) return row.live === undefined ? '' : shortPrice(row.live.price_text)
  return priceText(row.entry['price'], kind, defaultPrice(row, edit, kind) ?? words.routing.price.unpriced)
}

/** A limit that is not saved yet. */
export function limitIsChanged({ entry, was }: DeploymentRow, limit: LimitName): boolean {
  return was !== undefined && valueAt(entry, ['limits', limit]) !== valueAt(was, ['limits', limit])
}

/** The number of the tier that a stored row was in. Undefined: it has not moved. */
export function tierWas(row: DeploymentRow, priorities: readonly number[]): number | undefined {
  if (row.was === undefined || priorityOf(row.was) === row.priority) return undefined
  return priorities.indexOf(priorityOf(row.was)) + 1
}

interface SkippedForProps {
  readonly row: DeploymentRow
  readonly kind: Kind
  readonly edit: ModelEdit
  readonly className?: string
}

/** Without a price, keys with a hard budget never use it. A price that is not saved yet takes the line away. */
export function SkippedFor({ row, kind, edit, className }: SkippedForProps) {
  const skipped = row.live?.skipped_for
  if (!skipped || priceWas(row, edit, kind) !== undefined) return null
  return (
    <span className={classes('block text-11 text-warn', className)}>
      {words.deployments.skippedFor(skipped.keys)}
    </span>
  )
}
