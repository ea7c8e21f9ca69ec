/** What a rule finds in the figures of this moment. */
import { dollars } from '../money/price.ts'
import { projectOf } from '../money/budget.ts'
import { quantileOf } from '../traffic/latency-counts.ts'
import type { Attention } from './attention.ts'
import { ofKinds, type AlertFacts, type LastingAttention, type ProjectTraffic } from './facts.ts'
import { countOf, finding, namesOf, RELAXED, secondsOf } from './finding.ts'
import { keyOf, type Finding } from './incident.ts'
import { marksOf, valueOf, type AlertKind } from './kind.ts'
import { certificates, nodesDown, spool, stalls } from './node-findings.ts'
import type { AlertRule } from './rule.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** The project of Torana's own probes. */
const SYSTEM = 'system'

export function findingsOf(rule: AlertRule, facts: AlertFacts): readonly Finding[] {
  return FINDERS[rule.kind](rule, facts).filter(({ project }) => isInScope(rule, project))
}

/** What concerns no project concerns the installation. */
function isInScope({ scope }: AlertRule, project: string): boolean {
  return 'installation' in scope || scope.project === '*' || scope.project === project
}

type Finder = (rule: AlertRule, facts: AlertFacts) => readonly Finding[]

const FINDERS: Readonly<Record<AlertKind, Finder>> = {
  budget: budgets,
  ejected,
  space,
  error_rate: errorRates,
  latency: latencies,
  unknowns,
  spool,
  certificate: certificates,
  node_down: nodesDown,
  ledger_stalled: stalls,
}

function budgets({ condition }: AlertRule, facts: AlertFacts): readonly Finding[] {
  return facts.budgets.flatMap(({ id, limitNanoUsd, spentNanoUsd, per, hard }) => {
    if (limitNanoUsd === 0n) return []
    const percent = Number((spentNanoUsd * 100n) / limitNanoUsd)
    const mark = Math.max(0, ...marksOf(condition, 'percent').filter((one) => one <= percent))
    if (mark === 0) return []
    const [scope = '', name = ''] = id.split(/:(.*)/s)
    const span = per === 'total' ? '' : per === 'day' ? ' today' : ` this ${per}`
    const spent = `${dollars(spentNanoUsd)} of ${dollars(limitNanoUsd)} is spent${span}.`
    const isUsedUp = hard && percent >= 100
    const lines = [spent, ...(isUsedUp ? ['Requests beyond it are refused.'] : [])]
    return [
      finding('budget', id, {
        project: projectOf(id),
        severity: isUsedUp ? 'critical' : 'warning',
        title: `${name}: ${percent}% of budget used`,
        lines,
        subjects: [id],
        figures: { percent, spent_usd: dollars(spentNanoUsd), limit_usd: dollars(limitNanoUsd) },
        path: `/budgets/${scope}/${encodeURIComponent(name)}`,
        level: Math.round(mark),
      }),
    ]
  })
}

/** The deployments of one upstream are one incident: they fail for the same reason. */
function byUpstream(
  items: readonly LastingAttention[],
  findingOf: (upstream: string, own: readonly LastingAttention[]) => Finding | undefined,
): readonly Finding[] {
  const groups = Map.groupBy(items, ({ figures }) => String(figures['upstream'] ?? ''))
  return [...groups].flatMap(([upstream, own]) => findingOf(upstream, own) ?? [])
}

function ejected({ condition }: AlertRule, { attention, nowMs, isOpen }: AlertFacts): readonly Finding[] {
  const items = ofKinds(attention, ['deployment_ejected', 'deployment_rejected_us'])
  const waitMs = valueOf(condition, 'minutes') * MINUTE_MS
  return byUpstream(items, (upstream, all) => {
    const key = keyOf({ kind: 'ejected', cause: upstream, project: '' })
    const own = isOpen(key) ? all : all.filter(({ sinceMs }) => nowMs - sinceMs >= waitMs)
    if (own.length === 0) return undefined
    const isRejected = own.some(({ kind }) => kind === 'deployment_rejected_us')
    return finding('ejected', upstream, {
      severity: 'critical',
      title: isRejected ? `${upstream}: key rejected` : `${upstream} ejected`,
      lines: [...callsLine(own), ...standInLines(own)],
      subjects: own.map(({ subject }) => subject.id),
      figures: { upstream },
      path: deploymentPath(own),
      lasting: own,
    })
  })
}

function space(_: AlertRule, { attention }: AlertFacts): readonly Finding[] {
  return byUpstream(ofKinds(attention, ['space_left']), (upstream, own) => {
    const cosines = own.flatMap(({ figures }) => figures['least_cosine'] ?? [])
    const least = Math.min(...cosines.map(Number))
    const models = namesOf(own.map(modelOf))
    return finding('space', upstream, {
      severity: 'drift',
      title: `${upstream}: space check failed`,
      lines: [
        cosines.length === 0 ? `${models}.` : `${models}, cosine ${least.toFixed(2).replace('-', '−')}.`,
        'Its vectors belong to another space, so it is removed from rotation.',
      ],
      subjects: own.map(({ subject }) => subject.id),
      figures: { upstream },
      path: deploymentPath(own),
      lasting: own,
    })
  })
}

function errorRates(rule: AlertRule, facts: AlertFacts): readonly Finding[] {
  const { condition } = rule
  const minutes = valueOf(condition, 'minutes')
  return trafficOf(rule, facts).flatMap(({ project, requests, failed }) => {
    const percent = requests === 0 ? 0 : (failed / requests) * 100
    const key = keyOf({ kind: 'error_rate', cause: 'requests', project })
    const limit = valueOf(condition, 'percent') * (facts.isOpen(key) ? RELAXED : 1)
    if (requests < valueOf(condition, 'requests') || percent <= limit) return []
    const shown = percent < 10 ? percent.toFixed(1) : percent.toFixed(0)
    return [
      finding('error_rate', 'requests', {
        project,
        severity: 'critical',
        title: `${prefixOf(project)}Error rate ${shown}%`,
        lines: [`${countOf(failed)} of ${countOf(requests)} requests failed within ${minutes} min.`],
        subjects: [],
        figures: { percent: Number(shown), requests, failed, minutes },
        path: `/requests?outcome=failed${queryOf(project)}`,
      }),
    ]
  })
}

function latencies(rule: AlertRule, facts: AlertFacts): readonly Finding[] {
  const { condition } = rule
  const minutes = valueOf(condition, 'minutes')
  return trafficOf(rule, facts).flatMap(({ project, requests, latency }) => {
    const p95Ms = quantileOf([latency], 0.95)
    const key = keyOf({ kind: 'latency', cause: 'requests', project })
    const limitMs = valueOf(condition, 'p95_ms') * (facts.isOpen(key) ? RELAXED : 1)
    if (requests < valueOf(condition, 'requests') || p95Ms === undefined || p95Ms <= limitMs) return []
    return [
      finding('latency', 'requests', {
        project,
        severity: 'warning',
        title: `${prefixOf(project)}p95 latency ${secondsOf(p95Ms)}`,
        lines: [
          `The p95 of ${countOf(requests)} requests within ${minutes} min is above ${secondsOf(valueOf(condition, 'p95_ms'))}.`,
        ],
        subjects: [],
        figures: { p95_ms: Math.round(p95Ms), requests, minutes },
        path: `/requests?sort=-duration${queryOf(project)}`,
      }),
    ]
  })
}

function unknowns({ condition }: AlertRule, { attention, nowMs }: AlertFacts): readonly Finding[] {
  const hours = valueOf(condition, 'hours')
  return ofKinds(attention, ['unknowns_open'])
    .filter(({ sinceMs }) => nowMs - sinceMs >= hours * HOUR_MS)
    .map(({ figures, sinceMs }) =>
      finding('unknowns', 'unknowns', {
        severity: 'warning',
        title: `Unknowns older than ${hours} h`,
        lines: [
          `${figures['open'] ?? 0} calls have an unknown outcome and hold $${Number(figures['usd'] ?? 0).toFixed(2)}.`,
          'Resolve them, or they are posted after 7 days.',
        ],
        subjects: [],
        figures,
        path: '/unknowns',
        lasting: [{ sinceMs }],
      }),
    )
}

/** The traffic that a rule watches: of all projects together, of one, or of each. */
function trafficOf({ scope, condition }: AlertRule, { traffic }: AlertFacts): readonly ProjectTraffic[] {
  const all = (traffic.get(valueOf(condition, 'minutes')) ?? []).filter(({ project }) => project !== SYSTEM)
  if ('project' in scope)
    return all.filter(({ project }) => project !== '' && (scope.project === '*' || scope.project === project))
  const sum = (of: (one: ProjectTraffic) => number): number => all.reduce((total, one) => total + of(one), 0)
  const latency = {
    classes: all.flatMap((one) => one.latency.classes),
    counts: all.flatMap((one) => one.latency.counts),
  }
  return [{ project: '', requests: sum((one) => one.requests), failed: sum((one) => one.failed), latency }]
}

function modelOf({ figures }: Attention): string {
  return String(figures['model'] ?? '')
}

function callsLine(own: readonly Attention[]): readonly string[] {
  const sum = (field: string): number =>
    own.reduce((total, { figures }) => total + Number(figures[field] ?? 0), 0)
  const calls = sum('calls')
  const failed = calls === 0 ? '' : `, ${countOf(sum('failed'))} of ${countOf(calls)} calls failed`
  return [`${namesOf(own.map(modelOf))}${failed}.`]
}

function standInLines(own: readonly Attention[]): readonly string[] {
  const alone = own.filter(({ figures }) => (figures['stands_in'] ?? '') === '').map(modelOf)
  const others = new Set(own.map(({ figures }) => String(figures['stands_in'] ?? '')).filter(Boolean))
  return [
    ...(others.size > 0 ? [`${namesOf([...others])} takes the traffic.`] : []),
    ...(alone.length > 0 ? [`No other deployment serves ${namesOf(alone)}.`] : []),
  ]
}

function deploymentPath(own: readonly Attention[]): string {
  const [only, ...others] = own
  if (only === undefined || others.length > 0) return '/deployments'
  return `/deployments/${encodeURIComponent(only.subject.id)}`
}

function prefixOf(project: string): string {
  return project === '' ? '' : `${project}: `
}

function queryOf(project: string): string {
  return project === '' ? '' : `&project=${encodeURIComponent(project)}`
}
