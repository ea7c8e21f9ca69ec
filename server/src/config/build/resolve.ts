/** From the forms of the files to the values of the catalog. Each layer overrides those before it, field by field. */
import type {
  EmbeddingCapabilities,
  Encoding,
  EmbeddingFacts,
  ImageCapabilities,
  ImageEdits,
  ImageFacts,
  ImageFormat,
  ImageSizes,
  ImageTokenTable,
  InputTypeRule,
  NativeDimensions,
  PassedFormat,
  PictureForm,
  PixelSize,
} from '#core/catalog/catalog.ts'
import { SINGLE_WIRES } from '#core/catalog/content-capabilities.ts'
import { nanoUsdOf } from '#core/money/price.ts'
import type { GivenPrice, ImagePrice, ImagePriceTable, ImageTokenPrices, Price } from '#core/money/price.ts'
import type { EditFields, EditLayer } from '../schema/edit.ts'
import { edgesOf } from '../schema/image.ts'
import type { ImageLayer, ImageSizeFields } from '../schema/image.ts'
import type {
  CapabilityFields,
  DimensionFields,
  EmbeddingLayer,
  ImageCapabilityFields,
  InputTypeFields,
} from '../schema/model.ts'
import { partRatesOf, resolveContents } from './contents.ts'
import { nanoUsdIn } from '../schema/price.ts'
import type { EmbeddingPriceFields, ImagePriceFields } from '../schema/price.ts'

/**
 * Layers from the most general to the most specific. The defaults are what every server that calls itself OpenAI-compatible
 * supports.
 */
export function resolveCapabilities(
  layers: readonly (CapabilityFields | undefined)[],
): EmbeddingCapabilities {
  const fields = layered<CapabilityFields>(layers)
  const isSingle = fields.contents !== undefined && SINGLE_WIRES.has(fields.contents.wire)
  return {
    maxInputs: isSingle ? 1 : (fields.maxInputs ?? 2048),
    maxTokens: fields.maxTokens,
    maxBytes: fields.maxBytes,
    encodings: [...new Set<Encoding>(fields.encodings ?? ['float'])],
    tokenArrays: fields.tokenArrays ?? false,
    dimensions: nativeDimensionsOf(fields.dimensions ?? 'none'),
    dimensionsField: fields.dimensionsField ?? 'dimensions',
    unitDimensions: fields.unitDimensions ?? true,
    ...(fields.outputTypes && { outputTypes: [...new Set(fields.outputTypes)] }),
    ...(fields.outputTypeField !== undefined && { outputTypeField: fields.outputTypeField }),
    user: fields.user ?? false,
    maxParallelCalls: fields.maxParallelCalls ?? 8,
    countsTokens: fields.countsTokens ?? true,
    harmlessFields: fields.harmlessFields ?? [],
    ...(fields.contents && { contents: resolveContents(fields.contents) }),
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
    ...(fields.mediaTokens && { mediaTokens: fields.mediaTokens }),
    ...(fields.binary && { binary: fields.binary }),
  }
}

/** The defaults are the minimum that every upstream for images supports. */
export function resolveImageCapabilities(
  layers: readonly (ImageCapabilityFields | undefined)[],
): ImageCapabilities {
  const fields = layered<ImageCapabilityFields>(layers)
  return {
    maxImages: fields.maxImages ?? 1,
    sizes: imageSizesOf(fields.sizes ?? { any: '1024x1024' }),
    qualities: [...new Set(fields.qualities)],
    backgrounds: [...new Set(fields.backgrounds)],
    moderations: [...new Set(fields.moderations)],
    ...(fields.complexities && { complexities: [...new Set(fields.complexities)] }),
    ...formatsOf(fields.formats ?? ['png']),
    compression: fields.compression ?? false,
    forms: [...new Set<PictureForm>(fields.forms ?? ['b64_json'])],
    stream: fields.stream ?? false,
    maxPartialImages: fields.maxPartialImages ?? 0,
    user: fields.user ?? false,
    maxParallelCalls: fields.maxParallelCalls ?? 4,
    harmlessFields: fields.harmlessFields ?? [],
    ...(fields.refusedFields && { refusedFields: fields.refusedFields }),
    ...(typeof fields.reportedCost === 'object' && { reportedCost: fields.reportedCost }),
    edits: editsOf(layers.map((layer) => layer?.edits)),
  }
}

function formatsOf(
  names: readonly (ImageFormat | PassedFormat)[],
): Pick<ImageCapabilities, 'formats' | 'passedFormats'> {
  const formats = new Set<ImageFormat>()
  const passed = new Set<PassedFormat>()
  for (const name of names) {
    if (name === 'gif' || name === 'svg') passed.add(name)
    else formats.add(name)
  }
  return { formats: [...formats], ...(passed.size > 0 && { passedFormats: [...passed] }) }
}

/** `none` discards all layers before it; later layers start from the defaults. */
function editsOf(layers: readonly (EditLayer | undefined)[]): ImageEdits | undefined {
  const said = layers.slice(layers.lastIndexOf('none') + 1).filter(isEditFields)
  if (said.length === 0) return undefined
  const { mask = 'none', ...fields } = layered<EditFields>(said)
  return {
    maxInputs: fields.maxInputs ?? 1,
    inputFormats: fields.inputFormats ?? ['png', 'jpeg', 'webp'],
    mask: mask === 'none' ? undefined : mask,
    markup: fields.markup ?? false,
    fidelities: fields.fidelities ?? [],
    bodies: fields.bodies ?? ['multipart'],
    ...(fields.imageField && { imageField: fields.imageField }),
    maxFileBytes: fields.maxFileBytes ?? 50 * 1024 * 1024,
  }
}

function isEditFields(layer: EditLayer | undefined): layer is EditFields {
  return layer !== undefined && layer !== 'none'
}

export function resolveImage(layers: readonly (ImageLayer | undefined)[]): ImageFacts {
  const {
    maxPromptCharacters = 32_000,
    answersWith = 'b64_json',
    outputTokens,
    inputImageTokens,
  } = layered<ImageLayer>(layers)
  return {
    maxPromptCharacters,
    answersWith,
    outputTokens: outputTokens === undefined ? undefined : tokenTableOf(outputTokens),
    inputImageTokens,
  }
}

/** The first layer with a price; a price that no layer states is unknown, never zero. */
export function resolvePrice(candidates: readonly (EmbeddingPriceFields | undefined)[]): Price {
  const price = candidates.find((candidate) => candidate !== undefined) ?? 'unpriced'
  if (typeof price === 'string') return { kind: price }
  if (price.usdPerInput !== undefined) return { kind: 'perPart', rates: partRatesOf(price.usdPerInput) }
  return { kind: 'perToken', nanoUsdPerMillionTokens: nanoUsdOf(price.usdPerMillionTokens) }
}

export function resolveImagePrice(candidates: readonly (ImagePriceFields | undefined)[]): ImagePrice {
  const price = candidates.find((candidate) => candidate !== undefined) ?? 'unpriced'
  if (typeof price === 'string') return { kind: price }
  if ('usdPerMillionTokens' in price)
    return { kind: 'perTokenKind', nanoUsdPerMillionTokens: tokenPricesOf(price.usdPerMillionTokens) }
  const given = givenPriceOf(price)
  if ('usdPerImage' in price) return { kind: 'perImage', nanoUsd: imageTableOf(price.usdPerImage), given }
  return { kind: 'perMegapixel', nanoUsdPerMegapixel: nanoUsdOf(price.usdPerMegapixel), given }
}

/** The schema let one of them pass at most. */
function givenPriceOf({ usdPerGivenImage, usdPerGivenMegapixel }: UsdPerGiven): GivenPrice {
  const usd = usdPerGivenImage ?? usdPerGivenMegapixel
  if (usd === undefined) return { kind: 'free' }
  if (usd === 'unknown') return { kind: 'unpriced' }
  return { kind: usdPerGivenImage === undefined ? 'perMegapixel' : 'perImage', nanoUsd: nanoUsdOf(usd) }
}

type UsdPerGiven = Pick<
  Extract<ImagePriceFields, { usdPerImage: unknown }>,
  'usdPerGivenImage' | 'usdPerGivenMegapixel'
>
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

function tokenTableOf(tokens: NonNullable<ImageLayer['outputTokens']>): ImageTokenTable {
  const bySize = typeof tokens === 'object' ? tokens : { default: tokens }
  return new Map(
    Object.entries(bySize).map(([size, entry]) => {
      const byQuality = typeof entry === 'object' ? entry : { default: entry }
      return [size, new Map(Object.entries(byQuality))]
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
    ...(prices.svgInput !== undefined && { svgInput: nanoUsdIn(prices.svgInput) }),
    ...(prices.svgOutput !== undefined && { svgOutput: nanoUsdIn(prices.svgOutput) }),
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

function imageSizesOf(fields: ImageSizeFields): ImageSizes {
  if ('any' in fields) return { kind: 'any', default: pixelsOf(fields.any) }
  if ('default' in fields) {
    const { maxEdge, multipleOf = 1, minPixels = 1, maxPixels = maxEdge ** 2, maxRatio = maxEdge } = fields
    const bounds = { multipleOf, minPixels, maxPixels, maxEdge, maxRatio }
    return { kind: 'free', default: pixelsOf(fields.default), ...bounds }
  }
  const values = fields.map((entry) => {
    if (typeof entry === 'string') return pixelsOf(entry)
    const { size, ...words } = entry
    return { ...pixelsOf(size), ...words }
  })
  return { kind: 'list', values }
}

function pixelsOf(size: string): PixelSize {
  const [width, height] = edgesOf(size)
  return { width, height }
}
