/** How old the facts about models in use are. */
import { z } from 'zod'
import { listModels, type Catalog, type Model } from '#core/catalog/catalog.ts'
import { isOldFact, originsOf, type FactOrigin } from '#core/catalog/fact-age.ts'

const readFact = z
  .object({
    source: z.string().nullable(),
    as_of: z.string().describe('The day on which it was read.'),
    is_old: z.boolean().describe('It was read more than 120 days ago.'),
  })
  .meta({ id: 'CatalogFact' })

export const deploymentFacts = z
  .object({
    model: z.string(),
    deployment: z.string(),
    facts: readFact.nullable().describe('Widths, limits and options. null: torana.yaml alone has them.'),
    price: readFact.nullable().describe('null: the price is not one of the catalogue.'),
    end: readFact.nullable().describe('null: no end is announced, or its source is not the catalogue.'),
  })
  .meta({ id: 'CatalogDeploymentFacts' })

type Facts = z.output<typeof deploymentFacts>

export function factsInUse(catalog: Catalog, nowMs: number): Facts[] {
  return listModels(catalog).flatMap((model) =>
    model.deployments.map((one: Model['deployments'][number]) => {
      const { facts, price, end } = originsOf(one)
      const bodyOf = (origin: FactOrigin | undefined) => readBody(origin, nowMs)
      return {
        model: model.id,
        deployment: one.id,
        facts: bodyOf(facts),
        price: bodyOf(price),
        end: bodyOf(end),
      }
    }),
  )
}

export function countOld(rows: readonly Facts[]): number {
  return rows.flatMap(({ facts, price, end }) => [facts, price, end]).filter((one) => one?.is_old).length
}

function readBody(origin: FactOrigin | undefined, nowMs: number): z.output<typeof readFact> | null {
  if (origin?.asOf === undefined) return null
  return { source: origin.source ?? null, as_of: origin.asOf, is_old: isOldFact(origin.asOf, nowMs) }
}
