/** Models that end: when, by whose word, and who still uses them. */
import { z } from 'zod'
import { endingModels } from '#core/catalog/announced-ends.ts'
import { callerIn, visibleProjects } from '../shared/caller.ts'
import { pageOf } from '../shared/fields.ts'
import { usersOfModels } from '../shared/model-users-queries.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { noticesOf } from './endings-queries.ts'
import { endingBodies, modelEnding } from './endings-rules.ts'

/** Days of the list: ten years, beyond every announcement. */
const MAX_DAYS = 3650

const endingsQuery = z.strictObject({
  days: z.coerce.number().int().min(1).max(MAX_DAYS).default(180).describe('How far ahead.'),
})

export const modelEndingList = pageOf(modelEnding).meta({ id: 'ModelEndingList' })

export function registerModelEndings(
  api: Api,
  { catalog, reports, clock }: Pick<ControlNode, 'catalog' | 'reports' | 'clock'>,
): void {
  route(api, 'GET /model-endings', {
    permission: 'models.read',
    id: 'listModelEndings',
    summary:
      'Models that end, by upstream, the soonest first. A developer sees those that keys of its projects used within 30 days',
    query: endingsQuery,
    answer: modelEndingList,
    handler: async (request) => {
      const projects = visibleProjects(callerIn(request))
      const nowMs = clock.nowMs()
      const ends = endingModels(catalog())
      const models = [...new Set(ends.map(({ model }) => model))]
      const [users, notices] = await Promise.all([
        usersOfModels(reports, models, projects, nowMs),
        noticesOf(reports, models),
      ])
      const view = { users, notices, nowMs, days: request.query.days, isOfUsersOnly: projects !== undefined }
      return { data: endingBodies(ends, view), has_more: false, next: null }
    },
  })
}
