/** The demo install: its upstreams, models, projects and keys, all of them invented, on one fake provider. */

/** Below the scenario, every upstream of the demo speaks OpenAI's language. */
const UPSTREAMS = {
  openai: 'mode-openai+slow-90',
  'azure-eu': 'mode-azure-eu+slow-110',
  'azure-us': 'mode-azure-us+slow-120',
  'gpu-one': 'mode-gpu-one+slow-15',
  'gpu-two': 'mode-gpu-two+slow-18',
  siliconflow: 'mode-siliconflow+slow-160',
  'black-forest-labs': 'mode-black-forest-labs+slow-900',
} as const

export type DemoUpstream = keyof typeof UPSTREAMS

/** The fake provider reads the width from the end of the model's name. */
const vectors = (
  dimensions: number,
  usdPerMillionTokens: number,
  deployments: readonly (readonly [DemoUpstream, object])[],
  name: string,
): object => ({
  kind: 'embedding',
  embedding: {
    dimensions,
    matryoshka: dimensions !== 1024,
    maxInputTokens: 8192,
    tokenizer: 'cl100k_base',
    inputType: 'none',
  },
  price: { usdPerMillionTokens },
  deployments: deployments.map(([upstream, rest]) => ({
    upstream,
    model: `${name}-w${dimensions}`,
    capabilities: { encodings: ['float', 'base64'], maxInputs: 64, maxParallelCalls: 4 },
    ...rest,
  })),
})

const pictures = (price: object, deployments: readonly (readonly [DemoUpstream, object])[]): object => ({
  kind: 'image',
  price,
  deployments: deployments.map(([upstream, rest]) => ({
    upstream,
    capabilities: {
      maxImages: 4,
      sizes: ['256x256', '512x512'],
      qualities: ['low', 'high'],
      formats: ['png', 'webp'],
      forms: ['b64_json'],
      edits: { maxInputs: 4, mask: 'alpha' },
    },
    ...rest,
  })),
})

export interface DemoKey {
  readonly project: string
  readonly name: string
  readonly secret: string
}

/** Secrets of a demo on this machine: worth nothing anywhere else. */
export const secretOf = (project: string, name: string): string => `demo-${project}-${name}-0000000000000000`

const key = (project: string, name: string, terms: object = {}): object => ({
  name,
  secret: secretOf(project, name),
  ...terms,
})

export const KEYS: readonly DemoKey[] = [
  ['search', 'indexer'],
  ['search', 'website'],
  ['search', 'ci'],
  ['catalog', 'nightly'],
  ['research', 'notebooks'],
  ['ads', 'website'],
  ['studio', 'app'],
].map(([project = '', name = '']) => ({ project, name, secret: secretOf(project, name) }))

/** As torana.yaml; JSON is YAML too. */
export function configFor(providerUrl: string): object {
  const upstreams = Object.fromEntries(
    Object.entries(UPSTREAMS).map(([name, scenario]) => [
      name,
      { dialect: 'openai', baseUrl: `${providerUrl}/${scenario}/v1`, apiKey: 'key-of-the-demo' },
    ]),
  )
  return {
    // The playground's pictures need vectors that mean something; the fake provider's are made by chance.
    upstreams: { ...upstreams, demo: { dialect: 'demo' } },
    models: {
      'demo-embed': { deployments: [{ upstream: 'demo' }] },
      'text-embedding-3-small': {
        ...vectors(
          1536,
          0.02,
          [
            ['openai', { weight: 2 }],
            ['azure-eu', {}],
          ],
          'text-embedding-3-small',
        ),
        cache: { ttl: '1h' },
      },
      'BAAI/bge-m3': vectors(
        1024,
        0.01,
        [
          ['gpu-one', { weight: 2, limits: { concurrency: 8 } }],
          ['gpu-two', { limits: { concurrency: 8 } }],
          ['siliconflow', { priority: 1 }],
        ],
        'bge-m3',
      ),
      'text-embedding-3-large': vectors(
        3072,
        0.13,
        [
          ['openai', {}],
          ['azure-us', {}],
        ],
        'text-embedding-3-large',
      ),
      'gpt-image-2': pictures({ usdPerImage: 0.053 }, [
        ['openai', { weight: 2 }],
        ['azure-eu', { limits: { requestsPerMinute: 30 } }],
      ]),
      'flux-2-pro': pictures({ usdPerImage: 0.03 }, [['black-forest-labs', {}]]),
      'flux-2-flex': { ...pictures({}, [['black-forest-labs', {}]]), price: 'unpriced' },
    },
    retired: { 'text-embedding-ada-002': { on: '2026-03-31', successor: 'text-embedding-3-small' } },
    projects: {
      search: {
        keys: [
          key('search', 'indexer'),
          key('search', 'website'),
          key('search', 'ci', { limits: { requestsPerMinute: 12 } }),
        ],
        budget: { usd: 400, per: 'month', hard: true },
      },
      catalog: {
        keys: [
          key('catalog', 'nightly'),
          // Enough for 37 of the 60 images of the batch that it sends, which waits therefore.
          key('catalog', 'trial', { budget: { usd: 2, per: 'month', hard: true } }),
        ],
        budget: { usd: 350, per: 'month', hard: false },
      },
      research: { keys: [key('research', 'notebooks')], budget: { usd: 60, per: 'month', hard: true } },
      ads: { keys: [key('ads', 'website')], budget: { usd: 50, per: 'month', hard: true } },
      studio: { keys: [key('studio', 'app')], budget: { usd: 3000, per: 'month', hard: true } },
    },
  }
}
