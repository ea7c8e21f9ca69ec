/** Changes of the configuration as lines of torana.yaml, as effects in words, and turned around. */
import { z } from 'zod'
import type { Catalog, Model } from '#core/catalog/catalog.ts'
import { addressOf } from '#core/catalog/upstream-address.ts'
import { priceTextOf } from '#core/money/price-text.ts'
import { lineDiff } from '#core/text/line-diff.ts'
import type { CredentialRecord } from '#ports/credentials.ts'
import type { ChangedObject, ExportedLine, StoredObject } from '#ports/stored-configuration.ts'
import type { Plan } from '../shared/configuration.ts'
import { withRenamed, type Change } from '../shared/configuration-change.ts'
import { source } from '../shared/model-fields.ts'

/** Unchanged lines on each side of a change. */
const CONTEXT_LINES = 30
/** Lines of a preview: more than anyone reads. */
const MAX_LINES = 2000

export const previewLine = z
  .object({
    op: z.enum([' ', '+', '-']),
    number: z.int().describe('In the text after the changes; of a removed line, in the text before.'),
    text: z.string(),
    source: source.nullable().describe('Its place in torana.yaml. null: it comes from the console.'),
  })
  .meta({ id: 'PreviewLine' })

type PreviewLine = z.output<typeof previewLine>

export interface TextDiff {
  readonly added: number
  readonly removed: number
  readonly lines: PreviewLine[]
  readonly is_cut: boolean
}

/** Changed lines with some around them; without a change, all. Where numbers leap, unchanged lines are left out. */
export function textDiff(
  before: readonly ExportedLine[],
  after: readonly ExportedLine[],
  file: string,
): TextDiff {
  const diff = lineDiff(
    before.map(({ text }) => text),
    after.map(({ text }) => text),
  )
  const changed = diff.flatMap(({ op }, index) => (op === ' ' ? [] : [index]))
  const near = new Set<number>()
  for (const index of changed)
    for (let at = index - CONTEXT_LINES; at <= index + CONTEXT_LINES; at += 1) near.add(at)
  const lines = diff
    .filter((_, index) => changed.length === 0 || near.has(index))
    .map(({ op, before: was, after: is }): PreviewLine => {
      const [line, index] = op === '-' ? [before[was], was] : [after[is], is]
      const declaredAt = line?.declaredAt ?? null
      return {
        op,
        number: index + 1,
        text: line?.text ?? '',
        source: declaredAt === null ? null : { kind: 'file', file, line: declaredAt },
      }
    })
  return {
    added: diff.filter(({ op }) => op === '+').length,
    removed: diff.filter(({ op }) => op === '-').length,
    lines: lines.slice(0, MAX_LINES),
    is_cut: lines.length > MAX_LINES,
  }
}

/** Upstreams whose secret the store keeps for the address that they have in this catalog. */
export function sealedUpstreams(
  records: readonly CredentialRecord[],
  { upstreams }: Catalog,
  renames: ReadonlyMap<string, string> = new Map(),
): readonly string[] {
  return records.flatMap(({ upstream: was, baseUrl, hasSecret }) => {
    const name = renames.get(was) ?? was
    const known = upstreams?.get(name)?.upstream
    return hasSecret && known !== undefined && addressOf(known) === baseUrl ? [name] : []
  })
}

export const effect = z
  .object({
    kind: z.enum([
      'model_added',
      'model_removed',
      'upstream_renamed',
      'share',
      'fallback',
      'price',
      'key_dropped',
      'key_deleted',
      'key_missing',
    ]),
    model: z.string().nullable(),
    upstream: z.string().nullable(),
    share: z.number().nullable().describe('0 to 1: of the calls of its tier.'),
    share_24h: z.number().nullable().describe('0 to 1: of the calls of the last 24 hours.'),
    price: z.string().nullable().describe('`free`, `unpriced`, or dollars with their unit.'),
    to: z.string().nullable().describe('The new name of an upstream.'),
    text: z.string(),
  })
  .meta({ id: 'ConfigurationEffect' })

type Effect = z.output<typeof effect>

export interface EffectView {
  /** Upstreams with a secret in the store. */
  readonly credentials: ReadonlySet<string>
  /** Calls of the last day, by deployment. */
  readonly calls: ReadonlyMap<string, number>
}

const NONE = { model: null, upstream: null, share: null, share_24h: null, price: null, to: null }

/** What a change means for callers and bills. */
export function effectsOf({ objects, extendedBefore, extendedAfter }: Plan, view: EffectView): Effect[] {
  const [was, is] = [extendedBefore.catalog, extendedAfter.catalog]
  return objects.flatMap((one) =>
    one.object === 'upstream'
      ? upstreamEffects(one, was, is, view)
      : modelEffects(one.name, was.models.get(one.name), is.models.get(one.name), view),
  )
}

function upstreamEffects(
  one: ChangedObject,
  was: Catalog,
  is: Catalog,
  { credentials }: EffectView,
): Effect[] {
  const { name, renamedFrom = name, after } = one
  const hadKey = credentials.has(renamedFrom)
  const [before, now] = [was.upstreams?.get(renamedFrom)?.upstream, is.upstreams?.get(name)?.upstream]
  const isMoved = before !== undefined && now !== undefined && addressOf(before) !== addressOf(now)
  const of = { ...NONE, upstream: name }
  return [
    ...(after === null && hadKey
      ? [
          {
            ...of,
            kind: 'key_deleted' as const,
            text: `The key of ${name} is deleted. Reverting does not bring it back.`,
          },
        ]
      : []),
    ...(isMoved && hadKey
      ? [
          {
            ...of,
            kind: 'key_dropped' as const,
            text: `${name} has another address, so its key is dropped. Replace it after you save.`,
          },
        ]
      : []),
    ...(renamedFrom === name
      ? []
      : [
          {
            ...NONE,
            kind: 'upstream_renamed' as const,
            upstream: renamedFrom,
            to: name,
            text: `${renamedFrom} is called ${name}. It keeps its key, prices and space checks; past calls stay under ${renamedFrom}.`,
          },
        ]),
  ]
}

function modelEffects(
  id: string,
  before: Model | undefined,
  after: Model | undefined,
  view: EffectView,
): Effect[] {
  const of = { ...NONE, model: id }
  if (after === undefined)
    return before === undefined
      ? []
      : [{ ...of, kind: 'model_removed', text: `Callers of ${id} get 404 model_not_found.` }]
  const added: Effect[] =
    before === undefined ? [{ ...of, kind: 'model_added', text: `Callers can use ${id}.` }] : []
  return [...added, ...shareEffects(before, after, view), ...priceEffects(before, after)]
}

interface Place {
  readonly id: string
  readonly upstream: { readonly name: string }
  readonly priority: number
  readonly weight: number
}

function shareEffects(before: Model | undefined, after: Model, { calls }: EffectView): Effect[] {
  const places: readonly Place[] = after.deployments
  const were = new Map((before?.deployments ?? []).map((one: Place) => [one.id, one]))
  const all = places.reduce((sum, { id }) => sum + (calls.get(id) ?? 0), 0)
  const first = Math.min(...places.map(({ priority }) => priority))
  const weightOf = (tier: readonly Place[]) => tier.reduce((sum, { weight }) => sum + weight, 0)
  const sharesBefore = new Map(
    [...Map.groupBy(were.values(), ({ priority }) => priority).values()].flatMap((tier) =>
      tier.map(({ id, weight }) => [id, weight / weightOf(tier)] as const),
    ),
  )
  return [...Map.groupBy(places, ({ priority }) => priority)].flatMap(([priority, tier]) =>
    tier.flatMap(({ id, upstream: { name }, weight }): Effect[] => {
      const share = weight / weightOf(tier)
      const was = were.get(id)
      const of = { ...NONE, model: after.id, upstream: name, share }
      if (priority > first)
        return was?.priority === priority
          ? []
          : [
              {
                ...of,
                kind: 'fallback',
                text: `${name} is a fallback, used only when the tiers before it are unhealthy or at capacity.`,
              },
            ]
      if (was?.priority === priority && sharesBefore.get(id) === share) return []
      const share24h = all === 0 ? null : (calls.get(id) ?? 0) / all
      const past = share24h === null ? '' : ` (${percent(share24h)} in the last 24 h)`
      return [
        {
          ...of,
          kind: 'share',
          share_24h: share24h,
          text: `${name} gets about ${percent(share)} of calls${past}.`,
        },
      ]
    }),
  )
}

function priceEffects(before: Model | undefined, after: Model): Effect[] {
  const were = new Map((before?.deployments ?? []).map(({ id, price }) => [id, priceWords(price)]))
  return after.deployments.flatMap(({ id, upstream: { name }, price }): Effect[] => {
    const words = priceWords(price)
    const was = were.get(id)
    if (was === words || (was === undefined && before === undefined)) return []
    const billed =
      price.kind === 'free'
        ? `${name} is billed at $0.`
        : price.kind === 'unpriced'
          ? `Calls to ${name} are unpriced: hard budgets refuse them.`
          : `${name} is billed at ${words}.`
    return [
      {
        ...NONE,
        kind: 'price',
        model: after.id,
        upstream: name,
        price: words,
        text: `${billed} Past calls keep their price.`,
      },
    ]
  })
}

function priceWords(price: Model['deployments'][number]['price']): string {
  return priceTextOf(price)
    .map(({ amount, unit }) => (amount === '' ? unit : `$${amount} per ${unit}`))
    .join(', ')
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`
}

/** The changes that take one back, from what the store holds now. */
export function reverseOf(
  objects: readonly ChangedObject[],
  stored: readonly StoredObject[],
): readonly Change[] {
  const revisionOf = (object: ChangedObject['object'], name: string): bigint | null =>
    stored.find((one) => one.object === object && one.name === name)?.revision ?? null
  // Entries of a set name upstreams as they are called when it is saved.
  const names = new Map(
    objects.flatMap(({ name, renamedFrom }) => (renamedFrom === undefined ? [] : [[renamedFrom, name]])),
  )
  return objects.flatMap(({ object, name, renamedFrom, before }): Change[] => {
    const base = revisionOf(object, name)
    if (before === null && base === null) return []
    const entry = object === 'model' && before !== null ? withRenamed(before, names) : before
    return [{ object, name, entry, base, ...(renamedFrom !== undefined && { renameTo: renamedFrom }) }]
  })
}

/** Whether one of its objects was changed after the change with this id. */
export function isChangedSince(
  id: bigint,
  objects: readonly ChangedObject[],
  stored: readonly StoredObject[],
): boolean {
  return objects.some(({ object, name, after }) => {
    const there = stored.find((one) => one.object === object && one.name === name)
    // The same change may have given the name of a deleted object to another.
    return there === undefined ? after !== null : there.revision !== id
  })
}

/** A load of torana.yaml in one line. */
export function loadSummary(
  loaded: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>,
): string {
  const parts = Object.entries(loaded).flatMap(([section, names]) =>
    (['added', 'changed', 'removed'] as const).flatMap((verb) => {
      const all = names[verb] ?? []
      if (all.length === 0) return []
      const shown = all.slice(0, MAX_NAMES).join(', ')
      return [
        `${verb} ${section} ${shown}${all.length > MAX_NAMES ? ` and ${all.length - MAX_NAMES} more` : ''}`,
      ]
    }),
  )
  return parts.length === 0 ? 'Reloaded without a change' : `Reloaded: ${parts.join('; ')}`
}

/** Names of a section in one line. */
const MAX_NAMES = 3
