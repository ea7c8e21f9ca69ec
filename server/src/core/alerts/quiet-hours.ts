/** Quiet hours: times of the week, in a time zone, at which notices wait. */

export interface QuietHours {
  /** 1 is Monday, 7 is Sunday: the days on which the quiet begins. */
  readonly days: readonly number[]
  /** `22:00`. */
  readonly from: string
  /** `07:00` of the next day if it is not after `from`; `24:00` is the end of the day. */
  readonly to: string
  /** `Europe/Berlin`. */
  readonly zone: string
}

const MINUTE_MS = 60_000
const DAY_MINUTES = 1440
const WEEK_DAYS = 7
/** Spans that follow one another without a gap: a week that is quiet on all days and nights has no end. */
const MAX_SPANS = 15

/** Undefined: the zone is known. */
export function zoneProblem(zone: string): string | undefined {
  try {
    localOf(0, zone)
    return undefined
  } catch {
    return `there is no time zone ${zone}: expected a name such as Europe/Berlin`
  }
}

/** When the quiet of a moment ends. Undefined: it is not quiet. */
export function quietUntilMs(quiet: QuietHours, atMs: number): number | undefined {
  let untilMs: number | undefined
  // Where one quiet span ends, the next may begin: Friday night, Saturday, Sunday.
  for (let spans = 0; spans < MAX_SPANS; spans += 1) {
    const endMs = spanEndMs(quiet, untilMs ?? atMs)
    if (endMs === undefined) break
    untilMs = endMs
  }
  return untilMs
}

function spanEndMs(quiet: QuietHours, atMs: number): number | undefined {
  const { day, minute } = localOf(atMs, quiet.zone)
  const [from, to] = [minuteOf(quiet.from), minuteOf(quiet.to)]
  const isOvernight = to <= from
  const before = ((day + WEEK_DAYS - 2) % WEEK_DAYS) + 1
  if (isOvernight && quiet.days.includes(before) && minute < to) return endMs(atMs, minute, to, quiet.zone)
  if (!quiet.days.includes(day) || minute < from) return undefined
  if (isOvernight) return endMs(atMs, minute, to + DAY_MINUTES, quiet.zone)
  return minute < to ? endMs(atMs, minute, to, quiet.zone) : undefined
}

/** The moment at which the clock on the wall shows `to`, also when the clocks change in between. */
function endMs(atMs: number, minute: number, to: number, zone: string): number {
  const startMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS
  const guessMs = startMs + (to - minute) * MINUTE_MS
  const seen = localOf(guessMs, zone).minute
  const wanted = to % DAY_MINUTES
  // By how much the guess is late or early: an hour at most, across midnight too.
  const off = ((seen - wanted + DAY_MINUTES * 1.5) % DAY_MINUTES) - DAY_MINUTES / 2
  return Math.max(guessMs - off * MINUTE_MS, startMs + MINUTE_MS)
}

function minuteOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}

/** From Monday on, as `Intl` writes them in English, in lower case. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
const formats = new Map<string, Intl.DateTimeFormat>()

function localOf(atMs: number, zone: string): { readonly day: number; readonly minute: number } {
  let format = formats.get(zone)
  if (format === undefined) {
    const options = { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
    format = new Intl.DateTimeFormat('en-US', { ...options, timeZone: zone })
    formats.set(zone, format)
  }
  const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, value]))
  const minute = Number(parts.get('hour')) * 60 + Number(parts.get('minute'))
  const weekday = parts.get('weekday')?.toLowerCase()
  return { day: WEEKDAYS.findIndex((day) => day === weekday) + 1, minute }
}
