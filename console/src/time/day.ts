/**
 * Days of the calendar in a time zone, daylight saving included. Pure. A day is written `2026-11-15`; moments are Unix
 * milliseconds.
 */

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
/** A day of 24 hours. Where the clock changes, a day of the calendar is longer or shorter. */
export const DAY_MS = 24 * HOUR_MS

const formats = new Map<string, Intl.DateTimeFormat>()

/** How far the clock of a zone is ahead of UTC at a moment. Undefined: the browser's own zone. */
function aheadMs(ms: number, zone: string | undefined): number {
  if (zone === 'UTC') return 0
  let format = formats.get(`${zone}`)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(`${zone}`, format)
  }
  const of = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = of
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000
}

/** The moment at which the clocks of a zone show this time. A time that they skip is as much later; of two, it is the first. */
function momentOf(wallMs: number, zone: string | undefined): number {
  const [before, after] = [aheadMs(wallMs - DAY_MS, zone), aheadMs(wallMs + DAY_MS, zone)]
  if (aheadMs(wallMs - before, zone) === before) return wallMs - before
  return aheadMs(wallMs - after, zone) === after ? wallMs - after : wallMs - before
}

/** `2026-11-15`. */
export function dayOf(ms: number, zone: string | undefined): string {
  return new Date(ms + aheadMs(ms, zone)).toISOString().slice(0, 10)
}

/** The first moment of a day. */
export function startOf(day: string, zone: string | undefined): number {
  return momentOf(Date.parse(day), zone)
}

/** The day so many days later. */
export function daysAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)
}

export function isStartOfDay(ms: number, zone: string | undefined): boolean {
  return startOf(dayOf(ms, zone), zone) === ms
}

/** Moments at which the clocks of a zone show a multiple of a step, or, by days, the beginning of one. Weeks begin on Monday. */
export function roundMoments(
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  stepMs: number,
  zone: string | undefined,
): readonly number[] {
  const startMs = aheadMs(fromMs, zone)
  const originMs = originOf(fromMs + startMs, stepMs)
  const firstMs = originMs + Math.floor((fromMs + startMs - originMs) / stepMs) * stepMs
  const lastMs = toMs + aheadMs(toMs, zone)
  const moments: number[] = []
  for (let wallMs = firstMs; wallMs <= lastMs + HOUR_MS; wallMs += stepMs) {
    // Minutes go on evenly while the clocks are changed; hours and days are those of the clock.
    const ms = stepMs < HOUR_MS ? wallMs - startMs : momentOf(wallMs, zone)
    // A time that the clocks skip is none, unless the day begins with it.
    const isShown = stepMs < HOUR_MS || wallMs % DAY_MS === 0 || ms + aheadMs(ms, zone) === wallMs
    if (isShown && ms >= fromMs && ms <= toMs && ms !== moments.at(-1)) moments.push(ms)
  }
  return moments
}

/** The first Monday of Unix time. */
const FIRST_MONDAY_MS = 4 * DAY_MS

/** What steps are counted from: midnight, Monday, or, in steps of some days, the first whole day. */
function originOf(wallMs: number, stepMs: number): number {
  if (stepMs <= DAY_MS) return 0
  return stepMs % (7 * DAY_MS) === 0 ? FIRST_MONDAY_MS : Math.ceil(wallMs / DAY_MS) * DAY_MS
}
