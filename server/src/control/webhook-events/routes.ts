/** The events that were sent to webhooks of projects, and those that wait. */
import { z } from 'zod'
import { callerIn, visibleProjects } from '../shared/caller.ts'
import { invalidField } from '../shared/faults.ts'
import { cursor, listOf, name, pageLimit, storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { cursorPage } from '../shared/page.ts'
import { route, type Api } from '../shared/route.ts'
import { outcome, shownUrl } from '../shared/webhook-fields.ts'
import { listWebhookEvents, webhookEvent, type WebhookPage } from './queries.ts'

const webhookPage = z.object({
  project: name.optional(),
  outcome: outcome.optional(),
  after: storable(3000).optional(),
  limit: pageLimit,
})

const webhookList = listOf(webhookEvent).extend({ next: cursor }).meta({ id: 'WebhookEventList' })

export function registerWebhookEvents(api: Api, { reports }: Pick<ControlNode, 'reports'>): void {
  route(api, 'GET /webhook-events', {
    permission: 'projects.read',
    id: 'listWebhookEvents',
    summary: 'Events that were sent, or are to be sent, to webhooks of projects, newest first',
    query: webhookPage,
    answer: webhookList,
    handler: async (request) => {
      const { project, outcome: asked, after, limit } = request.query
      const projects = visibleProjects(callerIn(request), project)
      const page = { projects, outcome: asked, after: placeOf(after), limit: limit + 1 }
      return cursorPage(await listWebhookEvents(reports, page), limit, {
        bodyOf: (event) => ({ ...event, url: shownUrl(event.url) }),
        // Without the URL, whose path is a secret.
        cursorOf: ({ created_at: createdAt, mark, id }) => `${Date.parse(createdAt)}.${mark}.${id}`,
      })
    },
  })
}

function placeOf(after: string | undefined): WebhookPage['after'] {
  if (after === undefined) return undefined
  const [moment = '', mark = '', ...rest] = after.split('.')
  const createdAt = new Date(moment === '' ? Number.NaN : Number(moment))
  if (Number.isNaN(createdAt.getTime()))
    throw invalidField('after: send the `next` of the page before.', 'after')
  return { created_at: createdAt.toISOString(), mark, id: rest.join('.') }
}
