/** What a rule finds about the nodes and what runs beside requests: spool, certificates, heartbeats, ledger. */
import { ofKinds, type AlertFacts } from './facts.ts'
import { countOf, finding, namesOf, RELAXED } from './finding.ts'
import { keyOf, type Finding } from './incident.ts'
import { valueOf } from './kind.ts'
import type { AlertRule } from './rule.ts'

const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS

/** One incident for all nodes: they wait for the same store. */
export function spool(
  { condition }: AlertRule,
  { attention, nowMs, isOpen }: AlertFacts,
): readonly Finding[] {
  const isKnown = isOpen(keyOf({ kind: 'spool', cause: 'spool', project: '' }))
  const limit = valueOf(condition, 'entries') * (isKnown ? RELAXED : 1)
  const waitMs = isKnown ? 0 : valueOf(condition, 'minutes') * MINUTE_MS
  const own = ofKinds(attention, ['spool_waiting', 'store_away']).filter(
    ({ figures, sinceMs }) => Number(figures['waiting'] ?? 0) >= limit && nowMs - sinceMs >= waitMs,
  )
  if (own.length === 0) return []
  const waiting = own.reduce((sum, { figures }) => sum + Number(figures['waiting'] ?? 0), 0)
  return [
    finding('spool', 'spool', {
      severity: 'critical',
      title: `Spool growing on ${own.length} node${own.length === 1 ? '' : 's'}`,
      lines: [`${countOf(waiting)} usage records wait on disk for PostgreSQL.`],
      subjects: own.map(({ subject }) => subject.id),
      figures: { waiting },
      path: '/settings/nodes',
      lasting: own,
    }),
  ]
}

export function certificates({ condition }: AlertRule, facts: AlertFacts): readonly Finding[] {
  const daysOf = (endsAtMs: number): number => Math.floor((endsAtMs - facts.nowMs) / DAY_MS)
  const own = facts.certificates.filter(({ endsAtMs }) => daysOf(endsAtMs) < valueOf(condition, 'days'))
  if (own.length === 0) return []
  const days = Math.min(...own.map(({ endsAtMs }) => daysOf(endsAtMs)))
  const isOver = days < 0
  return [
    finding('certificate', 'certificate', {
      severity: isOver ? 'critical' : 'warning',
      title: isOver ? 'Certificate expired' : `Certificate expires in ${days} day${days === 1 ? '' : 's'}`,
      lines: [`It is the certificate of ${namesOf(own.map(({ node }) => node))}.`],
      subjects: own.map(({ node }) => node),
      figures: { days },
      path: '/settings/nodes',
    }),
  ]
}

/** The nodes of one machine fail together. */
export function nodesDown({ condition }: AlertRule, { attention, nowMs }: AlertFacts): readonly Finding[] {
  const silent = ofKinds(attention, ['node_silent']).filter(
    ({ sinceMs }) => nowMs - sinceMs >= valueOf(condition, 'minutes') * MINUTE_MS,
  )
  const groups = Map.groupBy(silent, ({ figures, subject }) => String(figures['host'] || subject.id))
  return [...groups].map(([host, own]) => {
    const minutes = Math.floor((nowMs - Math.min(...own.map(({ sinceMs }) => sinceMs))) / MINUTE_MS)
    return finding('node_down', host, {
      severity: 'critical',
      title: `${host} is down`,
      lines: ['It sends no heartbeats.'],
      subjects: own.map(({ subject }) => subject.id),
      figures: { host, minutes },
      path: '/settings/nodes',
      lasting: own,
    })
  })
}

export function stalls({ condition }: AlertRule, { attention }: AlertFacts): readonly Finding[] {
  return ofKinds(attention, ['ledger_stalled'])
    .filter(({ figures }) => Number(figures['hours'] ?? 0) >= valueOf(condition, 'hours'))
    .map(({ figures }) =>
      finding('ledger_stalled', 'ledger', {
        severity: 'critical',
        title: `Ledger not ${figures['step']} for ${figures['hours']} h`,
        lines: [
          Number(figures['earlier_nodes'] ?? 0) > 0
            ? 'Nodes of an earlier version hold it up: stop or end them.'
            : 'Run torana doctor, and look for failing background jobs in the log.',
        ],
        subjects: [],
        figures,
        path: '/settings/nodes',
      }),
    )
}
