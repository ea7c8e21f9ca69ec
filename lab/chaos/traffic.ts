/** The traffic and its terms: the load sends it, torana.yaml allows it, the checks know what it must cost. */
import type { Random } from '../../server/test/support/random.ts'

/** The width is at the end of each model's name, where the fake provider reads it: small answers, many of them. */
const WIDTH = 16
/** Requests of more distinct inputs are split over several calls. */
const MAX_INPUTS = 4
/** More than one call takes, so that some are split again. */
const MICRO_BATCH = { maxWaitMs: 30, maxItems: 6, acrossProjects: true }
/** One dollar for a million tokens. */
export const NANO_USD_PER_TOKEN = 1000n
/** Longest time that the fake provider takes for a call it is going to serve. */
export const LATEST_SERVICE_MS = 2500
/**
 * Short, so that a round ends soon after its load; an attempt may take less than the first deployment of
 * `late-w16`, which does the work and is not waited for.
 */
export const SHORT_LIMITS = { attemptTimeoutMs: 2000, requestTimeoutMs: 5000 }

interface ModelOfLoad {
  readonly id: string
  readonly weight: number
  /** Scenarios of the fake provider, one deployment each, in the order they are tried. */
  readonly on: readonly string[]
  /** Its requests share calls. */
  readonly isJoined?: boolean
}

/** Most calls succeed, as in production; the rest fails in every way that leaves an outcome in doubt. */
export const MODELS: readonly ModelOfLoad[] = [
  { id: 'steady-w16', weight: 42, on: ['plain'] },
  { id: 'joined-w16', weight: 14, on: ['plain'], isJoined: true },
  { id: 'joined-charging-w16', weight: 3, on: ['serves-then-resets', 'plain'], isJoined: true },
  { id: 'joined-cut-w16', weight: 3, on: ['half-body', 'plain'], isJoined: true },
  { id: 'slow-w16', weight: 8, on: ['slow-250'] },
  { id: 'failing-w16', weight: 6, on: ['status-500', 'plain'] },
  { id: 'resetting-w16', weight: 6, on: ['reset', 'plain'] },
  { id: 'charging-w16', weight: 5, on: ['serves-then-resets', 'plain'] },
  { id: 'cut-w16', weight: 4, on: ['half-body', 'plain'] },
  { id: 'garbled-w16', weight: 4, on: ['wrong-count', 'garbage', 'plain'] },
  { id: 'doomed-w16', weight: 3, on: ['serves-then-resets'] },
  { id: 'late-w16', weight: 2, on: [`slow-${LATEST_SERVICE_MS}`, 'plain'] },
]

export interface KeyOfLoad {
  readonly name: string
  readonly secret: string
  readonly weight: number
}

export const OPEN_KEY: KeyOfLoad = { name: 'open', secret: 'chaos-key-without-any-terms', weight: 45 }
export const GENEROUS_KEY: KeyOfLoad = { name: 'generous', secret: 'chaos-key-with-much-money', weight: 25 }
export const LIMITED_KEY: KeyOfLoad = { name: 'limited', secret: 'chaos-key-with-rate-limits', weight: 15 }

/** Each round has a separate budget to use up. */
export function tightKey(round: number): KeyOfLoad {
  return { name: `tight-${round}`, secret: `chaos-key-with-little-money-${round}`, weight: 15 }
}

export interface Terms {
  readonly rounds: number
  /** Budget of each round. */
  readonly tightUsd: number
  /** Limit of the limited key. */
  readonly requestsPerMinute: number
  readonly limits: { readonly attemptTimeoutMs: number; readonly requestTimeoutMs: number }
}

/** torana.yaml, in JSON. */
export function configText(providerUrl: string, terms: Terms): string {
  const { rounds, tightUsd, requestsPerMinute, limits } = terms
  const scenarios = new Set(MODELS.flatMap(({ on }) => on))
  const upstreams = [...scenarios].map((scenario) => [
    scenario,
    { dialect: 'openai', baseUrl: `${providerUrl}/${scenario}/v1` },
  ])
  const models = MODELS.map(({ id, on, isJoined }) => [
    id,
    {
      kind: 'embedding',
      embedding: { dimensions: WIDTH },
      price: { usdPerMillionTokens: 1 },
      // Every call of the upstream is compared with the load: probes would be among them.
      spaceGuard: false,
      ...(isJoined && { microBatch: MICRO_BATCH }),
      deployments: on.map((upstream, priority) => ({
        upstream,
        model: id,
        priority,
        capabilities: { maxInputs: MAX_INPUTS, tokenArrays: true, encodings: ['float', 'base64'] },
      })),
    },
  ])
  const keyOf = ({ name, secret }: KeyOfLoad, terms: object = {}) => ({
    keys: [{ name, secret, ...terms }],
  })
  const budget = (usd: number, per: string) => ({ budget: { usd, per, hard: true } })
  const tight = Array.from({ length: rounds }, (_, round) => tightKey(round))
  const projects = {
    open: keyOf(OPEN_KEY),
    generous: { ...keyOf(GENEROUS_KEY, budget(500, 'day')), ...budget(1000, 'month') },
    limited: { ...keyOf(LIMITED_KEY), limits: { requestsPerMinute, tokensPerMinute: 1_000_000 } },
    ...Object.fromEntries(tight.map((key) => [key.name, { ...keyOf(key), ...budget(tightUsd, 'total') }])),
  }
  return JSON.stringify({
    upstreams: Object.fromEntries(upstreams),
    models: Object.fromEntries(models),
    projects,
    limits,
  })
}

export interface Question {
  readonly model: string
  readonly input: string | readonly string[] | readonly (readonly number[])[]
  /** Calls that must have served it before it can be answered. */
  readonly calls: number
  readonly inputs: number
}

const SHAPES = [
  { weight: 55, make: (random: Random) => ({ input: textOf(random), distinct: 1 }) },
  {
    weight: 20,
    make(random: Random) {
      const input = Array.from({ length: 2 + random.below(9) }, () => textOf(random))
      return { input, distinct: new Set(input).size }
    },
  },
  {
    // The same few again and again: they are sent once each.
    weight: 15,
    make(random: Random) {
      const few = Array.from({ length: 1 + random.below(3) }, () => textOf(random))
      const input = Array.from({ length: 8 }, (_, index) => few[index % few.length] as string)
      return { input, distinct: new Set(input).size }
    },
  },
  {
    weight: 10,
    make(random: Random) {
      const input = Array.from({ length: 1 + random.below(6) }, () =>
        Array.from({ length: 1 + random.below(8) }, () => random.below(50_000)),
      )
      return { input, distinct: new Set(input.map((tokens) => tokens.join())).size }
    },
  },
]

export function questionOf(random: Random, models: readonly ModelOfLoad[]): Question {
  const { input, distinct } = random.pick(SHAPES).make(random)
  const inputs = typeof input === 'string' ? 1 : input.length
  return { model: random.pick(models).id, input, inputs, calls: Math.ceil(distinct / MAX_INPUTS) }
}

function textOf(random: Random): string {
  return `text ${random.below(1_000_000_000).toString(36)} of the load`
}
