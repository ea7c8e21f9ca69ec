/** The life of an incident: it starts once, may get worse, and ends once, each with its notices. */
import type { AlertKind, AlertSeverity } from './kind.ts'
import type { Notice, NoticePhase } from './notice.ts'
import { quietUntilMs } from './quiet-hours.ts'
import type { AlertChannel, AlertRule } from './rule.ts'

interface IncidentDetail {
  readonly lines: readonly string[]
  /** What it consists of, such as ids of deployments; the first `MAX_SUBJECTS`. */
  readonly subjects: readonly string[]
  readonly figures: Readonly<Record<string, string | number>>
  /** The path of the console's page. */
  readonly path: string
}

/** What a rule found. Everything with the same kind, cause and project is one incident. */
export interface Finding {
  readonly kind: AlertKind
  readonly cause: string
  /** Empty: the installation. */
  readonly project: string
  readonly severity: AlertSeverity
  readonly title: string
  readonly detail: IncidentDetail
  /** The mark that was reached. It grows as things get worse; 0 where there are no marks. */
  readonly level: number
  readonly grouped: number
  /** Undefined: since a moment of the time that the rule looks at. */
  readonly sinceMs?: number | undefined
}

/** An incident that has not ended. */
export interface OpenIncident extends Finding {
  readonly id: string
  readonly rules: readonly string[]
  readonly startedAtMs: number
}

/** A notice for one channel. */
export interface NewNotice {
  readonly channel: string
  readonly phase: NoticePhase
  /** Its place among the notices of the incident for this channel. */
  readonly sequence: number
  readonly notice: Notice
  /** The end of the quiet hours that hold it. */
  readonly heldUntilMs: number | undefined
}

/** One step in the life of an incident, with its notices. */
export interface IncidentStep {
  readonly step: 'start' | 'change' | 'worse' | 'end'
  readonly incident: OpenIncident
  /** Of the step `end`. */
  readonly endedAtMs?: number | undefined
  /** Those of an end are for the channels that heard of the incident, whichever they are. */
  readonly notices: readonly NewNotice[]
}

interface FoundByRule {
  readonly rule: AlertRule
  readonly finding: Finding
}

export interface StepParts {
  readonly open: readonly OpenIncident[]
  readonly found: readonly FoundByRule[]
  readonly rules: readonly AlertRule[]
  readonly channels: readonly AlertChannel[]
  /** Since when an open incident has not been found, by key. */
  readonly goneSinceMs: ReadonlyMap<string, number>
  /** Time for which an incident must not be found before it ends, so that a flapping deployment is one incident. */
  readonly clearMs: number
  readonly nowMs: number
  readonly newId: () => string
  readonly installation: string
  /** Undefined: no address of the console is known. */
  readonly consoleUrl: string | undefined
  /** Unix milliseconds as ISO 8601. */
  readonly isoOf: (unixMs: number) => string
}

export interface Steps {
  readonly steps: readonly IncidentStep[]
  readonly goneSinceMs: ReadonlyMap<string, number>
  /** Findings beyond `MAX_OPEN_INCIDENTS`, which start nothing. */
  readonly leftOut: number
}

/** Bound of open incidents: far more than people can act on, and a table that the leader reads every few seconds. */
const MAX_OPEN_INCIDENTS = 1000
/** Bound of what an incident names; it counts all. */
export const MAX_SUBJECTS = 50
/** After every mark: marks are at most 1000. */
const LAST_SEQUENCE = 2000

export function keyOf({ kind, cause, project }: Pick<Finding, 'kind' | 'cause' | 'project'>): string {
  return JSON.stringify([kind, cause, project])
}

export function stepsOf(parts: StepParts): Steps {
  const { open, nowMs, clearMs } = parts
  const found = Map.groupBy(parts.found, ({ finding }) => keyOf(finding))
  const known = new Map(open.map((incident) => [keyOf(incident), incident]))
  const steps: IncidentStep[] = []
  let room = MAX_OPEN_INCIDENTS - open.length
  let leftOut = 0
  for (const [key, all] of found) {
    const incident = known.get(key)
    if (incident !== undefined) steps.push(...changeOf(incident, all, parts))
    else if (room > 0) {
      steps.push(startOf(all, parts))
      room -= 1
    } else leftOut += 1
  }
  const goneSinceMs = new Map<string, number>()
  for (const [key, incident] of known) {
    if (found.has(key)) continue
    const sinceMs = parts.goneSinceMs.get(key) ?? nowMs
    if (nowMs - sinceMs >= clearMs) steps.push(endOf(incident, parts))
    else goneSinceMs.set(key, sinceMs)
  }
  return { steps, goneSinceMs, leftOut }
}

/** Rules may find the same with other words: the one with the highest mark says how bad it is. */
function worstOf(all: readonly FoundByRule[]): Finding {
  return all.map(({ finding }) => finding).reduce((a, b) => (b.level > a.level ? b : a))
}

function startOf(all: readonly FoundByRule[], parts: StepParts): IncidentStep {
  const rules = all.map(({ rule }) => rule)
  const worst = worstOf(all)
  const incident: OpenIncident = {
    ...worst,
    id: parts.newId(),
    rules: rules.map(({ id }) => id),
    startedAtMs: worst.sinceMs ?? parts.nowMs,
  }
  return { step: 'start', incident, notices: noticesOf(incident, rules, 'start', parts) }
}

function changeOf(
  before: OpenIncident,
  all: readonly FoundByRule[],
  parts: StepParts,
): readonly IncidentStep[] {
  const worst = worstOf(all)
  const joined = all.map(({ rule }) => rule).filter(({ id }) => !before.rules.includes(id))
  const incident: OpenIncident = {
    ...before,
    ...worst,
    level: Math.max(before.level, worst.level),
    rules: [...before.rules, ...joined.map(({ id }) => id)],
  }
  const isWorse = worst.level > before.level
  const isChanged =
    joined.length > 0 ||
    worst.grouped !== before.grouped ||
    worst.title !== before.title ||
    worst.severity !== before.severity
  if (!isWorse && !isChanged) return []
  const worsened = all.filter(({ rule, finding }) => finding.level > before.level && !joined.includes(rule))
  const notices = [
    ...noticesOf(incident, joined, 'start', parts),
    ...noticesOf(
      incident,
      worsened.map(({ rule }) => rule),
      'worse',
      parts,
    ),
  ]
  return [{ step: isWorse ? 'worse' : 'change', incident, notices }]
}

function endOf(incident: OpenIncident, parts: StepParts): IncidentStep {
  const { rules, channels, nowMs } = parts
  const own = rules.filter(({ id }) => incident.rules.includes(id))
  const named = new Map(noticesOf(incident, own, 'end', parts).map((notice) => [notice.channel, notice]))
  const notices = channels.map(({ id }) => named.get(id) ?? noticeFor(incident, id, 'end', undefined, parts))
  return { step: 'end', incident, endedAtMs: nowMs, notices }
}

function noticesOf(
  incident: OpenIncident,
  rules: readonly AlertRule[],
  phase: NoticePhase,
  parts: StepParts,
): readonly NewNotice[] {
  return parts.channels.flatMap(({ id, keepsQuiet }) => {
    const own = rules.filter(({ channels }) => channels.includes(id))
    if (own.length === 0) return []
    const untilMs = keepsQuiet ? heldUntilMs(own, parts.nowMs) : undefined
    return [noticeFor(incident, id, phase, untilMs, parts)]
  })
}

/** A rule without quiet hours lets its notice through, and the first that ends releases it. */
function heldUntilMs(rules: readonly AlertRule[], nowMs: number): number | undefined {
  const ends = rules.map(({ quiet }) => (quiet === undefined ? undefined : quietUntilMs(quiet, nowMs)))
  let first: number | undefined
  for (const endMs of ends) {
    if (endMs === undefined) return undefined
    if (first === undefined || endMs < first) first = endMs
  }
  return first
}

function noticeFor(
  incident: OpenIncident,
  channel: string,
  phase: NoticePhase,
  untilMs: number | undefined,
  { nowMs, installation, consoleUrl, isoOf }: StepParts,
): NewNotice {
  const { id, kind, severity, title, detail, project, grouped, startedAtMs, level } = incident
  const sequence = phase === 'start' ? 0 : phase === 'worse' ? level : LAST_SEQUENCE
  const notice: Notice = {
    id: `${id}.${sequence}`,
    incident: id,
    phase,
    kind,
    severity,
    title,
    lines: detail.lines,
    project: project === '' ? undefined : project,
    grouped,
    startedAt: isoOf(startedAtMs),
    endedAt: phase === 'end' ? isoOf(nowMs) : undefined,
    installation,
    link: consoleUrl === undefined ? undefined : `${consoleUrl}${detail.path}`,
    isTest: false,
  }
  return { channel, phase, sequence, notice, heldUntilMs: untilMs }
}
