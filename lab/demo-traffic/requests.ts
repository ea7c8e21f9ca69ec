/** What callers of the demo ask for: several projects, vectors, pictures and edits, and some mistakes. */
import type { Chance } from './chance.ts'
import { KEYS } from './install.ts'

export interface DemoRequest {
  readonly path: string
  readonly secret: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | FormData
}

interface Kind {
  /** How often, beside the others. */
  readonly weight: number
  readonly make: (chance: Chance) => DemoRequest
}

const WORDS = (
  'harbour invoice ledger maple orchard parcel quarry river saddle timber umbrella valley window yarn zinc copper ' +
  'delivery engine fabric garden hinge island jacket kettle lantern mirror needle oven pillow quilt ribbon'
).split(' ') as [string, ...string[]]

/** People search for the same things again and again: these are what the cache is for. */
const QUERIES = WORDS.slice(0, 12).map((word) => `where is my ${word}`) as [string, ...string[]]

/** One transparent pixel: the fake provider reads only its header. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

function sentence(chance: Chance, words: number): string {
  return Array.from({ length: words }, () => chance.of(WORDS)).join(' ')
}

function texts(chance: Chance, count: number): string[] {
  return Array.from({ length: count }, () => `${sentence(chance, 8 + chance.below(40))} ${chance.below(1e9)}`)
}

function secretOf(id: string): string {
  const key = KEYS.find(({ project, name }) => `${project}/${name}` === id)
  if (key === undefined) throw new Error(`the demo has no key ${id}`)
  return key.secret
}

function embed(id: string, body: object): DemoRequest {
  return { path: '/v1/embeddings', secret: secretOf(id), body: JSON.stringify(body) }
}

function paint(id: string, body: object): DemoRequest {
  return {
    path: '/v1/images/generations',
    secret: secretOf(id),
    body: JSON.stringify({ size: '256x256', quality: 'low', ...body }),
  }
}

function edit(id: string, model: string, prompt: string): DemoRequest {
  const form = new FormData()
  form.set('model', model)
  form.set('prompt', prompt)
  form.set('size', '256x256')
  form.set('image', new Blob([PIXEL], { type: 'image/png' }), 'given.png')
  return { path: '/v1/images/edits', secret: secretOf(id), body: form }
}

const SMALL = 'text-embedding-3-small'
const LARGE = 'text-embedding-3-large'
const BGE = 'BAAI/bge-m3'

const KINDS: readonly Kind[] = [
  {
    weight: 26,
    make: (chance) => embed('search/indexer', { model: SMALL, input: texts(chance, 2 + chance.below(6)) }),
  },
  {
    weight: 16,
    make: (chance) => embed('search/indexer', { model: BGE, input: texts(chance, 2 + chance.below(8)) }),
  },
  { weight: 18, make: (chance) => embed('search/website', { model: SMALL, input: chance.of(QUERIES) }) },
  { weight: 6, make: (chance) => embed('search/website', { model: LARGE, input: sentence(chance, 6) }) },
  {
    weight: 20,
    make: (chance) => embed('catalog/nightly', { model: BGE, input: texts(chance, 4 + chance.below(12)) }),
  },
  {
    weight: 6,
    make: (chance) => embed('research/notebooks', { model: LARGE, input: texts(chance, 2), dimensions: 512 }),
  },
  { weight: 4, make: (chance) => embed('ads/website', { model: SMALL, input: sentence(chance, 12) }) },
  {
    weight: 0.4,
    make: (chance) => paint('ads/website', { model: 'gpt-image-2', prompt: sentence(chance, 9) }),
  },
  {
    weight: 1.2,
    make: (chance) =>
      paint('studio/app', { model: 'gpt-image-2', prompt: sentence(chance, 14), n: 1 + chance.below(2) }),
  },
  {
    weight: 0.9,
    make: (chance) => paint('studio/app', { model: 'flux-2-pro', prompt: sentence(chance, 14) }),
  },
  { weight: 0.5, make: (chance) => edit('studio/app', 'gpt-image-2', sentence(chance, 10)) },
  // What callers get wrong: less than one request in a hundred, as in an install that works.
  { weight: 0.6, make: (chance) => embed('search/ci', { model: SMALL, input: sentence(chance, 3) }) },
  {
    weight: 0.2,
    make: (chance) =>
      embed('search/website', { model: 'text-embedding-ada-002', input: sentence(chance, 3) }),
  },
  {
    weight: 0.1,
    make: (chance) =>
      embed('research/notebooks', { model: BGE, input: sentence(chance, 3), dimensions: 100 }),
  },
  { weight: 0.1, make: () => embed('ads/website', { model: SMALL, input: '' }) },
  {
    weight: 0.2,
    make: (chance) => paint('ads/website', { model: 'flux-2-flex', prompt: sentence(chance, 5) }),
  },
  {
    weight: 0.1,
    make: (chance) => ({
      ...embed('search/ci', { model: SMALL, input: 'x' }),
      secret: `wrong-${chance.below(9)}`,
    }),
  },
]

const TOTAL = KINDS.reduce((sum, { weight }) => sum + weight, 0)

export function nextRequest(chance: Chance): DemoRequest {
  let left = chance.share() * TOTAL
  for (const { weight, make } of KINDS) {
    left -= weight
    if (left < 0) return make(chance)
  }
  return (KINDS[0] as Kind).make(chance)
}
