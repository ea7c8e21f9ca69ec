/** Filters that members keep under a name. */
import { z } from 'zod'
import { callerIn } from '../shared/caller.ts'
import { conflict } from '../shared/faults.ts'
import { pageOf } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { listSavedViews, replaceSavedViews, savedView, type SavedView } from './queries.ts'

/** The most views of one member: more than anybody finds again. */
const MAX_VIEWS = 50

const savedViews = pageOf(savedView).meta({ id: 'SavedViewList' })

const newViews = z.strictObject({ data: z.array(savedView).max(MAX_VIEWS) }).meta({
  id: 'NewSavedViews',
  examples: [{ data: [{ page: '/requests', name: 'Failed today', search: 'outcome=failed' }] }],
})

export function registerSavedViews(api: Api, { reports }: Pick<ControlNode, 'reports'>): void {
  const listed = (data: SavedView[]) => ({ data, has_more: false, next: null })

  route(api, 'GET /saved-views', {
    permission: 'signed-in',
    id: 'listSavedViews',
    summary: 'Filters that you keep under a name',
    answer: savedViews,
    handler: async (request) => {
      const { member } = callerIn(request)
      return listed(member ? await listSavedViews(reports, member.id) : [])
    },
  })

  route(api, 'PUT /saved-views', {
    permission: 'signed-in',
    id: 'putSavedViews',
    summary: 'Keep these filters, in this order, in place of those before',
    body: newViews,
    answer: savedViews,
    faults: [409],
    handler: async (request) => {
      const { member, actor } = callerIn(request)
      if (member === undefined) throw conflict(`${actor} is a token, and keeps no views.`)
      await replaceSavedViews(reports, member.id, request.body.data)
      return listed(request.body.data)
    },
  })
}
