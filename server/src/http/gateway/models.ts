/** `GET /v1/models`: what this key may use, with what each model can do. Aliases are listed as models of their own. */
import type { Catalog, EmbeddingModel, NativeDimensions } from '#core/catalog.ts'
import { Fault } from '#core/fault.ts'
import type { Key } from '#ports/keys.ts'
import { findModel, mayUse } from '#request/find-model.ts'
import type { z } from 'zod'
import type { modelObject } from './schemas.ts'

type ModelObject = z.output<typeof modelObject>

export interface ModelListing {
  readonly catalog: Catalog
  readonly key: Key
  /** OpenAI's type wants a time; the start of this node is the only one we have. */
  readonly createdSeconds: number
  readonly maxInputs: number
}

export function listModelObjects(listing: ModelListing): { object: 'list'; data: ModelObject[] } {
  const data = [...listing.catalog.models]
    .filter(([, model]) => mayUse(listing.key, model))
    .map(([name, model]) => describe(name, model, listing))
  return { object: 'list', data }
}

export function oneModelObject(name: string, listing: ModelListing): ModelObject {
  if (name === '') throw new Fault('unknown_path', 'Name a model after /models/.')
  return describe(name, findModel(name, listing.key, listing.catalog), listing)
}

function describe(
  name: string,
  model: EmbeddingModel,
  { createdSeconds, maxInputs }: ModelListing,
): ModelObject {
  const { facts, deployments } = model
  const all = deployments.map(({ capabilities }) => capabilities)
  const narrowest = all.find(({ dimensions }) => dimensions.kind !== 'none')?.dimensions ?? { kind: 'none' }
  return {
    id: name,
    object: 'model',
    created: createdSeconds,
    owned_by: model.ownedBy,
    capabilities: {
      kind: 'embedding',
      ...(name === model.id ? {} : { alias_of: model.id }),
      dimensions: facts.dimensions,
      dimensions_native: nativeText(narrowest),
      dimensions_emulated: facts.matryoshka,
      ...(facts.maxInputTokens === undefined ? {} : { max_input_tokens: facts.maxInputTokens }),
      max_inputs: maxInputs,
      input_types: inputTypesOf(model),
      token_arrays: all.some(({ tokenArrays }) => tokenArrays)
        ? 'native'
        : facts.tokenizer === 'none'
          ? 'unsupported'
          : 'emulated',
      space: model.space,
    },
  }
}

function inputTypesOf({ facts: { inputType } }: EmbeddingModel): string[] {
  if (inputType.rule === 'none') return []
  return Object.keys(inputType.rule === 'field' ? inputType.values : inputType.prefixes)
}

function nativeText(native: NativeDimensions): ModelObject['capabilities']['dimensions_native'] {
  if (native.kind === 'none') return 'fixed'
  return native.kind === 'range' ? { min: native.min, max: native.max } : [...native.values]
}
