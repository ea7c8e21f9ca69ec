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
  /** Its requests have images, by a wire that carries contents. */
  readonly readsImages?: boolean
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
  { id: 'seeing-w16', weight: 10, on: ['plain'], readsImages: true },
  { id: 'seeing-failing-w16', weight: 2, on: ['status-500', 'plain'], readsImages: true },
  { id: 'seeing-charging-w16', weight: 2, on: ['serves-then-resets', 'plain'], readsImages: true },
  { id: 'seeing-cut-w16', weight: 2, on: ['half-body', 'plain'], readsImages: true },
]

export const TEXT_MODELS: readonly string[] = MODELS.filter(({ readsImages = false }) => !readsImages).map(
  ({ id }) => id,
)

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
  const upstreams = [...scenarios].flatMap((scenario) =>
    [false, true].map((readsImages) => [
      upstreamOf(scenario, readsImages),
      {
        dialect: 'openai',
        baseUrl: `${providerUrl}/${scenario}/${readsImages ? 'openrouter/api/v1' : 'v1'}`,
      },
    ]),
  )
  const models = MODELS.map(({ id, on, isJoined, readsImages = false }) => [
    id,
    {
      kind: 'embedding',
      embedding: { dimensions: WIDTH, ...(readsImages && IMAGE_FACTS) },
      price: { usdPerMillionTokens: 1 },
      // Every call of the upstream is compared with the load: probes would be among them.
      spaceGuard: false,
      ...(isJoined && { microBatch: MICRO_BATCH }),
      deployments: on.map((scenario, priority) => ({
        upstream: upstreamOf(scenario, readsImages),
        model: id,
        priority,
        capabilities: {
          maxInputs: MAX_INPUTS,
          encodings: ['float', 'base64'],
          ...(readsImages ? { contents: CONTENTS } : { tokenArrays: true }),
        },
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

function upstreamOf(scenario: string, readsImages: boolean): string {
  return readsImages ? `${scenario}-contents` : scenario
}

const CONTENTS = { wire: 'openrouter', inputs: ['text', 'image'], fuses: true, maxParts: 2 }
/** Bounds of a reservation: the fake provider counts 258 tokens for an image. */
const IMAGE_FACTS = { maxInputTokens: 2048, mediaTokens: { maxPerImage: 258 } }

export interface Question {
  readonly model: string
  readonly input: string | readonly string[] | readonly (readonly number[])[] | readonly object[]
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
  const { id, readsImages } = random.pick(models)
  const { input, distinct } = readsImages ? contentsOf(random) : random.pick(SHAPES).make(random)
  const inputs = typeof input === 'string' ? 1 : input.length
  return { model: id, input, inputs, calls: Math.ceil(distinct / MAX_INPUTS) }
}

/** The beginning of every image: a PNG of one pixel. What follows it makes each a different one. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
/** Bytes behind it: most images stay in memory, some are kept on disk. */
const PADDING_BYTES = [500, 500, 20_000, 300_000] as const

/** Images, some of them with words, and now and then an equal one. */
function contentsOf(random: Random): { readonly input: readonly object[]; readonly distinct: number } {
  const images = Array.from({ length: 1 + random.below(6) }, () => {
    const padding = PADDING_BYTES[random.below(PADDING_BYTES.length)] ?? 0
    const bytes = Buffer.concat([PIXEL, Buffer.alloc(padding, textOf(random))])
    const image = {
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${bytes.toString('base64')}` },
    }
    return { content: random.below(2) === 0 ? [image] : [{ type: 'text', text: textOf(random) }, image] }
  })
  const isRepeated = random.below(4) === 0
  return { input: isRepeated ? [...images, ...images.slice(0, 1)] : images, distinct: images.length }
}

/**
 * The fake provider counts four bytes as a token, and Torana takes its own count for the upstream's: a hard budget that has too little
 * for the bytes reserves exactly that. The digit and the space before it are tokens of their own, so that Torana never counts fewer.
 */
export function textOf(random: Pick<Random, 'below'>): string {
  return `text ${random.below(1_000_000_000).toString(36)} of the load 1`
}
