/** Conditions, quiet hours, scopes and times of alerts in words. Pure, tested. */
import type { Channel, Incident, Rule } from '../../api/queries/alerts.ts'
import { age, clock, count, day, dayWithYear, duration } from '../../app/format.ts'
import type { Mark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'

export type Quiet = NonNullable<Rule['quiet']>
type Scope = Rule['scope']

/** In the place of a project's name. */
export const EACH_PROJECT = '*'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ALL_DAYS = 7
/** 1 is Monday. */
const WEEKEND = '6,7'
const WEEKDAYS = '1,2,3,4,5'

const MARKS: Record<Incident['severity'], Mark> = { critical: 'bad', drift: 'odd', warning: 'warn' }

export function markOf({ severity, ended_at: ended }: Pick<Incident, 'severity' | 'ended_at'>): Mark {
  return ended === null ? MARKS[severity] : 'good'
}

/** A rule without a name is shown by its kind. */
export function ruleName({ name, kind }: Pick<Rule, 'name' | 'kind'>): string {
  return name === '' ? words.alerts.kinds[kind] : name
}

export function scopeText(scope: Scope): string {
  const say = words.alerts.scopes
  if ('installation' in scope) return say.installation
  return scope.project === EACH_PROJECT ? say.each : say.project(scope.project)
}

export function conditionText({ kind, condition }: Pick<Rule, 'kind' | 'condition'>): string {
  const say = words.alerts.conditions
  const number = (name: string): number => Number(condition[name] ?? 0)
  const list = (name: string): readonly number[] => [condition[name] ?? []].flat()
  switch (kind) {
    case 'budget':
      return joined(list('percent').map((percent) => `${percent}%`))
    case 'ejected':
      return say.ejected(number('minutes'))
    case 'space':
      return say.space
    case 'error_rate':
      return say.error_rate(number('percent'), number('minutes'))
    case 'latency':
      return say.latency(shortDuration(number('p95_ms')), number('minutes'))
    case 'unknowns':
      return say.unknowns(number('hours'))
    case 'spool':
      return say.spool(count(number('entries')), number('minutes'))
    case 'certificate':
      return say.certificate(number('days'))
    case 'node_down':
      return say.node_down(number('minutes'))
    case 'ledger_stalled':
      return say.ledger_stalled(number('hours'))
  }
}

/** `a, b and c`. */
function joined(parts: readonly string[], and = words.alerts.conditions.and): string {
  return [parts.slice(0, -1).join(', '), ...parts.slice(-1)].filter((part) => part !== '').join(and)
}

/** `2 s`, not `2.00 s`. */
export function shortDuration(ms: number): string {
  return ms >= 1000 && ms < 60_000 ? `${Number((ms / 1000).toFixed(2))} s` : duration(ms)
}

/** `12 min`, `2 h 22 min`, `3 d 4 h`. */
export function spanText(ms: number): string {
  const size = Math.max(0, ms)
  const large = size < HOUR_MS ? 0 : size < 2 * DAY_MS ? HOUR_MS : DAY_MS
  if (large === 0) return age(size)
  const rest = size % large
  const small = large === HOUR_MS ? 60_000 : HOUR_MS
  return rest < small ? age(size) : `${age(size - rest)} ${age(rest)}`
}

/** The clock today, `16 Nov 16:20` else. */
export function timeText(time: string, nowMs: number): string {
  return isSameDay(time, nowMs) ? clock(time) : `${day(time)} ${clock(time)}`
}

/** The clock where it is of the same day as `start`. */
export function endText(end: string, start: string, nowMs: number): string {
  return isSameDay(end, Date.parse(start)) ? clock(end) : timeText(end, nowMs)
}

/** The clock today, the day else. */
export function lastText(time: string, nowMs: number): string {
  return isSameDay(time, nowMs) ? clock(time) : day(time)
}

function isSameDay(time: string, otherMs: number): boolean {
  return dayWithYear(time) === dayWithYear(otherMs)
}

function isAllDay({ from, to }: Quiet): boolean {
  return from === to || (from === '00:00' && to === '24:00')
}

export function inOrder(days: readonly number[]): number[] {
  return days.toSorted((one, other) => one - other)
}

function dayNames({ days }: Quiet): readonly string[] {
  return inOrder(days).map((number) => words.alerts.quiet.days[number - 1] ?? '')
}

/** In a table: `22:00–07:00`, `Sat, Sun`. */
export function quietText(quiet: Quiet): string {
  const days = quiet.days.length === ALL_DAYS ? [] : dayNames(quiet)
  const hours = `${quiet.from}–${quiet.to}`
  if (isAllDay(quiet)) return days.length === 0 ? words.alerts.quiet.everyDay : days.join(', ')
  return days.length === 0 ? hours : `${days.join(', ')} ${hours}`
}

/** In a list: `Every day`, `22:00–07:00, Europe/Berlin`. */
export function quietFact(quiet: Quiet): readonly [name: string, value: string] {
  const say = words.alerts.quiet
  const key = inOrder(quiet.days).join(',')
  const days = joined(dayNames(quiet), say.and)
  const name =
    quiet.days.length === ALL_DAYS
      ? say.everyDay
      : key === WEEKEND
        ? say.weekends
        : key === WEEKDAYS
          ? say.weekdays
          : dayNames(quiet).join(', ')
  if (isAllDay(quiet)) return [name, `${say.wholeDays(days)}, ${quiet.zone}`]
  return [name, `${quiet.from}–${quiet.to}, ${quiet.zone}`]
}

/** Quiet hours of all rules, each once. */
export function quietOf(rules: readonly Rule[]): readonly Quiet[] {
  const found = new Map<string, Quiet>()
  for (const { quiet } of rules)
    if (quiet !== null)
      found.set(JSON.stringify([inOrder(quiet.days), quiet.from, quiet.to, quiet.zone]), quiet)
  return [...found.values()]
}

/** The kinds of which no channel is held, or the names of channels where only some of a kind are. */
export function neverHeld(channels: readonly Channel[]): readonly string[] {
  const free = channels.filter((one) => !one.quiet_hours)
  const wholeKinds = [...new Set(free.map(({ kind }) => kind))].filter((kind) =>
    channels.every((one) => one.kind !== kind || !one.quiet_hours),
  )
  return [
    ...wholeKinds.map((kind) => words.alerts.channelKinds[kind]),
    ...free.filter(({ kind }) => !wholeKinds.includes(kind)).map(({ name }) => name),
  ]
}

/** Whole numbers of a list that was typed; undefined where one is none. */
export function numbersOf(text: string): readonly number[] | undefined {
  const parts = text.split(/[,\s]+/).filter((part) => part !== '')
  return parts.length > 0 && parts.every((part) => /^\d{1,4}$/.test(part)) ? parts.map(Number) : undefined
}

/** What was wrong with a delivery. */
export function problemText({
  problem,
  status,
}: {
  readonly problem: string | null
  readonly status: number | null
}): string {
  return problem ?? (status === null ? words.alerts.channels.noAnswer : `HTTP ${status}`)
}
