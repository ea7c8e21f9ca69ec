/** What is worth a look at a key, and the lists in which it appears. */
import type { ConfiguredBudget, ConfiguredLimits } from '../catalog/catalog.ts'

const DAY_MS = 86_400_000
/** Time without use after which a key counts as idle: a quarter of a year. */
export const IDLE_MS = 90 * DAY_MS
/** Time before its end in which a key counts as ending: long enough to make another one and to hand it over. */
export const ENDS_SOON_MS = 30 * DAY_MS

export const KEY_NOTES = ['idle', 'no_expiry', 'no_limit', 'ends_soon', 'rotating', 'old_pepper'] as const
export type KeyNote = (typeof KEY_NOTES)[number]

/** Notes that need action by a person. The others pass by themselves. */
const TO_TIDY: ReadonlySet<KeyNote> = new Set<KeyNote>(['idle', 'no_expiry', 'no_limit', 'old_pepper'])

/** `active`: works. Of those, `ending`: not for much longer; `tidy`: needs a look. `revoked`: ended, or revoked. */
export const KEY_STATES = ['active', 'ending', 'tidy', 'revoked'] as const
export type KeyState = (typeof KEY_STATES)[number]

export interface KeyFacts {
  readonly limits: ConfiguredLimits
  readonly budget: ConfiguredBudget | undefined
  readonly expiresAtMs: number | undefined
  readonly revokedAtMs: number | undefined
  /** Undefined for a key of the configuration, whose creation time is not known. */
  readonly createdAtMs: number | undefined
  readonly lastUsedAtMs: number | undefined
  readonly secrets: readonly { readonly validUntilMs: number | undefined; readonly pepper: string }[]
}

export function hasEnded({ expiresAtMs, revokedAtMs }: KeyFacts, nowMs: number): boolean {
  return revokedAtMs !== undefined || (expiresAtMs !== undefined && expiresAtMs <= nowMs)
}

export function notesOf(key: KeyFacts, nowMs: number, currentPepper: string): KeyNote[] {
  if (hasEnded(key, nowMs)) return []
  const { limits, budget, expiresAtMs, secrets } = key
  const quietSinceMs = key.lastUsedAtMs ?? key.createdAtMs
  const isTrue: Record<KeyNote, boolean> = {
    idle: quietSinceMs !== undefined && nowMs - quietSinceMs > IDLE_MS,
    no_expiry: expiresAtMs === undefined,
    no_limit: budget === undefined && Object.values(limits).every((limit) => limit === undefined),
    ends_soon: expiresAtMs !== undefined && expiresAtMs - nowMs <= ENDS_SOON_MS,
    rotating: secrets.some(({ validUntilMs }) => validUntilMs !== undefined && validUntilMs > nowMs),
    old_pepper: secrets.some(({ pepper }) => pepper !== currentPepper),
  }
  return KEY_NOTES.filter((note) => isTrue[note])
}

/** All lists in which a key appears. */
export function statesOf(key: KeyFacts, nowMs: number, currentPepper: string): readonly KeyState[] {
  if (hasEnded(key, nowMs)) return ['revoked']
  const notes = notesOf(key, nowMs, currentPepper)
  const states: KeyState[] = ['active']
  if (notes.includes('ends_soon')) states.push('ending')
  if (notes.some((note) => TO_TIDY.has(note))) states.push('tidy')
  return states
}
