/** Alerts: incidents, rules that start them, and channels that hear of them. */
import { z } from 'zod'
import { examplesOf } from '#core/alerts/shapes.ts'
import { NO_ALERTS } from '#core/alerts/rule.ts'
import { actorIn, callerIn, visibleProjects } from '../shared/caller.ts'
import { invalidField, notFound } from '../shared/faults.ts'
import { givenTime, pageLimit, pageOf, storable, time } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { cursorPage } from '../shared/page.ts'
import { route, type Api } from '../shared/route.ts'
import { isoOf, timeOf } from '../shared/times.ts'
import { changeFeed, type EventTopic } from '../shared/topic.ts'
import { registerAlertChannels } from './channel-routes.ts'
import { alertKind, countAlerts, incident, incidentDetail, listDeliveries, listIncidents } from './queries.ts'
import { registerAlertRules } from './rule-routes.ts'
import { allRules, exampleNotice, seesRule } from './rules.ts'
import { registerAlertTest } from './test-routes.ts'

const summary = z
  .object({
    open: z.int(),
    critical: z.int().describe('Of those that are open.'),
    resolved_7d: z.int(),
    median_minutes: z.number().nullable().describe('How long incidents of the last 7 days lasted.'),
    notifications_7d: z.int(),
    delivered: z.int(),
    retrying: z.int().describe('Notices that were tried and have not arrived.'),
    p95_notify_ms: z
      .number()
      .nullable()
      .describe('From the start of an incident to the arrival of its notice, of the last 7 days.'),
    rules_on: z.int(),
    rules_off: z.int(),
    muted_until: time.nullable(),
  })
  .meta({ id: 'AlertSummary' })

const incidentQuery = z.object({
  project: storable(200).optional(),
  state: z.enum(['open', 'resolved']).optional(),
  after: z.uuid().optional(),
  limit: pageLimit,
})

const preview = z
  .object({
    kind: alertKind,
    title: z.string(),
    severity: z.enum(['critical', 'drift', 'warning']),
    lines: z.array(z.string()),
    installation: z.string(),
    link: z.string().nullable(),
    shapes: z.object({
      slack: z.unknown(),
      teams: z.unknown(),
      pagerduty: z.unknown(),
      email: z.unknown(),
      webhook: z.unknown(),
    }),
  })
  .meta({ id: 'AlertPreview' })

const mute = z
  .strictObject({ until: givenTime.nullable().describe('null: no longer.') })
  .meta({ id: 'AlertMute', examples: [{ until: '2026-11-18T12:00:00Z' }] })

/** The longest mute: an outage that no one hears of for weeks is worse than a notice. */
const MAX_MUTE_MS = 31 * 86_400_000

export function registerAlerts(api: Api, node: ControlNode): void {
  const { alerts, clock, reports, settings } = node

  route(api, 'GET /alerts/summary', {
    permission: 'alerts.read',
    id: 'alertSummary',
    summary: 'Incidents, notices and rules in figures',
    query: z.object({ project: storable(200).optional() }),
    answer: summary,
    handler: async (request) => {
      const projects = visibleProjects(callerIn(request), request.query.project)
      const [stored, counts] = await Promise.all([
        alerts.read(),
        countAlerts(reports, projects, clock.nowMs()),
      ])
      const rules = allRules(node.declaredCatalog().alerts ?? NO_ALERTS, stored).filter((rule) =>
        seesRule(rule, projects),
      )
      return {
        ...counts,
        rules_on: rules.filter(({ isOn }) => isOn).length,
        rules_off: rules.filter(({ isOn }) => !isOn).length,
        muted_until: timeOf(stored.mutedUntilMs),
      }
    },
  })

  route(api, 'GET /alerts/incidents', {
    permission: 'alerts.read',
    id: 'listAlertIncidents',
    summary: 'Incidents, those that are open first, then the newest first',
    query: incidentQuery,
    answer: pageOf(incident).meta({ id: 'AlertIncidentList' }),
    handler: async (request) => {
      const { project, state, after, limit } = request.query
      const projects = visibleProjects(callerIn(request), project)
      const found = await listIncidents(reports, { projects, state, after, limit: limit + 1 })
      return cursorPage(found, limit, { bodyOf: (one) => one, cursorOf: ({ id }) => id })
    },
  })

  route(api, 'GET /alerts/incidents/:id', {
    permission: 'alerts.read',
    id: 'getAlertIncident',
    summary: 'One incident, with every try to send its notices',
    params: z.object({ id: z.uuid() }),
    answer: incidentDetail,
    handler: async (request) => {
      const { id } = request.params
      const projects = visibleProjects(callerIn(request))
      const [found] = await listIncidents(reports, { projects, id, limit: 1 })
      if (found === undefined) throw notFound(`There is no incident ${id}.`)
      return { ...found, deliveries: await listDeliveries(reports, id) }
    },
  })

  route(api, 'GET /alerts/preview', {
    permission: 'alerts.read',
    id: 'previewAlert',
    summary: 'What a notice of a kind looks like in each kind of channel',
    query: z.object({ kind: alertKind.default('space') }),
    answer: preview,
    needsStore: false,
    handler: async (request) => {
      const { kind } = request.query
      const notice = exampleNotice({
        kind,
        id: '019a94c2-7f00-7000-8000-000000000000',
        installation: settings.name ?? '',
        link: `${settings.consoleUrl ?? node.controlUrl}/alerts`,
        at: isoOf(clock.nowMs()),
        isTest: false,
      })
      const { title, severity, lines, installation, link = null } = notice
      return { kind, title, severity, lines: [...lines], installation, link, shapes: examplesOf(notice) }
    },
  })

  route(api, 'PUT /alerts/mute', {
    permission: 'alerts.write',
    id: 'muteAlerts',
    summary:
      'Hold all notices until then, also those of PagerDuty. What starts and ends meanwhile is not sent',
    body: mute,
    answer: z.object({ muted_until: time.nullable() }).meta({ id: 'MutedAlerts' }),
    handler: async (request) => {
      const untilMs = request.body.until === null ? undefined : Date.parse(request.body.until)
      const nowMs = clock.nowMs()
      if (untilMs !== undefined && (untilMs <= nowMs || untilMs > nowMs + MAX_MUTE_MS))
        throw invalidField('until: expected a moment within the next 31 days.', 'until')
      await alerts.mute(untilMs, actorIn(request))
      return { muted_until: timeOf(untilMs) }
    },
  })

  registerAlertRules(api, node)
  registerAlertChannels(api, node)
  registerAlertTest(api, node)
}

/** Time for which the topic watches an incident that has ended: its last notices are on their way. */
const ENDED_MS = 10 * 60_000
/** Incidents that the topic watches. */
const MAX_WATCHED = 100

/** Incidents that start, change and end, and the arrival of their notices. */
export function incidentTopic({ reports, clock }: Pick<ControlNode, 'reports' | 'clock'>): EventTopic {
  return {
    name: 'incidents',
    permission: 'alerts.read',
    open: ({ projects }) =>
      changeFeed(() =>
        listIncidents(reports, { projects, endedSinceMs: clock.nowMs() - ENDED_MS, limit: MAX_WATCHED }),
      ),
  }
}
