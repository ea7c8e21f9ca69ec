/** What webhooks of projects were sent, without what was in it. */
import type { z } from 'zod'
import type { KeyReports, WebhookPage, WebhookRecord } from '#ports/key-reports.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { callerIn, visibleProjects } from '../access/caller.ts'
import { invalidField } from '../wire/faults.ts'
import { cursorPage } from '../wire/page.ts'
import type { Api } from '../wire/route.ts'
import { isoOf, timeOf } from '../wire/times.ts'
import { webhookList, webhookPage, type webhookEvent } from './schemas.ts'
import { shownUrl } from './views.ts'

export function registerWebhookEvents(api: Api, reports: KeyReports): void {
  api.get('/webhook-events', {
    config: { permission: 'projects.read' },
    schema: {
      operationId: 'listWebhookEvents',
      summary: 'Events that were sent, or are to be sent, to webhooks of projects, newest first',
      querystring: webhookPage,
      response: { 200: webhookList, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async (request) => {
      const { project, outcome, after, limit } = request.query
      const projects = visibleProjects(callerIn(request), project)
      const page = { projects, outcome, after: placeOf(after), limit: limit + 1 }
      return cursorPage(await reports.webhookEvents(page), limit, { bodyOf, cursorOf })
    },
  })
}

function bodyOf(record: WebhookRecord): z.output<typeof webhookEvent> {
  return {
    id: record.id,
    project: record.project,
    type: record.type,
    url: shownUrl(record.url),
    tries: record.tries,
    created_at: isoOf(record.createdAtMs),
    ended_at: timeOf(record.endedAtMs),
    outcome: record.outcome,
  }
}

/** Without the URL, whose path is a secret. */
function cursorOf({ createdAtMs, id, mark }: WebhookRecord): string {
  return `${createdAtMs}.${mark}.${id}`
}

function placeOf(after: string | undefined): WebhookPage['after'] {
  if (after === undefined) return undefined
  const [moment = '', mark = '', ...rest] = after.split('.')
  const createdAtMs = Number(moment)
  if (!Number.isSafeInteger(createdAtMs) || moment === '')
    throw invalidField('after: send the `next` of the page before.', 'after')
  return { createdAtMs, mark, id: rest.join('.') }
}
