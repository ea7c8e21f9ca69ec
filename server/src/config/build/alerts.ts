/** Alert rules and channels of torana.yaml. */
import { fieldOfFile, readCondition, scopeProblem, type AlertScope } from '#core/alerts/kind.ts'
import { WEEKDAYS, zoneProblem, type QuietHours } from '#core/alerts/quiet-hours.ts'
import {
  declaredId,
  keepsQuietByDefault,
  maskedTarget,
  PAGERDUTY_URL,
  type ChannelTarget,
  type DeclaredAlerts,
} from '#core/alerts/rule.ts'
import { didYouMean, type Path, type Report } from '../file/problem.ts'
import type { AlertsEntry, ChannelEntry, RuleEntry } from '../schema/alerts.ts'

export function buildAlerts(
  entry: AlertsEntry | null | undefined,
  report: Report,
): DeclaredAlerts | undefined {
  if (!entry) return undefined
  const channels = Object.entries(entry.channels).flatMap(([name, channel]) => {
    const path = ['alerts', 'channels', name]
    const target = targetOf(channel, path, report)
    if (target === undefined) return []
    const keepsQuiet = channel.quietHours ?? keepsQuietByDefault(channel.kind)
    const shown = { name, kind: channel.kind, masked: maskedTarget(target), keepsQuiet }
    return [{ id: declaredId(name), ...shown, target, managedBy: report.place(path) }]
  })
  const names = new Set(Object.keys(entry.channels))
  const rules = Object.entries(entry.rules).map(([name, rule]) => {
    const path = ['alerts', 'rules', name]
    return {
      ...ruleOf(rule, names, path, report),
      id: declaredId(name),
      name,
      managedBy: report.place(path),
    }
  })
  return { channels, rules }
}

/** Fields that each kind of channel needs, and those that it may have. */
const FIELDS = {
  slack: { needs: ['url'], may: [] },
  teams: { needs: ['url'], may: [] },
  webhook: { needs: ['url', 'secret'], may: [] },
  pagerduty: { needs: ['routingKey'], may: ['url'] },
  email: { needs: ['to'], may: [] },
} as const

function targetOf(channel: ChannelEntry, path: Path, report: Report): ChannelTarget | undefined {
  const { kind, url, secret = '', routingKey = '', to = [], private: isPrivate } = channel
  const { needs, may } = FIELDS[kind]
  const known = new Set<string>([...needs, ...may])
  let isWhole = true
  for (const field of ['url', 'secret', 'routingKey', 'to'] as const) {
    const isGiven = channel[field] !== undefined
    if (isGiven && !known.has(field)) report.problem([...path, field], `a channel of ${kind} has none`)
    const isNeeded = (needs as readonly string[]).includes(field)
    if (!isGiven && isNeeded && !report.isBroken([...path, field]))
      report.problem(path, `${field} is missing: a channel of ${kind} needs it`)
    isWhole &&= isGiven || !isNeeded
  }
  if (url !== undefined && !isPrivate && !url.startsWith('https:'))
    report.problem([...path, 'url'], 'must begin with https: (or write private: true)')
  if (!isWhole) return undefined
  if (kind === 'email') return { kind, to }
  const common = { url: url ?? PAGERDUTY_URL, isPrivate }
  if (kind === 'pagerduty') return { kind, ...common, routingKey }
  return kind === 'webhook' ? { kind, ...common, secret } : { kind, ...common }
}

function ruleOf(rule: RuleEntry, channels: ReadonlySet<string>, path: Path, report: Report) {
  const { kind, project, enabled } = rule
  const fields = Object.entries(rule.condition).map(([field, value]) => [fieldOfFile(field), value])
  const read = readCondition(kind, Object.fromEntries(fields))
  if ('problem' in read) report.problem([...path, 'condition'], `${read.field}: ${read.problem}`)
  const scope: AlertScope = project === undefined ? { installation: true } : { project }
  if (scopeProblem(kind, scope) !== undefined)
    report.problem([...path, 'project'], `${kind} concerns the whole installation: leave project out`)
  rule.channels.forEach((name, index) => {
    if (!channels.has(name))
      report.problem(
        [...path, 'channels', index],
        `there is no channel ${name} in this file.${didYouMean(name, channels)}`,
      )
  })
  return {
    isOn: enabled,
    kind,
    condition: 'condition' in read ? read.condition : {},
    scope,
    channels: [...new Set(rule.channels)].map(declaredId),
    quiet: quietOf(rule.quietHours, [...path, 'quietHours'], report),
  }
}

function quietOf(entry: RuleEntry['quietHours'], path: Path, report: Report): QuietHours | undefined {
  if (entry === undefined) return undefined
  const problem = zoneProblem(entry.zone)
  if (problem !== undefined) report.problem([...path, 'zone'], problem)
  if (entry.from === entry.to) report.problem([...path, 'to'], 'for a whole day, write "00:00" to "24:00"')
  return { ...entry, days: entry.days.map((day) => WEEKDAYS.indexOf(day) + 1) }
}
