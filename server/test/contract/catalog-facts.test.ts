/** The built-in facts as data: wrong facts cost money or spoil vectors without any error. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { builtInFacts } from '#config/build/facts.ts'
import { resolveImageCapabilities, resolveImagePrice } from '#config/build/resolve.ts'
import { parse } from 'yaml'

interface EmbeddingFacts {
  readonly kind: 'embedding'
  readonly aliases?: readonly string[]
  readonly embedding: {
    readonly dimensions: number
    readonly matryoshka: boolean
    readonly inputType: unknown
  }
  readonly capabilities?: { readonly dimensions?: 'none' | readonly number[] | { min: number; max: number } }
  readonly price:
    | string
    | {
        readonly usdPerMillionTokens?: number
        readonly usdPerInput?: Readonly<Record<string, number>>
        readonly source: string
        readonly asOf: string
      }
}

interface ImageFacts {
  readonly kind: 'image'
  readonly aliases?: readonly string[]
  readonly image?: unknown
  readonly capabilities?: { readonly sizes?: unknown }
  readonly price:
    | string
    | {
        readonly usdPerImage?: unknown
        readonly usdPerMegapixel?: unknown
        readonly usdPerMillionTokens?: unknown
        readonly source: string
        readonly asOf: string
      }
}

type ModelFacts = EmbeddingFacts | ImageFacts

interface ProviderFacts {
  readonly provider: string
  readonly dialect: string
  readonly imageDialect?: string
  readonly imageCapabilities?: { readonly formats: readonly string[]; readonly sizes?: unknown }
  readonly capabilities?: { readonly maxInputs: number; readonly encodings: readonly string[] }
  readonly models?: Readonly<Record<string, ModelFacts>>
  readonly retired?: Readonly<Record<string, { readonly on: string; readonly successor?: string }>>
}

const folder = join(import.meta.dirname, '../../catalog')
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
const providers = files.map((name) => ({
  file: basename(name, '.yaml'),
  facts: parse(readFileSync(join(folder, name), 'utf8')) as ProviderFacts,
}))
const entries = providers.flatMap(({ file, facts }) =>
  Object.entries(facts.models ?? {}).map(([id, model]) => ({ where: `${file}: ${id}`, file, id, model })),
)
const embeddings = entries.flatMap(({ model, ...entry }) =>
  model.kind === 'embedding' ? [{ ...entry, model }] : [],
)
const images = entries.flatMap(({ model, ...entry }) => (model.kind === 'image' ? [{ ...entry, model }] : []))
const ids = new Set(entries.map(({ id }) => id))

/** Dearer than any text embedding known; beyond it a decimal point has slipped. */
const MAX_USD_PER_MILLION_TOKENS = 1
/** Dearer than any known million tokens of audio or video, and than any known image, second, page or thousand characters. */
const MAX_USD_PER_MILLION_MEDIA_TOKENS = 20
const MAX_USD_PER_PART = 0.01
const WIDEST_VECTOR = 16_384
/** More than any known image costs at its largest and best. */
const MAX_USD_PER_IMAGE = 2
const MAX_USD_PER_MILLION_IMAGE_TOKENS = 200
const DATE = /^\d{4}-\d\d-\d\d$/

void test('the catalog knows at least 40 embedding models of at least 12 providers, and 30 image models of 12', () => {
  for (const [some, least] of [
    [embeddings, 40],
    [images, 30],
  ] as const) {
    const known = new Set(some.map(({ id }) => id))
    assert.ok(known.size >= least, `${known.size} models`)
    assert.ok(new Set(some.map(({ file }) => file)).size >= 12)
  }
  assert.equal(embeddings.length + images.length, entries.length)
})

void test('the catalog names each file after its provider and states its wire', () => {
  for (const { file, facts } of providers) {
    assert.equal(facts.provider, file)
    assert.ok(['openai', 'azure', 'ai-sdk'].includes(facts.dialect), file)
    const kinds = new Set(Object.values(facts.models ?? {}).map(({ kind }) => kind))
    if (kinds.has('embedding') || facts.capabilities) {
      assert.ok((facts.capabilities?.maxInputs ?? 0) >= 1, file)
      assert.ok(facts.capabilities?.encodings.includes('float'), file)
    }
    if (kinds.has('image')) assert.ok((facts.imageCapabilities?.formats.length ?? 0) >= 1, file)
    if (facts.imageDialect !== undefined) assert.notEqual(facts.imageDialect, facts.dialect, file)
  }
})

void test('the catalog says the same of one model wherever it is served, so that deployments share a vector space', () => {
  const seen = new Map<string, { where: string; everywhere: unknown }>()
  for (const { id, where, model } of entries) {
    const everywhere = model.kind === 'embedding' ? model.embedding : { image: model.image ?? {} }
    const first = seen.get(id)
    if (first) assert.deepEqual(everywhere, first.everywhere, `${where} differs from ${first.where}`)
    else seen.set(id, { where, everywhere })
  }
})

void test('the catalog has only plausible prices of images, each with its source and date', () => {
  for (const { where, model } of images) {
    if (typeof model.price === 'string') {
      assert.ok(['free', 'unpriced'].includes(model.price), where)
      continue
    }
    const { usdPerImage, usdPerMegapixel, usdPerMillionTokens, source, asOf } = model.price
    for (const usd of [...numbersIn(usdPerImage), ...numbersIn(usdPerMegapixel)])
      assert.ok(usd > 0 && usd <= MAX_USD_PER_IMAGE, `${where}: ${usd}`)
    for (const usd of numbersIn(usdPerMillionTokens))
      assert.ok(usd > 0 && usd <= MAX_USD_PER_MILLION_IMAGE_TOKENS, `${where}: ${usd}`)
    assert.ok(URL.canParse(source), where)
    assert.match(asOf, DATE, where)
  }
})

void test('the catalog knows the tokens of each picture that is charged by them, so that they can be reserved', () => {
  for (const { where, model } of images) {
    if (typeof model.price === 'string' || model.price.usdPerMillionTokens === undefined) continue
    const { outputTokens } = model.image as { outputTokens?: unknown }
    const counts = numbersIn(outputTokens)
    assert.ok(counts.length > 0, where)
    // The most expensive image of the most expensive model takes some ten thousand; more is a typo.
    assert.ok(
      counts.every((count) => Number.isInteger(count) && count >= 100 && count <= 250_000),
      where,
    )
  }
})

const editing = [...builtInFacts().values()].flatMap(({ provider, imageCapabilities, models }) =>
  Object.entries(models).flatMap(([id, model]) => {
    if (model.kind !== 'image' || provider === 'demo') return []
    const { edits } = resolveImageCapabilities([imageCapabilities, model.capabilities])
    return edits === undefined ? [] : [{ where: `${provider}: ${id}`, provider, model, edits }]
  }),
)

void test('the catalog knows the tokens and the price of a given picture where edits are charged by tokens', () => {
  for (const { where, model } of editing) {
    const price = resolveImagePrice([model.price])
    if (price.kind !== 'perTokenKind') continue
    assert.notEqual(price.nanoUsdPerMillionTokens.imageInput, undefined, where)
    const { inputImageTokens = 0 } = model.image
    assert.ok(inputImageTokens >= 100 && inputImageTokens <= 50_000, where)
  }
})

void test('the catalog claims no picture and no mask that would be left out or misread', () => {
  /** The maximum that each package of the AI SDK passes on. */
  const mostPictures: Readonly<Record<string, number>> = {
    fal: 1,
    fireworks: 1,
    luma: 0,
    replicate: 1,
    togetherai: 1,
    'black-forest-labs': 10,
  }
  for (const { where, provider, edits } of editing) {
    assert.ok(edits.maxInputs <= (mostPictures[provider] ?? 16), where)
    // Only providers whose way of marking was seen.
    assert.equal(edits.mask, ['openai', 'azure'].includes(provider) ? 'alpha' : undefined, where)
  }
  assert.ok(new Set(editing.map(({ provider }) => provider)).size >= 9)
})

void test('the catalog says of each image model which sizes it makes, be it that the upstream decides', () => {
  for (const { where, file, model } of images) {
    const provider = providers.find(({ facts }) => facts.provider === file)
    assert.ok(model.capabilities?.sizes ?? provider?.facts.imageCapabilities?.sizes, where)
  }
})

void test('the catalog has only plausible prices of embeddings, each with its source and date', () => {
  for (const { where, model } of embeddings) {
    if (typeof model.price === 'string') {
      assert.ok(['free', 'unpriced'].includes(model.price), where)
      continue
    }
    const { usdPerMillionTokens, usdPerInput = {}, source, asOf } = model.price
    const amounts = { ...usdPerInput, ...(usdPerMillionTokens === undefined ? {} : { usdPerMillionTokens }) }
    assert.ok(Object.keys(amounts).length > 0, where)
    for (const [unit, usd] of Object.entries(amounts)) {
      const isText = unit === 'millionTextTokens' || unit === 'usdPerMillionTokens'
      const most = unit.startsWith('million') ? MAX_USD_PER_MILLION_MEDIA_TOKENS : MAX_USD_PER_PART
      assert.ok(usd > 0 && usd <= (isText ? MAX_USD_PER_MILLION_TOKENS : most), `${where}: ${unit}`)
    }
    assert.ok(URL.canParse(source), where)
    assert.match(asOf, DATE, where)
  }
})

void test('the catalog has plausible widths, and a native width that the wire takes', () => {
  for (const { where, model } of embeddings) {
    const width = model.embedding.dimensions
    assert.ok(Number.isInteger(width) && width >= 1 && width <= WIDEST_VECTOR, where)
    const taken = model.capabilities?.dimensions ?? 'none'
    if (taken === 'none') continue
    if ('min' in taken) assert.ok(taken.min >= 1 && taken.min <= width && width <= taken.max, where)
    else assert.ok(taken.includes(width) && taken.every((value) => value <= WIDEST_VECTOR), where)
  }
})

void test('the catalog always tells Cohere models what a text is for, since clients disagree on the default', () => {
  const cohere = embeddings.filter(({ id }) => id.startsWith('embed-'))
  assert.ok(cohere.length > 0)
  for (const { where, model } of cohere) {
    assert.equal((model.embedding.inputType as { default?: string }).default, 'document', where)
  }
})

void test('the catalog gives no id two meanings', () => {
  const meanings = new Map<string, string>()
  for (const { id, where, model } of entries) {
    for (const alias of model.aliases ?? []) {
      assert.ok(!ids.has(alias), `${where}: alias ${alias} is a model`)
      assert.equal(meanings.get(alias) ?? id, id, where)
      meanings.set(alias, id)
    }
  }
  for (const { file, facts } of providers) {
    for (const [id, { on, successor }] of Object.entries(facts.retired ?? {})) {
      assert.ok(!ids.has(id) && !meanings.has(id), `${file}: ${id} is retired and offered`)
      assert.match(on, DATE, id)
      if (successor !== undefined) assert.ok(ids.has(successor), `${file}: ${successor} is unknown`)
    }
  }
})

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}
