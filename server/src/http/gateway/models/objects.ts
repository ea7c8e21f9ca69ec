/** Models as callers see them, with their capabilities. Aliases are listed as models of their own. */
import type {
  Catalog,
  EmbeddingCapabilities,
  EmbeddingModel,
  ImageEdits,
  ImageModel,
  ImageSizes,
  Model,
  NativeDimensions,
  PixelSize,
} from '#core/catalog/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Key } from '#ports/keys.ts'
import { findModel, mayUse } from '#request/access/find-model.ts'
import type { z } from 'zod'
import type { modelObject } from './schemas.ts'

type ModelObject = z.output<typeof modelObject>
type EmbeddingObject = Extract<ModelObject['capabilities'], { kind: 'embedding' }>
type ImageObject = Extract<ModelObject['capabilities'], { kind: 'image' }>

export interface ModelListing {
  readonly catalog: Catalog
  readonly key: Key
  /** The space that names the model's answers at this width. Undefined if this node does not know it yet. */
  readonly nameSpace: (model: EmbeddingModel, width: number) => string | undefined
  /** OpenAI's type requires a time. The start of this node is the only one that Torana has. */
  readonly createdSeconds: number
  readonly maxInputs: number
  /** Maximum of images that one request may ask for. */
  readonly maxImages: number
  /** Maximum of images that one edit may bring. */
  readonly maxEditPictures: number
  /** Maximum size of one of them. */
  readonly editFileBytes: number
}

export function listModelObjects(listing: ModelListing): { object: 'list'; data: ModelObject[] } {
  const data = [...listing.catalog.models]
    .filter(([, model]) => mayUse(listing.key, model))
    .map(([name, model]) => describe(name, model, listing))
  return { object: 'list', data }
}

export function oneModelObject(name: string, listing: ModelListing): ModelObject {
  if (name === '') throw new Fault('unknown_path', 'The path has no model id after /models/.')
  return describe(name, findModel(name, listing.key, listing.catalog), listing)
}

function describe(name: string, model: Model, listing: ModelListing): ModelObject {
  return {
    id: name,
    object: 'model',
    created: listing.createdSeconds,
    owned_by: model.ownedBy,
    shutdown_date: model.end?.on ?? null,
    capabilities:
      model.kind === 'embedding'
        ? embeddingCapabilities(name, model, listing)
        : imageCapabilities(name, model, listing),
  }
}

function embeddingCapabilities(
  name: string,
  model: EmbeddingModel,
  { maxInputs, nameSpace }: ModelListing,
): EmbeddingObject {
  const { facts, deployments } = model
  const space = nameSpace(model, facts.dimensions)
  const all = deployments.map(({ capabilities }) => capabilities)
  const narrowest = all.find(({ dimensions }) => dimensions.kind !== 'none')?.dimensions ?? { kind: 'none' }
  return {
    kind: 'embedding',
    ...(name === model.id ? {} : { alias_of: model.id }),
    dimensions: facts.dimensions,
    dimensions_native: nativeText(narrowest),
    dimensions_emulated: facts.matryoshka,
    ...(facts.maxInputTokens === undefined ? {} : { max_input_tokens: facts.maxInputTokens }),
    max_inputs: maxInputs,
    ...contentsOf(all),
    input_types: inputTypesOf(model),
    token_arrays: all.some(({ tokenArrays }) => tokenArrays)
      ? 'native'
      : facts.tokenizer === 'none'
        ? 'unsupported'
        : 'emulated',
    ...(space === undefined ? {} : { space }),
  }
}

/** What at least one deployment takes. */
function contentsOf(all: readonly EmbeddingCapabilities[]): Pick<EmbeddingObject, 'contents'> {
  const taken = all.flatMap(({ contents }) => contents ?? [])
  if (taken.length === 0) return {}
  return {
    contents: {
      inputs: [...new Set(taken.flatMap(({ inputs }) => inputs))],
      formats: [...new Set(taken.flatMap(({ formats }) => formats))],
      max_parts: Math.max(...taken.map(({ maxParts }) => maxParts)),
    },
  }
}

/** What at least one deployment can do. A request goes to a deployment that can do all that it asks for. */
function imageCapabilities(name: string, model: ImageModel, listing: ModelListing): ImageObject {
  const all = model.deployments.map(({ capabilities }) => capabilities)
  const edits = all.flatMap((capabilities) => capabilities.edits ?? [])
  const passed = union(all.map(({ passedFormats = [] }) => passedFormats))
  return {
    kind: 'image',
    ...(name === model.id ? {} : { alias_of: model.id }),
    sizes: sizesOf(all.map(({ sizes }) => sizes)),
    qualities: union(all.map(({ qualities }) => qualities)),
    complexities: union(all.map(({ complexities = [] }) => complexities)),
    backgrounds: union(all.map(({ backgrounds }) => backgrounds)),
    moderations: union(all.map(({ moderations }) => moderations)),
    formats: ['png', 'jpeg', 'webp', ...passed],
    formats_native: [...union(all.map(({ formats }) => formats)), ...passed],
    max_images: listing.maxImages,
    max_images_per_call: Math.max(1, ...all.map((capabilities) => capabilities.maxImages)),
    max_prompt_characters: model.facts.maxPromptCharacters,
    stream: all.some(({ stream }) => stream) ? 'native' : 'emulated',
    max_partial_images: Math.max(0, ...all.map(({ maxPartialImages }) => maxPartialImages)),
    response_formats: ['b64_json', 'url'],
    response_format_default: model.facts.answersWith,
    ...(edits.length === 0 ? {} : { edits: editsOf(edits, listing) }),
  }
}

function editsOf(all: readonly ImageEdits[], listing: ModelListing): NonNullable<ImageObject['edits']> {
  const highest = (counts: readonly number[], limit: number) => Math.min(limit, Math.max(...counts))
  return {
    max_images: highest(
      all.map(({ maxInputs }) => maxInputs),
      listing.maxEditPictures,
    ),
    max_file_bytes: highest(
      all.map(({ maxFileBytes }) => maxFileBytes),
      listing.editFileBytes,
    ),
    formats: union(all.map(({ inputFormats }) => inputFormats)),
    mask: all.some(({ mask }) => mask !== undefined),
    markup: all.some(({ markup }) => markup),
    input_fidelities: union(all.map(({ fidelities }) => fidelities)),
  }
}

function union<Value>(lists: readonly (readonly Value[])[]): Value[] {
  return [...new Set(lists.flat())]
}

/** Bounds are more precise than a list, and a list is more precise than `any`. */
function sizesOf(all: readonly ImageSizes[]): ImageObject['sizes'] {
  const free = all.find((sizes) => sizes.kind === 'free')
  if (free) {
    return {
      default: pixelText(free.default),
      multiple_of: free.multipleOf,
      min_pixels: free.minPixels,
      max_pixels: free.maxPixels,
      max_edge: free.maxEdge,
      max_ratio: free.maxRatio,
    }
  }
  const listed = all.flatMap((sizes) => (sizes.kind === 'list' ? sizes.values.map(pixelText) : []))
  return listed.length > 0 ? [...new Set(listed)] : 'any'
}

function pixelText({ width, height }: PixelSize): string {
  return `${width}x${height}`
}

function inputTypesOf({ facts: { inputType } }: EmbeddingModel): string[] {
  if (inputType.rule === 'none') return []
  return Object.keys(inputType.rule === 'field' ? inputType.values : inputType.prefixes)
}

function nativeText(native: NativeDimensions): EmbeddingObject['dimensions_native'] {
  if (native.kind === 'none') return 'fixed'
  return native.kind === 'range' ? { min: native.min, max: native.max } : [...native.values]
}
