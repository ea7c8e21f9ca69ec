/** Where the lines of a burn-up go. Pure, tested. */

interface BurnPoint {
  readonly atMs: number
  readonly value: number
}

export interface BurnUpData {
  readonly fromMs: number
  /** Where the axis ends. */
  readonly toMs: number
  readonly nowMs: number
  /** What was spent until each moment, the oldest first. */
  readonly points: readonly BurnPoint[]
  readonly limit: number
  readonly forecast:
    | {
        /** Undefined: not before the end. */
        readonly usedUpMs: number | undefined
        readonly earliestMs: number | undefined
        readonly latestMs: number | undefined
        readonly atEnd: number | undefined
      }
    | undefined
}

export interface BurnUpBox {
  readonly width: number
  readonly height: number
  readonly top: number
}

export interface BurnUpLayout {
  readonly x: (atMs: number) => number
  readonly y: (value: number) => number
  readonly line: string
  readonly area: string
  /** From the start to the end of the window and of the budget. */
  readonly pace: string
  readonly forecast: string | undefined
  readonly band: string | undefined
  readonly now: { readonly x: number; readonly y: number }
  readonly most: number
}

/** The highest value of the chart. */
export function mostOf({ limit, points, forecast }: BurnUpData): number {
  const atEnd = forecast?.usedUpMs === undefined ? (forecast?.atEnd ?? 0) : 0
  return Math.max(limit, points.at(-1)?.value ?? 0, atEnd)
}

export function burnUpLayout(data: BurnUpData, { width, height, top }: BurnUpBox): BurnUpLayout {
  const { fromMs, toMs, nowMs, points, limit } = data
  const last = points.at(-1) ?? { atMs: nowMs, value: 0 }
  const most = mostOf(data)
  const lengthMs = Math.max(1, toMs - fromMs)
  const x = (atMs: number): number => clamped((atMs - fromMs) / lengthMs) * width
  const y = (value: number): number => height - (most <= 0 ? 0 : value / most) * (height - top)
  const path = points.map(
    ({ atMs, value }, index) => `${index === 0 ? 'M' : 'L'}${at(x(atMs))} ${at(y(value))}`,
  )
  const now = { x: x(last.atMs), y: y(last.value) }
  const line = path.join('')
  return {
    x,
    y,
    line,
    area:
      line === ''
        ? ''
        : `${line}L${at(now.x)} ${at(height)}L${at(x(points[0]?.atMs ?? fromMs))} ${at(height)}Z`,
    pace: `M0 ${at(height)}L${at(width)} ${at(y(limit))}`,
    now,
    most,
    ...forecastPaths(data, { x, y, now, limit }),
  }
}

function forecastPaths(
  { forecast, toMs, limit }: BurnUpData,
  { x, y, now }: Pick<BurnUpLayout, 'x' | 'y' | 'now'> & { readonly limit: number },
): Pick<BurnUpLayout, 'forecast' | 'band'> {
  if (forecast === undefined) return { forecast: undefined, band: undefined }
  const { usedUpMs, earliestMs, latestMs, atEnd } = forecast
  const start = `M${at(now.x)} ${at(now.y)}`
  const band =
    earliestMs === undefined
      ? undefined
      : `${start}L${at(x(earliestMs))} ${at(y(limit))}L${at(x(latestMs ?? toMs))} ${at(y(limit))}Z`
  if (usedUpMs !== undefined) return { forecast: `${start}L${at(x(usedUpMs))} ${at(y(limit))}`, band }
  return { forecast: atEnd === undefined ? undefined : `${start}L${at(x(toMs))} ${at(y(atEnd))}`, band }
}

function clamped(share: number): number {
  return Math.min(1, Math.max(0, share))
}

function at(value: number): number {
  return Math.round(value * 10) / 10
}
