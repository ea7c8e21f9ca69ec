import { z } from 'zod'
import { faultAnswers } from '../../fault-answers.ts'
import { callerIn } from '../access/caller.ts'
import type { PeopleDependencies } from '../access/people.ts'
import { conflict } from '../wire/faults.ts'
import { cursor, storable } from '../wire/fields.ts'
import type { Api } from '../wire/route.ts'

/** More than anybody finds again. */
const MAX_VIEWS = 50

const savedView = z
  .strictObject({
    page: storable(60).min(1),
    name: storable(60).trim().min(1),
    search: storable(2000).describe('The address behind the `?`.'),
  })
  .meta({ id: 'SavedView' })

const savedViews = z
  .object({ data: z.array(savedView), has_more: z.boolean(), next: cursor })
  .meta({ id: 'SavedViewList' })

const newViews = z.strictObject({ data: z.array(savedView).max(MAX_VIEWS) }).meta({ id: 'NewSavedViews' })

export function registerSavedViews(
  api: Api,
  { savedViews: store }: Pick<PeopleDependencies, 'savedViews'>,
): void {
  const listed = (views: readonly z.output<typeof savedView>[]) => ({
    data: views.map((view) => ({ ...view })),
    has_more: false,
    next: null,
  })

  api.get('/saved-views', {
    config: { permission: 'signed-in' },
    schema: {
      operationId: 'listSavedViews',
      summary: 'Filters that you keep under a name',
      response: { 200: savedViews, ...faultAnswers([401, 503]) },
    },
    handler: async (request) => {
      const { member } = callerIn(request)
      return listed(member ? await store.list(member.id) : [])
    },
  })

  api.put('/saved-views', {
    config: { permission: 'signed-in' },
    schema: {
      operationId: 'putSavedViews',
      summary: 'Keep these filters, in this order, in place of those before',
      body: newViews,
      response: { 200: savedViews, ...faultAnswers([400, 401, 403, 409, 503]) },
    },
    handler: async (request) => {
      const { member, actor } = callerIn(request)
      if (member === undefined) throw conflict(`${actor} is a token, and keeps no views.`)
      await store.replace(member.id, request.body.data)
      return listed(request.body.data)
    },
  })
}
