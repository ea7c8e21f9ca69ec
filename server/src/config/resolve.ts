/** From the forms of the files to the values of the catalog. Each layer overrides those before it, field by field. */
import type {
  EmbeddingCapabilities,
  Encoding,
  EmbeddingFacts,
  InputTypeRule,
  NativeDimensions,
} from '#core/catalog.ts'
import { nanoUsdOf } from '#core/price.ts'
import type { ImagePrice, ImagePriceTable, ImageTokenPrices, Price } from '#core/price.ts'
import type { CapabilityFields, DimensionFields, EmbeddingLayer, InputTypeFields } from './model-schema.ts'
import { nanoUsdIn } from './price-schema.ts'
import type { EmbeddingPriceFields, ImagePriceFields } from './price-schema.ts'

/**
 * Layers from the most general to the most specific. Where none speaks, what every server that calls itself
 * OpenAI-compatible can be trusted with.
 */
export function resolveCapabilities(
  layers: readonly (CapabilityFields | undefined)[],
): EmbeddingCapabilities {
  const fields = layered<CapabilityFields>(layers)
  return {
    maxInputs: fields.maxInputs ?? 2048,
    maxTokens: fields.maxTokens,
    maxBytes: fields.maxBytes,
    encodings: [...new Set<Encoding>(fields.encodings ?? ['float'])],
    tokenArrays: fields.tokenArrays ?? false,
    dimensions: nativeDimensionsOf(fields.dimensions ?? 'none'),
    dimensionsField: fields.dimensionsField ?? 'dimensions',
    user: fields.user ?? false,
    maxParallelCalls: fields.maxParallelCalls ?? 8,
    countsTokens: fields.countsTokens ?? true,
    harmlessFields: fields.harmlessFields ?? [],
  }
}

/** Undefined when no layer knows the width of its vectors. */
export function resolveEmbedding(
  layers: readonly (EmbeddingLayer | undefined)[],
  takesTokenArrays: boolean,
): EmbeddingFacts | undefined {
  const fields = layered<EmbeddingLayer>(layers)
  if (fields.dimensions === undefined) return undefined
  // OpenAI clients such as LangChain send cl100k_base ids whatever the model is.
  const tokenizer = fields.tokenizer ?? 'cl100k_base'
  return {
    dimensions: fields.dimensions,
    matryoshka: fields.matryoshka ?? false,
    maxInputTokens: fields.maxInputTokens,
    tokenizer,
    // Token arrays are in the vocabulary of `tokenizer`: a model that reads them has it for its own.
    tokenCounts: fields.tokenCounts ?? (takesTokenArrays && tokenizer !== 'none' ? 'exact' : 'estimated'),
    inputType: inputTypeRuleOf(fields.inputType ?? 'none'),
  }
}

/** The first that says anything; a price nobody stated is unknown, never zero. */
export function resolvePrice(candidates: readonly (EmbeddingPriceFields | undefined)[]): Price {
  const price = candidates.find((candidate) => candidate !== undefined) ?? 'unpriced'
  if (typeof price === 'string') return { kind: price }
  return { kind: 'perToken', nanoUsdPerMillionTokens: nanoUsdOf(price.usdPerMillionTokens) }
}

export function resolveImagePrice(candidates: readonly (ImagePriceFields | undefined)[]): ImagePrice {
  const price = candidates.find((candidate) => candidate !== undefined) ?? 'unpriced'
  if (typeof price === 'string') return { kind: price }
  if ('usdPerImage' in price) return { kind: 'perImage', nanoUsd: imageTableOf(price.usdPerImage) }
  if ('usdPerMegapixel' in price)
    return { kind: 'perMegapixel', nanoUsdPerMegapixel: nanoUsdOf(price.usdPerMegapixel) }
  return { kind: 'perTokenKind', nanoUsdPerMillionTokens: tokenPricesOf(price.usdPerMillionTokens) }
}

type UsdPerImage = Extract<ImagePriceFields, { usdPerImage: unknown }>['usdPerImage']
type UsdPerTokenKind = Extract<ImagePriceFields, { usdPerMillionTokens: unknown }>['usdPerMillionTokens']

/** One amount for everything is a table that has only its default. */
function imageTableOf(prices: UsdPerImage): ImagePriceTable {
  const bySize = typeof prices === 'object' ? prices : { default: prices }
  return new Map(
    Object.entries(bySize).map(([size, entry]) => {
      const byQuality = typeof entry === 'object' ? entry : { default: entry }
      return [size, new Map(Object.entries(byQuality).map(([quality, form]) => [quality, nanoUsdIn(form)]))]
    }),
  )
}

function tokenPricesOf(prices: UsdPerTokenKind): ImageTokenPrices {
  const { textInput, imageInput, textOutput, imageOutput } = prices
  const nanoUsd = (form: typeof imageInput) => (form === undefined ? undefined : nanoUsdIn(form))
  return {
    textInput: nanoUsdIn(textInput),
    cachedTextInput: nanoUsdIn(prices.cachedTextInput ?? textInput),
    imageInput: nanoUsd(imageInput),
    cachedImageInput: nanoUsd(prices.cachedImageInput ?? imageInput),
    textOutput: nanoUsd(textOutput),
    imageOutput: nanoUsdIn(imageOutput),
  }
}

function layered<Fields extends object>(layers: readonly (Fields | undefined)[]): Partial<Fields> {
  const given = layers.map((layer) => Object.entries(layer ?? {}).filter(([, value]) => value !== undefined))
  return Object.fromEntries(given.flat()) as Partial<Fields>
}

function nativeDimensionsOf(fields: DimensionFields): NativeDimensions {
  if (fields === 'none') return { kind: 'none' }
  return 'min' in fields ? { kind: 'range', ...fields } : { kind: 'list', values: fields }
}

function inputTypeRuleOf(fields: InputTypeFields): InputTypeRule {
  if (fields === 'none') return { rule: 'none' }
  return 'field' in fields ? { rule: 'field', ...fields } : { rule: 'prefix', ...fields }
}
