/** Rules and channels as the control API shows them, and what one caller sees of them. */
import {
  ALERT_KINDS,
  KIND_TABLE,
  type AlertKind,
  type AlertScope,
  type AlertSeverity,
} from '#core/alerts/kind.ts'
import type { Notice } from '#core/alerts/notice.ts'
import type { AlertChannel, AlertRule, DeclaredAlerts } from '#core/alerts/rule.ts'
import type { StoredAlerts } from '#ports/alerts.ts'
import { managedBody } from '../shared/model-fields.ts'
import type { ChannelQueue } from './queries.ts'

type Managed<One> = One & { readonly managedBy: string }

/** Declared ones first. */
export function allRules(declared: DeclaredAlerts, stored: StoredAlerts): Managed<AlertRule>[] {
  return [...declared.rules, ...stored.rules.map((rule) => ({ ...rule, managedBy: 'store' }))]
}

export function allChannels(declared: DeclaredAlerts, stored: StoredAlerts): Managed<AlertChannel>[] {
  return [...declared.channels, ...stored.channels.map((channel) => ({ ...channel, managedBy: 'store' }))]
}

/** `projects` undefined: all. A rule for each project concerns everyone. */
export function seesRule(
  { scope }: Pick<AlertRule, 'scope'>,
  projects: readonly string[] | undefined,
): boolean {
  if (projects === undefined) return true
  return 'project' in scope && (scope.project === '*' || projects.includes(scope.project))
}

export function ruleBody(rule: Managed<AlertRule>, lastAt: string | undefined) {
  const { managedBy, isOn, quiet, condition, channels, ...fields } = rule
  return {
    ...managedBody(managedBy),
    ...fields,
    on: isOn,
    condition: Object.fromEntries(
      Object.entries(condition).map(([field, value]) => [
        field,
        typeof value === 'number' ? value : [...value],
      ]),
    ),
    channels: [...channels],
    quiet: quiet === undefined ? null : { ...quiet, days: [...quiet.days] },
    last_at: lastAt ?? null,
  }
}

export function channelBody(channel: Managed<AlertChannel>, queue: ChannelQueue | undefined) {
  const { managedBy, keepsQuiet, ...fields } = channel
  const failures = queue?.failures ?? 0
  return {
    ...managedBody(managedBy),
    ...fields,
    quiet_hours: keepsQuiet,
    last: queue?.last ?? null,
    failing_since: queue?.failing_since ?? null,
    queued: queue?.queued ?? 0,
    next_at: failures > 0 ? (queue?.next_at ?? null) : null,
    attempt: failures + 1,
  }
}

/** What a new rule of each kind begins with. */
export function kindBodies() {
  return ALERT_KINDS.map((kind) => ({
    kind,
    projects: KIND_TABLE[kind].hasProjects,
    fields: Object.entries(KIND_TABLE[kind].fields).map(([field, { initial, min, max }]) => ({
      field,
      initial: typeof initial === 'number' ? initial : [...initial],
      min,
      max,
    })),
  }))
}

interface Example {
  readonly severity: AlertSeverity
  readonly title: string
  readonly lines: readonly string[]
  readonly scope?: AlertScope
}

/** What a notice of each kind looks like. */
const EXAMPLES: Readonly<Record<AlertKind, Example>> = {
  budget: {
    severity: 'warning',
    title: 'ads: 87% of budget used',
    lines: ['$87.00 of $100.00 is spent this month. The budget is hard: requests beyond it are refused.'],
    scope: { project: 'ads' },
  },
  ejected: {
    severity: 'critical',
    title: 'gpu-two ejected',
    lines: ['text-embedding-3-small, 12 of 14 calls failed.', 'openai takes the traffic.'],
  },
  space: {
    severity: 'drift',
    title: 'azure-us: space check failed',
    lines: [
      'text-embedding-3-large, cosine −0.04.',
      'It is removed from rotation; openai takes the traffic.',
    ],
  },
  error_rate: {
    severity: 'critical',
    title: 'Error rate 7.2%',
    lines: ['86 of 1,194 requests failed within 5 min.'],
  },
  latency: {
    severity: 'warning',
    title: 'studio: p95 latency 3.1 s',
    lines: ['The p95 of 412 requests within 10 min is above 2 s.'],
    scope: { project: 'studio' },
  },
  unknowns: {
    severity: 'warning',
    title: '2 unknowns older than 24 h',
    lines: ['Calls with an unknown outcome hold $0.38. Resolve them, or they are posted after 7 days.'],
  },
  spool: {
    severity: 'critical',
    title: 'Spool growing on 2 nodes',
    lines: ['4,120 usage records wait on disk for PostgreSQL.'],
  },
  certificate: {
    severity: 'warning',
    title: 'Certificate expires in 12 days',
    lines: ['The certificate of gateway-1 is valid until 2026-11-30.'],
  },
  node_down: {
    severity: 'critical',
    title: 'gateway-2 is down',
    lines: ['It has been silent for 3 min.'],
  },
  ledger_stalled: {
    severity: 'critical',
    title: 'Ledger not sealed for 3 h',
    lines: ['Nodes of an earlier version hold it up: stop or end them.'],
  },
}

export interface ExampleParts {
  readonly kind: AlertKind
  readonly id: string
  readonly installation: string
  readonly link: string | undefined
  readonly at: string
  readonly isTest: boolean
}

export function exampleNotice({ kind, id, installation, link, at, isTest }: ExampleParts): Notice {
  const { scope, ...example } = EXAMPLES[kind]
  return {
    id: `${id}.0`,
    incident: id,
    phase: 'start',
    kind,
    ...example,
    project: scope !== undefined && 'project' in scope ? scope.project : undefined,
    grouped: 1,
    startedAt: at,
    endedAt: undefined,
    installation,
    link,
    isTest,
  }
}
