/** The built-in catalogue of facts and prices, and how old its facts about models in use are. */
import { z } from 'zod'
import { route, type Api } from '../shared/route.ts'
import type { ControlNode } from '../shared/node.ts'
import { countOld, deploymentFacts, factsInUse } from './fact-rules.ts'

const catalog = z
  .object({
    date: z.string().describe('The newest day on which a fact of it was read.'),
    data: z.array(deploymentFacts).describe('Where the facts about each deployment come from.'),
    old_facts: z.int().describe('How many of them were read more than 120 days ago.'),
  })
  .meta({ id: 'Catalog' })

export function registerCatalog(
  api: Api,
  { catalog: current, catalogDate, clock }: Pick<ControlNode, 'catalog' | 'catalogDate' | 'clock'>,
): void {
  route(api, 'GET /catalog', {
    permission: 'prices.read',
    id: 'getCatalog',
    summary: 'The catalogue of facts and prices of this version, and how old its facts are',
    answer: catalog,
    handler: async () => {
      const data = factsInUse(current(), clock.nowMs())
      return { date: catalogDate, data, old_facts: countOld(data) }
    },
  })
}
