import { isVectorKind, vectorKinds } from './drift.ts'
import { scenarioOf, UnknownTrait } from './traits.ts'
import { Refusal, stringField, unknownFields, type Fields } from './wire.ts'

/** How an upstream behaves from now on, as `POST /_mode` says it. What is left out is at its default. */
export type Behaviour = {
  /** `ok`, `hold`, `reset`, `hang`, `garbage`, `refuse-connections`, or an HTTP status from 400 to 599. */
  mode: string
  /** Sent with a status; without it an error has no `retry-after`. */
  retryAfterMs: number | null
  /** After how long a hanging call is answered; null: never. */
  hangMs: number | null
  /** More traits, joined with +: they win over those of the base URL. */
  traits: string | null
  /** A kind of drift, or `plain`. */
  vectors: string
  /** The part of all calls that all of this is for, evenly spread; the others are served as the base URL says. */
  share: number
  /** Whether the calls of that part are drawn by chance, as by a balancer that picks a replica for each call. */
  byChance: boolean
}

export const wellBehaved: Behaviour = {
  mode: 'ok',
  retryAfterMs: null,
  hangMs: null,
  traits: null,
  vectors: 'plain',
  share: 1,
  byChance: false,
}

const plainModes = ['ok', 'hold', 'reset', 'hang', 'garbage', 'refuse-connections']

export function behaviourOf(fields: Fields): Behaviour {
  const unknown = unknownFields(fields, Object.keys(wellBehaved))
  if (unknown.length > 0) throw new Refusal(400, `Unknown: ${unknown.join(', ')}.`)
  const behaviour = {
    mode: stringField(fields, 'mode') ?? 'ok',
    retryAfterMs: numberField(fields, 'retryAfterMs'),
    hangMs: numberField(fields, 'hangMs'),
    traits: stringField(fields, 'traits'),
    vectors: stringField(fields, 'vectors') ?? 'plain',
    share: numberField(fields, 'share') ?? 1,
    byChance: switchField(fields, 'byChance'),
  }
  refuseContradictions(behaviour)
  return behaviour
}

/** The same as traits. */
export function traitsOf({ mode, retryAfterMs, hangMs, traits, vectors }: Behaviour): string[] {
  const words = traits?.split('+') ?? []
  if (vectors !== 'plain') words.push(`vectors-${vectors}`)
  if (isStatus(mode)) words.push(`status-${mode}`, `retry-after-${retryAfterMs ?? 0}`)
  else if (mode === 'hang') words.push(hangMs === null ? 'never' : `slow-${hangMs}`)
  // Where the connection is refused, those that are still open end too.
  else if (mode === 'refuse-connections') words.push('reset')
  else if (mode !== 'ok' && mode !== 'hold') words.push(mode)
  return words
}

function refuseContradictions({ mode, retryAfterMs, hangMs, traits, vectors, share }: Behaviour): void {
  if (!plainModes.includes(mode) && !isStatus(mode)) {
    throw new Refusal(
      400,
      `There is no mode "${mode}": ${plainModes.join(', ')}, or a status from 400 to 599.`,
    )
  }
  if (retryAfterMs !== null && !isStatus(mode)) throw new Refusal(400, "'retryAfterMs' is for a status.")
  if (hangMs !== null && mode !== 'hang') throw new Refusal(400, "'hangMs' is for the mode hang.")
  if (share > 1) throw new Refusal(400, "'share' is between 0 and 1.")
  if (vectors !== 'plain' && !isVectorKind(vectors)) {
    throw new Refusal(400, `There are no vectors "${vectors}": plain, ${vectorKinds.join(', ')}.`)
  }
  if (traits !== null) refuseBadTraits(traits)
}

function refuseBadTraits(traits: string): void {
  try {
    if (scenarioOf(traits).mode === null) return
  } catch (error) {
    if (!(error instanceof UnknownTrait)) throw error
    throw new Refusal(400, error.message)
  }
  throw new Refusal(400, 'A mode cannot name another mode.')
}

function switchField(fields: Fields, name: string): boolean {
  const value = fields[name] ?? false
  if (typeof value !== 'boolean') throw new Refusal(400, `'${name}' must be true or false.`)
  return value
}

function isStatus(mode: string): boolean {
  return /^[45]\d\d$/.test(mode)
}

function numberField(fields: Fields, name: string): number | null {
  const value = fields[name] ?? null
  if (value === null) return null
  if (typeof value !== 'number' || !(value >= 0) || !Number.isFinite(value)) {
    throw new Refusal(400, `'${name}' must be a number of at least 0.`)
  }
  if (name.endsWith('Ms') && !Number.isInteger(value)) {
    throw new Refusal(400, `'${name}' must be a whole number.`)
  }
  return value
}
