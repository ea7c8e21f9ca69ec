/**
 * When providers shut models down. A date belongs to one model of one provider, so it belongs to a deployment. Dates are
 * announcements and may move: Torana warns about them, and never stops calling an upstream because of them.
 */

/** A shutdown that a provider announced for one of its models, or an operator set for a deployment. */
export interface ModelEnd {
  /** The day, such as 2026-12-01. The model ends at its beginning, in UTC. */
  readonly on: string
  /** The same as Unix milliseconds. */
  readonly atMs: number
  /** The provider's name for the model to use instead. Undefined: it names none. */
  readonly successor?: string | undefined
  readonly from: EndOrigin
  /** Where the date was read: an address, or the line of torana.yaml. Undefined: no source was given. */
  readonly source?: string | undefined
  /** The day on which it was read there. */
  readonly asOf?: string | undefined
  /** What happens on that day instead of a shutdown, or what is doubtful about the date. */
  readonly note?: string | undefined
}

/** Who says it: torana.yaml, or the facts that come with Torana. */
export type EndOrigin = 'configuration' | 'catalog'

/** A model that is no longer served, because its provider shut it down. */
export interface RetiredModel {
  readonly id: string
  readonly on: string
  /** A model that is served here. */
  readonly successor?: string | undefined
  /** What its provider did instead of a plain shutdown. */
  readonly note?: string | undefined
}

/** Days before the end in which answers, the console and `torana check` warn: OpenAI gives three months for image models. */
export const WARNED_DAYS = 90
export const DAY_MS = 86_400_000

export type EndFields = Omit<ModelEnd, 'atMs' | 'from'>

export function modelEnd(fields: EndFields, from: EndOrigin = 'catalog'): ModelEnd {
  return { ...fields, atMs: Date.parse(fields.on), from }
}

/** A model ends with the last of its deployments. Undefined when one of them has no end. */
export function lastEnd(
  deployments: readonly { readonly end?: ModelEnd | undefined }[],
): ModelEnd | undefined {
  let last: ModelEnd | undefined
  for (const { end } of deployments) {
    if (end === undefined) return undefined
    if (last === undefined || end.atMs > last.atMs) last = end
  }
  return last
}

export function hasEnded({ atMs }: ModelEnd, nowMs: number): boolean {
  return atMs <= nowMs
}

/** The end of one of these deployments, if its day has come. */
export function endedOf(
  {
    deployments,
  }: { readonly deployments: readonly { readonly id: string; readonly end?: ModelEnd | undefined }[] },
  deployment: string,
  nowMs: number,
): ModelEnd | undefined {
  const end = deployments.find(({ id }) => id === deployment)?.end
  return end !== undefined && hasEnded(end, nowMs) ? end : undefined
}

/** Whole days until the model ends; on the day itself and later 0 or less. */
export function daysLeft({ atMs }: ModelEnd, nowMs: number): number {
  return Math.round((atMs - Math.floor(nowMs / DAY_MS) * DAY_MS) / DAY_MS)
}

/** Whether the end is near enough for a warning, or past. */
export function isNear(end: ModelEnd, nowMs: number): boolean {
  return daysLeft(end, nowMs) <= WARNED_DAYS
}

/** `2026-12-01; successor=gpt-image-2.5-sunburst`: the header `x-torana-model-ends`. Undefined: it is left out. */
export function endNotice(end: ModelEnd | undefined, nowMs: () => number): string | undefined {
  if (end === undefined) return undefined
  const atMs = nowMs()
  if (!isNear(end, atMs)) return undefined
  const ended = hasEnded(end, atMs) ? '; ended' : ''
  return `${end.on}${ended}${end.successor === undefined ? '' : `; successor=${end.successor}`}`
}

/** `ends on 2026-12-01, in 14 days` or `ended on 2026-12-01`: the same words in `torana check`, the log and faults. */
export function endWords(end: ModelEnd, nowMs: number): string {
  const days = daysLeft(end, nowMs)
  if (days <= 0) return `ended on ${end.on}`
  return `ends on ${end.on}, in ${days} day${days === 1 ? '' : 's'}`
}
