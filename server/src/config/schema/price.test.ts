import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'yaml'
import type { GivenPrice, ImagePrice } from '#core/money/price.ts'
import { MANY_RUNS } from '#test/support/arbitraries.ts'
import { builtInFacts, readFacts } from '../build/facts.ts'
import { readConfig } from '../load.ts'
import { embeddingPrice, imagePrice } from './price.ts'
import { ConfigError } from '../file/problem.ts'
import { resolveImagePrice, resolvePrice } from '../build/resolve.ts'

/** A file that is good but for its price, which begins in line 5, column 12. */
const fileWith = (price: string) => `
upstreams: { it: { dialect: openai, baseUrl: 'http://x' } }
models:
  m:
    price: ${price}
    kind: embedding
    embedding: { dimensions: 4 }
    deployments: [{ upstream: it }]
`

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

function problemsWith(price: string): readonly string[] {
  const readFile = () => assert.fail('there are no files')
  const surroundings = { env: {}, readFile, facts: new Map(), bootstrapKey: undefined, nowMs: 0 }
  return problemsOf(() => readConfig('t.yaml', fileWith(price), surroundings))
}

const WAYS = 'usdPerMillionTokens, usdPerInput, usdPerImage, usdPerMegapixel'
const GIVEN_WAYS = 'usdPerGivenImage, usdPerGivenMegapixel'
const IS_OF_IMAGES = 'is a price for images; write usdPerMillionTokens: <dollars> for an embedding model'
const NO_GIVEN_DOLLARS =
  'expected dollars such as 0.02, above zero (else leave it out), with at most nine decimals, or unknown'
const NO_DOLLARS = 'expected dollars such as 0.02, above zero (else write free), with at most nine decimals'

const faults: Record<string, [price: string, ...problems: string[]]> = {
  'a price that says nothing': [
    '{}',
    `5:12 models.m.price: write one of ${WAYS}, or free or unpriced instead`,
  ],
  'an unknown way to count': [
    '{ usdPerToken: 0.02 }',
    `5:14 models.m.price.usdPerToken: unknown field. Known here: ${WAYS}, ${GIVEN_WAYS}`,
  ],
  'two ways to count at once': [
    '{ usdPerMillionTokens: 0.02, usdPerImage: 0.04 }',
    '5:12 models.m.price: usdPerMillionTokens, usdPerImage contradict each other: keep one',
  ],
  'a price per image of an embedding model': [
    '{ usdPerImage: 0.04 }',
    `5:27 models.m.price.usdPerImage: ${IS_OF_IMAGES}`,
  ],
  'a price per megapixel of an embedding model': [
    '{ usdPerMegapixel: 0.04 }',
    `5:31 models.m.price.usdPerMegapixel: ${IS_OF_IMAGES}`,
  ],
  'prices by kinds of tokens of an embedding model': [
    '{ usdPerMillionTokens: { textInput: 5, imageOutput: 30 } }',
    `5:35 models.m.price.usdPerMillionTokens: ${IS_OF_IMAGES}`,
  ],
  'a price of given pictures of an embedding model': [
    '{ usdPerMillionTokens: 0.02, usdPerGivenImage: unknown }',
    `5:59 models.m.price.usdPerGivenImage: ${IS_OF_IMAGES}`,
  ],
  'a price of given pictures alone': [
    '{ usdPerGivenImage: 0.01 }',
    `5:12 models.m.price: write one of ${WAYS}, or free or unpriced instead`,
  ],
  'a given picture that costs no amount': [
    '{ usdPerImage: 0.04, usdPerGivenImage: 0, usdPerGivenMegapixel: free }',
    `5:51 models.m.price.usdPerGivenImage: ${NO_GIVEN_DOLLARS}`,
    `5:76 models.m.price.usdPerGivenMegapixel: ${NO_GIVEN_DOLLARS}`,
  ],
  'tokens of images without a price': [
    '{ usdPerMillionTokens: { textInput: 5 } }',
    '5:14 models.m.price.usdPerMillionTokens.imageOutput: is missing. Images: dollars per million tokens of the images that are made, or `free`.',
  ],
  'a cached price that is no discount': [
    '{ usdPerMillionTokens: { textInput: 5, cachedTextInput: 5.000000001, imageOutput: 30, cachedImageInput: free } }',
    '5:68 models.m.price.usdPerMillionTokens.cachedTextInput: must not be above textInput',
    '5:116 models.m.price.usdPerMillionTokens.cachedImageInput: must not be above imageInput, and means nothing without it',
  ],
  'amounts that are none': [
    '{ usdPerMillionTokens: { textInput: 0, cachedTextInput: -1, imageOutput: 0.0000000001 } }',
    `5:48 models.m.price.usdPerMillionTokens.textInput: ${NO_DOLLARS}`,
    `5:68 models.m.price.usdPerMillionTokens.cachedTextInput: ${NO_DOLLARS}`,
    `5:85 models.m.price.usdPerMillionTokens.imageOutput: ${NO_DOLLARS}`,
  ],
  'a size that is none': [
    '{ usdPerImage: { 1024: 0.04, large: 0.08 } }',
    '5:29 models.m.price.usdPerImage.1024: expected a size in pixels such as 1024x1024, or default for all that are not named',
    '5:41 models.m.price.usdPerImage.large: expected a size in pixels such as 1024x1024, or default for all that are not named',
  ],
  'a table without sizes': [
    '{ usdPerImage: {} }',
    '5:27 models.m.price.usdPerImage: name at least one size, or default',
  ],
  'a size without qualities': [
    '{ usdPerImage: { 1024x1024: {} } }',
    '5:40 models.m.price.usdPerImage.1024x1024: name at least one quality, or default',
  ],
  'a quality that costs no amount': [
    '{ usdPerImage: { 1024x1024: { hd: much } } }',
    `5:46 models.m.price.usdPerImage.1024x1024.hd: ${NO_DOLLARS}`,
  ],
  'a list of prices': [
    '{ usdPerImage: [0.04] }',
    '5:27 models.m.price.usdPerImage: expected a number, text or a mapping, got a list',
  ],
}

for (const [name, [price, ...problems]] of Object.entries(faults)) {
  test(`${name} is reported with its place`, () => {
    assert.deepEqual(
      problemsWith(price),
      problems.map((problem) => `t.yaml:${problem}`),
    )
  })
}

test('a flat price for tokens does not say what an image model costs', () => {
  const { error } = imagePrice.safeParse({ usdPerMillionTokens: 0.02 })
  assert.deepEqual(error?.issues[0]?.path, ['usdPerMillionTokens'])
  assert.match(error?.issues[0]?.message ?? '', /several kinds of tokens/)
})

test('given pictures are charged in one way, and not beside tokens, which count them already', () => {
  const issueOf = (form: unknown) => {
    const [issue, ...others] = imagePrice.safeParse(form).error?.issues ?? []
    assert.deepEqual(others, [])
    return [issue?.path, issue?.message]
  }
  assert.deepEqual(issueOf({ usdPerImage: 0.04, usdPerGivenImage: 0.01, usdPerGivenMegapixel: 'unknown' }), [
    [],
    `${GIVEN_WAYS} contradict each other: keep one`,
  ])
  const usdPerMillionTokens = { textInput: 5, imageOutput: 30 }
  assert.deepEqual(issueOf({ usdPerMillionTokens, usdPerGivenMegapixel: 0.01 }), [
    ['usdPerGivenMegapixel'],
    'input images are tokens here; write their price as usdPerMillionTokens.imageInput',
  ])
})

const facts = (price: string) => () =>
  readFacts([
    {
      name: 'catalog/acme.yaml',
      text: `provider: acme\nname: Acme\ndialect: openai\nfactSource: { source: a test, asOf: 2026-11-15 }\nmodels:\n  m:\n    kind: embedding\n    embedding: { dimensions: 4 }\n    price: ${price}\n`,
    },
  ])

test('a built-in price has a source and a day, and is of the kind of its model', () => {
  const source = 'source: https://x.test/prices, asOf: 2026-11-15'
  assert.deepEqual(problemsOf(facts(`{ usdPerMillionTokens: 0.02, ${source} }`)), [])
  assert.deepEqual(problemsOf(facts(`{ ${source}, usdPerImage: 0.02 }`)), [
    `catalog/acme.yaml:9:76 models.m.price.usdPerImage: ${IS_OF_IMAGES}`,
  ])
  assert.equal(problemsOf(facts('{ usdPerMillionTokens: 0.02 }')).length, 2)
  assert.equal(problemsOf(facts(`{ ${source} }`)).length, 1)
})

const amounts = { '1x1': 0.04, '2x2': { low: 'free', high: '0.000000001' }, default: { default: 1 } }
const FREE = { kind: 'free' } as const
const UNPRICED = { kind: 'unpriced' } as const
const rowOf = (prices: Readonly<Record<string, bigint>>) => new Map(Object.entries(prices))
const flat = { kind: 'perImage', nanoUsd: new Map([['default', rowOf({ default: 40_000_000n })]]) } as const
const area = { kind: 'perMegapixel', nanoUsdPerMegapixel: 25_000_000n } as const
const forms: readonly [form: unknown, price: ImagePrice][] = [
  ['free', FREE],
  ['unpriced', UNPRICED],
  [{ usdPerImage: 0.04 }, { ...flat, given: FREE }],
  [
    { usdPerImage: 0.04, usdPerGivenImage: '0.01' },
    { ...flat, given: { kind: 'perImage', nanoUsd: 10_000_000n } },
  ],
  [
    { usdPerImage: 0.04, usdPerGivenMegapixel: 0.015 },
    { ...flat, given: { kind: 'perMegapixel', nanoUsd: 15_000_000n } },
  ],
  [
    { usdPerImage: 0.04, usdPerGivenMegapixel: 'unknown' },
    { ...flat, given: UNPRICED },
  ],
  [
    { usdPerImage: amounts },
    {
      kind: 'perImage',
      given: FREE,
      nanoUsd: new Map([
        ['1x1', rowOf({ default: 40_000_000n })],
        ['2x2', rowOf({ low: 0n, high: 1n })],
        ['default', rowOf({ default: 1_000_000_000n })],
      ]),
    },
  ],
  [{ usdPerMegapixel: '0.025' }, { ...area, given: FREE }],
  [
    { usdPerMegapixel: 0.025, usdPerGivenImage: 'unknown' },
    { ...area, given: UNPRICED },
  ],
  [
    { usdPerMillionTokens: { textInput: 'free', imageOutput: 30 } },
    {
      kind: 'perTokenKind',
      nanoUsdPerMillionTokens: {
        textInput: 0n,
        cachedTextInput: 0n,
        imageInput: undefined,
        cachedImageInput: undefined,
        textOutput: undefined,
        imageOutput: 30_000_000_000n,
      },
    },
  ],
  [
    {
      usdPerMillionTokens: {
        textInput: 5,
        cachedTextInput: 1.25,
        imageInput: 8,
        textOutput: 10,
        imageOutput: 30,
      },
    },
    {
      kind: 'perTokenKind',
      nanoUsdPerMillionTokens: {
        textInput: 5_000_000_000n,
        cachedTextInput: 1_250_000_000n,
        imageInput: 8_000_000_000n,
        cachedImageInput: 8_000_000_000n,
        textOutput: 10_000_000_000n,
        imageOutput: 30_000_000_000n,
      },
    },
  ],
]

for (const [form, price] of forms) {
  test(`${JSON.stringify(form)} is read exactly`, () => {
    assert.deepEqual(resolveImagePrice([undefined, imagePrice.parse(form), 'free']), price)
  })
}

test('a missing price is unknown, never zero', () => {
  assert.deepEqual(resolvePrice([undefined]), { kind: 'unpriced' })
  assert.deepEqual(resolveImagePrice([undefined]), { kind: 'unpriced' })
})

test('decimals are read exactly wherever an amount may stand', () => {
  const nano = fc.bigInt({ min: 1n, max: 10n ** 15n })
  fc.assert(
    fc.property(nano, (nano) => {
      const digits = nano.toString().padStart(10, '0')
      const text = `${digits.slice(0, -9)}.${digits.slice(-9)}`
      // Up to a million dollars a number has all its decimals.
      for (const usd of [text, Number(text)]) {
        const form = { usdPerMegapixel: usd, usdPerGivenMegapixel: usd }
        assert.deepEqual(resolveImagePrice([imagePrice.parse(form)]), {
          kind: 'perMegapixel',
          nanoUsdPerMegapixel: nano,
          given: { kind: 'perMegapixel', nanoUsd: nano },
        })
      }
    }),
    MANY_RUNS,
  )
})

test('no built-in price lets xAI or FLUX.2 edit as if given pictures cost nothing', () => {
  const charging = [...builtInFacts().values()].flatMap(({ provider, models }) =>
    Object.entries(models).flatMap(([id, model]) =>
      model.kind === 'image' && (provider === 'xai' || /flux-?\.?2/i.test(id))
        ? [resolveImagePrice([model.price])]
        : [],
    ),
  )
  assert.ok(charging.length >= 8, `found ${charging.length}`)
  for (const price of charging)
    assert.ok(price.kind === 'unpriced' || ('given' in price && price.given.kind !== 'free'))
})

test('every price in docs/prices.md can be read', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/prices.md'), 'utf8')
  const blocks = [...page.matchAll(/^```yaml\n(price:[\s\S]*?)^```$/gm)].map(([, block = '']) => block)
  assert.ok(blocks.length >= 7, 'found too little: the check would pass vacuously')
  const read = blocks.map((block) => (parse(block) as { readonly price: string | object }).price)
  const isOfParts = (price: string | object) => typeof price === 'object' && 'usdPerInput' in price
  for (const price of read.filter(isOfParts)) embeddingPrice.parse(price)
  const prices = read
    .filter((price) => !isOfParts(price))
    .map((price) => resolveImagePrice([imagePrice.parse(price)]))
  const given = prices.flatMap((price) => ('given' in price ? [price.given.kind] : []))
  assert.deepEqual(
    new Set(given),
    new Set(['perImage', 'perMegapixel', 'free', 'unpriced'] satisfies GivenPrice['kind'][]),
  )
  assert.deepEqual(
    new Set(prices.map(({ kind }) => kind)),
    new Set(['perImage', 'perMegapixel', 'perTokenKind', 'free', 'unpriced'] satisfies ImagePrice['kind'][]),
  )
})
