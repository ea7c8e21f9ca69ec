/** A notice in the form that each kind of channel takes. */
import type { ChannelKind, ChannelTarget } from './rule.ts'
import type { Notice, NoticePhase } from './notice.ts'

export interface MailText {
  readonly subject: string
  readonly text: string
}

/** The colour of a message: the same as on the page of alerts. */
const COLOURS = { critical: '#c9372c', drift: '#7f5bd4', warning: '#b8660b', ended: '#2c9a5b' } as const
/** Names of PagerDuty. */
const PAGERDUTY_SEVERITY = { critical: 'critical', drift: 'error', warning: 'warning' } as const
const TYPES = {
  start: 'alert.started',
  worse: 'alert.worse',
  end: 'alert.ended',
  past: 'alert.past',
} as const satisfies Record<NoticePhase, string>

/** The JSON that is posted. A channel for mail has none. */
export function postOf(target: Exclude<ChannelTarget, { kind: 'email' }>, notice: Notice): unknown {
  if (target.kind === 'pagerduty') return pagerDutyOf(notice, target.routingKey)
  if (target.kind === 'webhook') return eventOf(notice)
  return target.kind === 'slack' ? slackOf(notice) : teamsOf(notice)
}

/** What is shown of each form before a channel exists. */
export function examplesOf(notice: Notice): Readonly<Record<ChannelKind, unknown>> {
  return {
    slack: slackOf(notice),
    teams: teamsOf(notice),
    pagerduty: pagerDutyOf(notice, '…'),
    email: mailOf(notice),
    webhook: eventOf(notice),
  }
}

/** The title with what happened to it. */
function headOf({ phase, title, isTest }: Notice): string {
  if (isTest) return `Test: ${title}`
  if (phase === 'end') return `Resolved: ${title}`
  if (phase === 'past') return `Started and resolved: ${title}`
  return title
}

function linesOf(notice: Notice): readonly string[] {
  const { lines, phase, grouped, startedAt, endedAt } = notice
  const ended =
    endedAt === undefined ? [] : [`It lasted ${durationOf(Date.parse(endedAt) - Date.parse(startedAt))}.`]
  const held = phase === 'past' ? ['Quiet hours held this notice.'] : []
  const more = grouped > 1 ? [`${grouped} alerts are grouped in this one.`] : []
  return [...lines, ...more, ...ended, ...held]
}

export function mailOf(notice: Notice): MailText {
  const { installation, link } = notice
  const where = installation === '' ? 'Torana' : `Torana ${installation}`
  const text = [headOf(notice), '', ...linesOf(notice), ...(link === undefined ? [] : ['', link]), '']
  return { subject: oneLine(`[${where}] ${headOf(notice)}`), text: text.join('\n') }
}

function eventOf(notice: Notice): unknown {
  const { id, incident, phase, kind, severity, title, project, grouped, startedAt, endedAt } = notice
  return {
    id,
    object: 'event',
    type: notice.isTest ? 'alert.test' : TYPES[phase],
    created_at: secondsOf(endedAt ?? startedAt),
    data: {
      incident,
      installation: notice.installation,
      kind,
      severity,
      title: notice.isTest ? headOf(notice) : title,
      text: linesOf(notice).join(' '),
      project: project ?? null,
      grouped,
      started_at: secondsOf(startedAt),
      ended_at: endedAt === undefined ? null : secondsOf(endedAt),
      link: notice.link ?? null,
    },
  }
}

function slackOf(notice: Notice): unknown {
  const { installation, link } = notice
  const head = `*${escaped(headOf(notice))}*${installation === '' ? '' : ` ${escaped(installation)}`}`
  const text = [head, ...linesOf(notice).map(escaped)].join('\n')
  const see = link === undefined ? [] : [{ type: 'mrkdwn', text: `<${link}|View in Torana>` }]
  return {
    text: escaped(headOf(notice)),
    attachments: [
      {
        color: colourOf(notice),
        blocks: [
          { type: 'section', text: { type: 'mrkdwn', text } },
          ...(see.length > 0 ? [{ type: 'context', elements: see }] : []),
        ],
      },
    ],
  }
}

function teamsOf(notice: Notice): unknown {
  const { installation, link } = notice
  const style = isOver(notice) ? 'good' : notice.severity === 'warning' ? 'warning' : 'attention'
  const texts = linesOf(notice).map((text) => ({ type: 'TextBlock', text: plainOf(text), wrap: true }))
  const title = {
    type: 'TextBlock',
    text: plainOf(headOf(notice)),
    weight: 'Bolder',
    size: 'Medium',
    wrap: true,
  }
  const where = {
    type: 'TextBlock',
    text: plainOf(installation),
    isSubtle: true,
    spacing: 'None',
    wrap: true,
  }
  const items = [title, ...(installation === '' ? [] : [where]), ...texts]
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [{ type: 'Container', style, bleed: true, items }],
          ...(link !== undefined && {
            actions: [{ type: 'Action.OpenUrl', title: 'View in Torana', url: link }],
          }),
        },
      },
    ],
  }
}

/** What is over pages no one: it resolves what PagerDuty has, or nothing. */
function pagerDutyOf(notice: Notice, routingKey: string): unknown {
  const { incident, title, kind, severity, project, grouped, startedAt, link } = notice
  const common = { routing_key: routingKey, dedup_key: incident }
  if (isOver(notice)) return { ...common, event_action: 'resolve' }
  return {
    ...common,
    event_action: 'trigger',
    client: 'Torana',
    ...(link !== undefined && { client_url: link, links: [{ href: link, text: 'View in Torana' }] }),
    payload: {
      summary: headOf(notice),
      source: notice.installation || 'torana',
      severity: notice.isTest ? 'info' : PAGERDUTY_SEVERITY[severity],
      timestamp: startedAt,
      component: title,
      group: project ?? 'installation',
      class: kind,
      custom_details: { text: linesOf(notice).join(' '), grouped },
    },
  }
}

function isOver({ phase }: Notice): boolean {
  return phase === 'end' || phase === 'past'
}

function colourOf(notice: Notice): string {
  return isOver(notice) ? COLOURS.ended : COLOURS[notice.severity]
}

/** Slack reads these three as markup. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Teams reads Markdown: names of models and projects are shown as they are. */
function plainOf(text: string): string {
  return text.replaceAll(/[\\*_[\]`]/g, String.raw`\$&`)
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}

/** Unix seconds, as all events have them. */
function secondsOf(time: string): number {
  return Math.floor(Date.parse(time) / 1000)
}

const MINUTE_MS = 60_000

function durationOf(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS)
  if (minutes < 1) return `${Math.max(1, Math.round(ms / 1000))} s`
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}
