/** One Torana in front of the soak's upstreams: its configuration, and the resulting cost of each call. */
import {
  EDGE,
  TOKENS_OF_A_FILE,
  TOKENS_OF_A_PICTURE,
  WIDTH,
} from '../../fake-provider/players/soak/oracle.ts'
import type { RecordedCall } from '../../fake-provider/players/soak/calls.ts'

export const KEYS = {
  alpha: 'alpha-key-00000000000000000000000001',
  beta: 'beta-key-000000000000000000000000001',
} as const
export type Project = keyof typeof KEYS
export const PROJECTS = Object.keys(KEYS) as readonly Project[]

const flaky = ['limited', 'failing', 'resetting', 'cutting', 'garbling']
const ways = ['steady', 'slow', ...flaky]

const NANO = 1_000_000_000n
/** Dollars and nano-dollars of the same price, written twice: the judge calculates with the second. */
const tokenPrice = { price: { usdPerMillionTokens: 0.13 }, nanoPerToken: 130n }
const picturePrice = { price: { usdPerImage: 0.02 }, nano: NANO / 50n }
const areaPrice = { price: { usdPerMegapixel: 0.5 }, nano: 500n * BigInt(EDGE * EDGE) }
const kindPrice = {
  price: { usdPerMillionTokens: { textInput: 5, imageInput: 8, imageOutput: 32 } },
  nano: { text: 5_000n, image: 8_000n, output: 32_000n },
}

const embedding = {
  kind: 'embedding',
  embedding: { dimensions: WIDTH, matryoshka: true, tokenizer: 'cl100k_base' },
  spaceGuard: false,
  price: tokenPrice.price,
}
const vectors = { encodings: ['float', 'base64'], tokenArrays: true, dimensions: { min: 1, max: WIDTH } }
const pictures = {
  maxImages: 4,
  sizes: { any: `${EDGE}x${EDGE}` },
  formats: ['png'],
  forms: ['b64_json'],
  edits: { maxInputs: 4, mask: 'alpha' },
}

const embedders = (names: readonly string[], priority = 0): object[] =>
  names.map((upstream) => ({ upstream, model: 'soak', priority, capabilities: vectors }))
const painters = (names: readonly string[], priority = 0): object[] =>
  names.map((upstream) => ({ upstream, model: 'soak', priority, capabilities: pictures }))
const shared = { microBatch: { maxWaitMs: 5 }, cache: { ttl: '1h' } }

export const EMBEDDERS = ['plain', 'text-only', 'shared', 'flaky', 'flaky-shared', 'slow'] as const
export const PAINTERS = ['paint', 'paint-links', 'paint-stream', 'paint-flaky'] as const

export function configFor(upstream: string): object {
  const named = (name: string, path: string): [string, object] => [
    name,
    { dialect: 'openai', baseUrl: `${upstream}/${path}/v1`, apiKey: 'key-of-the-soak' },
  ]
  return {
    upstreams: Object.fromEntries([...ways.map((way) => named(way, way)), named('links', 'steady/links')]),
    models: {
      plain: { ...embedding, deployments: embedders(['steady']) },
      'text-only': {
        ...embedding,
        deployments: [
          {
            upstream: 'steady',
            model: 'soak',
            capabilities: { encodings: ['float'], tokenArrays: false, dimensions: 'none', maxInputs: 32 },
          },
        ],
      },
      shared: { ...embedding, ...shared, deployments: embedders(['steady']) },
      flaky: { ...embedding, deployments: [...embedders(flaky), ...embedders(['steady'], 1)] },
      'flaky-shared': {
        ...embedding,
        ...shared,
        deployments: [...embedders(flaky), ...embedders(['steady'], 1)],
      },
      slow: { ...embedding, deployments: embedders(['slow']) },
      paint: { kind: 'image', price: picturePrice.price, deployments: painters(['steady']) },
      'paint-links': {
        kind: 'image',
        price: areaPrice.price,
        deployments: [
          { upstream: 'links', model: 'soak', capabilities: { ...pictures, maxImages: 1, forms: ['url'] } },
        ],
      },
      'paint-stream': {
        kind: 'image',
        image: { outputTokens: TOKENS_OF_A_PICTURE, inputImageTokens: TOKENS_OF_A_FILE },
        price: kindPrice.price,
        deployments: [
          {
            upstream: 'steady',
            model: 'soak',
            capabilities: { ...pictures, maxImages: 1, stream: true, maxPartialImages: 3 },
          },
        ],
      },
      'paint-flaky': {
        kind: 'image',
        price: picturePrice.price,
        deployments: [
          ...painters(['limited', 'failing', 'resetting', 'cutting']),
          ...painters(['steady'], 1),
        ],
      },
    },
    projects: {
      alpha: {
        keys: [{ name: 'soak', secret: KEYS.alpha }],
        budget: { usd: 1_000_000, per: 'total', hard: true },
      },
      beta: { keys: [{ name: 'soak', secret: KEYS.beta }], budget: { usd: 1_000_000, per: 'total' } },
    },
    limits: {
      // Short, because this run is about faults.
      attemptTimeoutMs: 10_000,
      imageTimeoutMs: 60_000,
      // Full within the first minute, or it would look like a leak.
      cacheBytes: 8 * 2 ** 20,
    },
  }
}

/** The cost of a served call. */
export function costOf(model: string, { tokens = 0, motifs = [], ...entry }: RecordedCall): bigint {
  const count = BigInt(motifs.length)
  switch (model) {
    case 'paint':
    case 'paint-flaky':
      return count * picturePrice.nano
    case 'paint-links':
      return count * areaPrice.nano
    case 'paint-stream':
      return (
        BigInt(entry.textTokens ?? 0) * kindPrice.nano.text +
        BigInt(entry.imageTokens ?? 0) * kindPrice.nano.image +
        BigInt(entry.outputTokens ?? 0) * kindPrice.nano.output
      )
    default:
      return BigInt(tokens) * tokenPrice.nanoPerToken
  }
}
