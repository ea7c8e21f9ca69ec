/** Numbers, money and times for people. Pure but for the language and the zone; the table of rules is in docs/console.md. */
import { language, locale } from './language.ts'
import { nanoOf } from './money.ts'
import { timeZone } from '../time/zone.ts'

/** What is missing. */
export const NONE = '–'
const MINUS = '−'
const MS = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

const numbers = new Map<string, Intl.NumberFormat>()

function number(value: number, options: Intl.NumberFormatOptions): string {
  const key = JSON.stringify(options)
  let format = numbers.get(key)
  if (!format) numbers.set(key, (format = new Intl.NumberFormat(locale, options)))
  return format.format(value).replace('-', MINUS)
}

function fixed(value: number, digits: number): string {
  return number(value, { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** Of a decimal string, cut to so many decimals by rounding half up. The digits never pass through a double. */
function dollars(usd: string, decimals: number): string {
  const nano = nanoOf(usd)
  const step = 10n ** BigInt(9 - decimals)
  const size = nano < 0n ? -nano : nano
  const rounded = (size + step / 2n) / step
  const base = 10n ** BigInt(decimals)
  const whole = new Intl.NumberFormat(locale).format(rounded / base)
  const fraction = decimals === 0 ? '' : `.${String(rounded % base).padStart(decimals, '0')}`
  return `${nano < 0n ? MINUS : ''}$${whole}${fraction}`
}

const CENT = 10_000_000n
const TEN_CENTS = 100_000_000n
const DOLLAR = 1_000_000_000n

/** One request or call in detail: nine decimals, always. */
export function moneyExact(usd: string | null | undefined): string {
  return usd === null || usd === undefined ? NONE : dollars(usd, 9)
}

/** The least amount that six decimals can show, in nano-dollars. */
const MICRO = 1_000n

/** In lists: six decimals below one cent, four below a dollar, two above; `$0` is nothing, and what is less than a step says so. */
export function moneyInList(usd: string | null | undefined): string {
  if (usd === null || usd === undefined) return NONE
  const nano = nanoOf(usd)
  const size = nano < 0n ? -nano : nano
  if (size === 0n) return '$0'
  if (size < MICRO) return nano < 0n ? moneyExact(usd) : '<$0.000001'
  return dollars(usd, size < CENT ? 6 : size < DOLLAR ? 4 : 2)
}

/** As many decimals as asked for. Below ten cents three digits that count, without zeros at the end. */
function atLeast(usd: string, decimals: number): string {
  const nano = nanoOf(usd)
  const size = nano < 0n ? -nano : nano
  if (size === 0n || size >= TEN_CENTS) return dollars(usd, decimals)
  const enough = Math.min(9, Math.max(decimals, 12 - String(size).length))
  const text = dollars(usd, enough)
  const least = text.length - (enough - decimals)
  return text.slice(0, least) + text.slice(least).replace(/0+$/, '')
}

/** In reports: two decimals, more below ten cents. What is not nothing never reads `$0.00`. */
export function money(usd: string | null | undefined): string {
  return usd === null || usd === undefined ? NONE : atLeast(usd, 2)
}

/** Beside a limit: four decimals, so that small change still shows. */
export function moneyOfBudget(usd: string | null | undefined): string {
  return usd === null || usd === undefined ? NONE : atLeast(usd, 4)
}

/** Without decimals from $1,000 up, and none for whole dollars: for axes and short sentences. */
export function moneyShort(usd: string | null | undefined): string {
  if (usd === null || usd === undefined) return NONE
  const nano = nanoOf(usd)
  const isWhole = nano % DOLLAR === 0n
  return isWhole || nano >= 1000n * DOLLAR ? dollars(usd, 0) : atLeast(usd, 2)
}

/** For ticks of an axis, where the precision of a double is enough. `least`: the decimals that tell two neighbours apart. */
export function moneyTick(value: number, least = 0): string {
  const isEnough = (decimals: number): boolean =>
    decimals >= least && Math.abs(Number(value.toFixed(decimals)) / value - 1) < 0.001
  const digits = Number.isInteger(value) ? 0 : ([2, 3, 4, 5, 6, 7, 8].find(isEnough) ?? 9)
  return `$${value >= 10_000 ? count(value) : fixed(value, digits)}`
}

/** `0.6 ms` · `212 ms` · `9.12 s` · `60.2 s` · `1 min 32 s`. */
export function duration(ms: number | null | undefined): string {
  const [value, unit] = durationParts(ms)
  return unit === '' ? value : `${value} ${unit}`
}

/** Value and unit apart, for figures in which the unit is smaller. */
export function durationParts(ms: number | null | undefined): readonly [value: string, unit: string] {
  if (ms === null || ms === undefined) return [NONE, '']
  if (ms < 9.95) return [fixed(ms, 1), 'ms']
  if (ms < 999.5) return [fixed(ms, 0), 'ms']
  if (ms < 9995) return [fixed(ms / 1000, 2), 's']
  if (ms <= 90_000) return [fixed(ms / 1000, 1), 's']
  if (ms < MS.hour) {
    const seconds = Math.round(ms / 1000)
    return [`${Math.floor(seconds / 60)} min ${seconds % 60}`, 's']
  }
  const minutes = Math.round(ms / MS.minute)
  return [`${Math.floor(minutes / 60)} h ${minutes % 60}`, 'min']
}

const AGE_UNITS =
  language === 'zh'
    ? { second: '秒', minute: '分钟', hour: '小时', day: '天' }
    : { second: 's', minute: 'min', hour: 'h', day: 'd' }

/** The largest unit alone: `4 min`, `94 d`. */
export function age(ms: number): string {
  const size = Math.max(0, ms)
  const unit = size < MS.minute ? 'second' : size < MS.hour ? 'minute' : size < 2 * MS.day ? 'hour' : 'day'
  return `${Math.floor(size / MS[unit])} ${AGE_UNITS[unit]}`
}

/** How long ago a moment was, in the largest unit. */
export function ageOf(time: string | null | undefined, nowMs: number): string {
  return time === null || time === undefined ? NONE : age(nowMs - Date.parse(time))
}

/** One decimal, for what happens a second. */
export function rate(perSecond: number): string {
  return perSecond === 0 ? '0' : fixed(perSecond, 1)
}

const SCALES = [
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const

/** Whole to 9,999; then three digits with `k M B`, in Chinese with `万 亿`. */
export function count(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE
  if (Math.abs(value) < 10_000) return number(value, { maximumFractionDigits: 0 })
  if (language === 'zh') return number(value, { notation: 'compact', maximumSignificantDigits: 3 })
  for (const [scale, unit] of SCALES) {
    // 999,950 would read "1,000 k".
    if (Math.abs(value) < scale * 0.9995) continue
    return `${threeDigits(value / scale)} ${unit}`
  }
  return number(value, { maximumFractionDigits: 0 })
}

/** Never shortened. */
export function whole(value: number): string {
  return number(value, { maximumFractionDigits: 0 })
}

function threeDigits(value: number): string {
  const size = Math.abs(value)
  return fixed(value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0)
}

const BYTE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** Binary, at most three digits: `281 KB`, `3.9 MB`. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE
  let size = value
  let unit = 0
  while (size >= 999.5 && unit < BYTE_UNITS.length - 1) {
    size /= 1024
    unit += 1
  }
  return `${fixed(size, unit === 0 || size >= 99.95 ? 0 : 1)} ${BYTE_UNITS[unit]}`
}

/** One decimal; something is never `0.0%`. */
export function share(part: number | null | undefined, digits = 1): string {
  if (part === null || part === undefined || Number.isNaN(part)) return NONE
  const percent = part * 100
  const least = 10 ** -digits
  if (percent > 0 && percent < least / 2) return `<${fixed(least, digits)}%`
  return `${fixed(percent, digits)}%`
}

/** `+12%`, `−9%`, `0%`. */
export function change(ratio: number | null | undefined): string {
  if (ratio === null || ratio === undefined || !Number.isFinite(ratio)) return NONE
  // A change of less than half a per cent is none, and has no sign.
  const percent = Math.round(ratio * 100) || 0
  return `${percent > 0 ? '+' : ''}${number(percent, { maximumFractionDigits: 0 })}%`
}

/** Seven digits in lists, three in the playground, nine on hover. Cut, not rounded: 0.99999999 is not 1. */
export function cosine(value: number | null | undefined, digits = 7): string {
  if (value === null || value === undefined) return NONE
  const scale = 10 ** digits
  const cut = Math.trunc(value * scale) / scale
  // Far from one nobody wants seven digits.
  return fixed(cut, cut < 0.99 ? Math.min(digits, 4) : digits)
}

const times = new Map<string, Intl.DateTimeFormat>()

function timeParts(ms: number, zone: string | undefined): Record<string, string> {
  const key = `${zone}`
  let format = times.get(key)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      year: 'numeric',
      month: language === 'zh' ? 'numeric' : 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      fractionalSecondDigits: 3,
      hourCycle: 'h23',
    })
    times.set(key, format)
  }
  return Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]))
}

function msOf(time: string | number): number {
  return typeof time === 'number' ? time : Date.parse(time)
}

/** `16:31`. */
export function clock(time: string | number, zone = timeZone()): string {
  const { hour, minute } = timeParts(msOf(time), zone)
  return `${hour}:${minute}`
}

/** `16:31:07`. */
export function clockSeconds(time: string | number, zone = timeZone()): string {
  const { hour, minute, second } = timeParts(msOf(time), zone)
  return `${hour}:${minute}:${second}`
}

/** `16:31:07.359`. */
export function clockExact(time: string | number, zone = timeZone()): string {
  const { hour, minute, second, fractionalSecond } = timeParts(msOf(time), zone)
  return `${hour}:${minute}:${second}.${fractionalSecond}`
}

/** `15 Nov`; in Chinese `11月15日`. */
export function day(time: string | number, zone = timeZone()): string {
  const { month, day: date } = timeParts(msOf(time), zone)
  return language === 'zh' ? `${Number(month)}月${Number(date)}日` : `${date} ${short(month)}`
}

/** `15 Nov 2026`. */
export function dayWithYear(time: string | number, zone = timeZone()): string {
  const { year } = timeParts(msOf(time), zone)
  return language === 'zh' ? `${year}年${day(time, zone)}` : `${day(time, zone)} ${year}`
}

/** The clock today, `15 Nov 11:28` else. */
export function moment(time: string | number, nowMs: number, zone = timeZone()): string {
  const isToday = dayWithYear(time, zone) === dayWithYear(nowMs, zone)
  return isToday ? clockSeconds(time, zone) : `${day(time, zone)} ${clock(time, zone)}`
}

/** British English writes `Sept`. */
function short(month: string | undefined): string {
  return (month ?? '').slice(0, 3)
}

/** First eight and last four of an id in running text. It is always copied whole. */
export function shortId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`
}

/** Two letters of a name, for a square without a trade mark. */
export function initials(name: string): string {
  const words = name.split(/[\s._@-]+/).filter((word) => word !== '')
  const letters = words.length > 1 ? `${words[0]?.[0]}${words[1]?.[0]}` : (words[0] ?? '').slice(0, 2)
  return letters.toUpperCase()
}
