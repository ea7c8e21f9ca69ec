/** The built-in facts as data: wrong facts cost money or spoil vectors without any error. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'

interface ModelFacts {
  readonly kind: string
  readonly aliases?: readonly string[]
  readonly embedding: {
    readonly dimensions: number
    readonly matryoshka: boolean
    readonly inputType: unknown
  }
  readonly capabilities?: { readonly dimensions?: 'none' | readonly number[] | { min: number; max: number } }
  readonly price:
    | string
    | { readonly usdPerMillionTokens: number; readonly source: string; readonly asOf: string }
}

interface ProviderFacts {
  readonly provider: string
  readonly dialect: string
  readonly capabilities: { readonly maxInputs: number; readonly encodings: readonly string[] }
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
const ids = new Set(entries.map(({ id }) => id))

/** Dearer than any text embedding known; beyond it a decimal point has slipped. */
const DEAREST_USD_PER_MILLION_TOKENS = 1
const WIDEST_VECTOR = 16_384
const DATE = /^\d{4}-\d\d-\d\d$/

void test('the catalog knows at least 40 embedding models of at least 12 providers', () => {
  assert.ok(ids.size >= 40, `${ids.size} models`)
  assert.ok(new Set(entries.map(({ file }) => file)).size >= 12)
  for (const { where, model } of entries) assert.equal(model.kind, 'embedding', where)
})

void test('the catalog names each file after its provider and states its wire', () => {
  for (const { file, facts } of providers) {
    assert.equal(facts.provider, file)
    assert.ok(['openai', 'azure', 'ai-sdk'].includes(facts.dialect), file)
    assert.ok(facts.capabilities.maxInputs >= 1, file)
    assert.ok(facts.capabilities.encodings.includes('float'), file)
  }
})

void test('the catalog says the same of one model wherever it is served, so that deployments share a vector space', () => {
  const seen = new Map<string, { where: string; embedding: unknown }>()
  for (const { id, where, model } of entries) {
    const first = seen.get(id)
    if (first) assert.deepEqual(model.embedding, first.embedding, `${where} differs from ${first.where}`)
    else seen.set(id, { where, embedding: model.embedding })
  }
})

void test('the catalog has only plausible prices, each with its source and date', () => {
  for (const { where, model } of entries) {
    if (typeof model.price === 'string') {
      assert.ok(['free', 'unpriced'].includes(model.price), where)
      continue
    }
    const { usdPerMillionTokens, source, asOf } = model.price
    assert.ok(usdPerMillionTokens > 0 && usdPerMillionTokens <= DEAREST_USD_PER_MILLION_TOKENS, where)
    assert.ok(URL.canParse(source), where)
    assert.match(asOf, DATE, where)
  }
})

void test('the catalog has plausible widths, and a native width that the wire takes', () => {
  for (const { where, model } of entries) {
    const width = model.embedding.dimensions
    assert.ok(Number.isInteger(width) && width >= 1 && width <= WIDEST_VECTOR, where)
    const taken = model.capabilities?.dimensions ?? 'none'
    if (taken === 'none') continue
    if ('min' in taken) assert.ok(taken.min >= 1 && taken.min <= width && width <= taken.max, where)
    else assert.ok(taken.includes(width) && taken.every((value) => value <= WIDEST_VECTOR), where)
  }
})

void test('the catalog always tells Cohere models what a text is for, since clients disagree on the default', () => {
  const cohere = entries.filter(({ id }) => id.startsWith('embed-'))
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
