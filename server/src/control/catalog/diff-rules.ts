/** The differences between two catalogues, as answers have them. */
import { z } from 'zod'
import { isOldFact } from '#core/feed/document.ts'
import type { FactChange } from '#core/feed/effects.ts'
import type { FeedPreview } from '#ports/feed-work.ts'
import { priceBody, priceText } from '../shared/price-text.ts'
import { bill } from './queries.ts'

/** Changes in one answer. A feed with more than this is another catalogue: the rest is counted. */
const MAX_CHANGES = 1000

const factChange = z
  .object({
    provider: z.string(),
    model: z.string().nullable().describe('null: what its wire has for all models.'),
    group: z.enum(['facts', 'wire', 'price', 'end', 'retired']),
    change: z.enum(['added', 'changed', 'removed']),
    before: z.unknown(),
    after: z.unknown(),
    source: z.string().nullable(),
    as_of: z.string().nullable().describe('The day on which it was read.'),
    is_old: z.boolean().describe('It was read more than 120 days ago.'),
  })
  .meta({ id: 'CatalogFactChange' })

const vectorChange = z
  .object({
    model: z.string(),
    deployment: z.string().nullable().describe('null: all of them.'),
    fact: z.string(),
    before: z.unknown(),
    after: z.unknown(),
  })
  .meta({ id: 'CatalogVectorChange' })

const priceChange = z
  .object({
    model: z.string(),
    deployment: z.string(),
    before: z.array(priceText),
    after: z.array(priceText),
    bill: bill.describe('The last 30 days at the new price.'),
  })
  .meta({ id: 'CatalogPriceChange' })

export const catalogDiff = z
  .object({
    from: z.int().describe('The sequence of the catalogue in force.'),
    to: z.int().describe('The sequence of the other one.'),
    made_on: z.string(),
    key: z.string().nullable().describe('The key that signed it. null: it came with the program.'),
    changes: z.array(factChange),
    more_changes: z.int().describe('Changes beyond those listed.'),
    price_changes: z.array(priceChange).describe('Of deployments in use.'),
    vector_changes: z
      .array(vectorChange)
      .describe('Facts that decide vectors of models in use. They have to be accepted.'),
    lost_models: z.array(z.string()).describe('Models in use that would no longer be served.'),
    problems: z.array(z.string()).describe('Why it can not be put in force here.'),
  })
  .meta({ id: 'CatalogDiff' })

export function changeBodies(preview: FeedPreview, nowMs: number) {
  return {
    changes: preview.changes.slice(0, MAX_CHANGES).map((change) => factBody(change, nowMs)),
    more_changes: Math.max(0, preview.changes.length - MAX_CHANGES),
    vector_changes: preview.vectorChanges.map(({ deployment, before, after, ...one }) => ({
      ...one,
      deployment: deployment ?? null,
      before: before ?? null,
      after: after ?? null,
    })),
    lost_models: [...preview.lostModels],
    problems: [...preview.problems],
  }
}

export function priceChangeBodies(
  changes: FeedPreview['priceChanges'],
  bills: ReadonlyMap<string, z.output<typeof bill>>,
): z.output<typeof priceChange>[] {
  return changes.flatMap(({ model, deployment, before, after }) => {
    const own = bills.get(deployment)
    return own === undefined
      ? []
      : [{ model, deployment, before: priceBody(before), after: priceBody(after), bill: own }]
  })
}

function factBody(
  { provider, model, group, before, after, source, asOf }: FactChange,
  nowMs: number,
): z.output<typeof factChange> {
  return {
    provider,
    model: model ?? null,
    group,
    change: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed',
    before: before ?? null,
    after: after ?? null,
    source: source ?? null,
    as_of: asOf ?? null,
    is_old: isOldFact(asOf, nowMs),
  }
}
