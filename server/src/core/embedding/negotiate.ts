/**
 * For each option of a request a deployment is native, emulating, or unable. If none is able, the fault names the option,
 * the reason, and what would work.
 */
import type { Deployment, Encoding, EmbeddingModel, NativeDimensions } from '../catalog/catalog.ts'
import type { EmbeddingRequest } from './request.ts'
import { offersOf, type NegotiatedOf, type Refusal } from '../request/offers.ts'
import { unknownFieldRefusal } from '../request/unknown-fields.ts'
import { vectorTypeRefusal } from './vector-type.ts'
import { typesFor, widthRefusal, type TypeOffer } from './vector-types/offer.ts'

/** What one deployment would do for one request. */
export interface Offer extends TypeOffer {
  readonly deployment: Deployment
  /** Sent upstream; undefined leaves the upstream at its native width. */
  readonly dimensions: number | undefined
  /** Width of the upstream's vectors. */
  readonly upstreamWidth: number
  /** Width of the answer: narrower than `upstreamWidth` when Torana truncates. */
  readonly width: number
  /** The upstream shortens its vectors and leaves them at another length than 1. */
  readonly isScaledHere: boolean
  /** Token arrays are decoded to texts first. */
  readonly decodesTokens: boolean
  /** The upstream's own word for the input type, and the field it goes in. */
  readonly inputType: string | undefined
  readonly inputTypeField: string | undefined
  /** Text put before each input, where the model card prescribes one. */
  readonly prefix: string
  readonly user: string | undefined
  readonly extraFields: Readonly<Record<string, unknown>>
  /** Names of emulated options, for `x-torana-emulated`. */
  readonly emulated: readonly string[]
}

export type Negotiated = NegotiatedOf<Offer>

/** Texts without any option, the most common request: negotiated once per model and encoding. */
const plainCases = new WeakMap<EmbeddingModel, Map<Encoding, Negotiated>>()

export function negotiate(
  request: EmbeddingRequest,
  model: EmbeddingModel,
  unsupported: 'refuse' | 'drop',
): Negotiated {
  if (!isPlain(request)) return negotiateOptions(request, model, unsupported)
  let cases = plainCases.get(model)
  if (cases === undefined) {
    cases = new Map()
    plainCases.set(model, cases)
  }
  let negotiated = cases.get(request.encoding)
  if (negotiated === undefined) {
    negotiated = negotiateOptions(request, model, unsupported)
    cases.set(request.encoding, negotiated)
  }
  return negotiated
}

function isPlain({ input, dimensions, inputType, user, types, extraFields }: EmbeddingRequest): boolean {
  const hasOption =
    dimensions !== undefined || inputType !== undefined || user !== undefined || types !== undefined
  return input.kind === 'texts' && !hasOption && Object.keys(extraFields).length === 0
}

function negotiateOptions(
  request: EmbeddingRequest,
  model: EmbeddingModel,
  unsupported: 'refuse' | 'drop',
): Negotiated {
  return offersOf(request, {
    model,
    unsupported,
    offerOf: (asked, deployment: Deployment) => offerOf(asked, model, deployment),
    withoutOption,
  })
}

function offerOf(request: EmbeddingRequest, model: EmbeddingModel, deployment: Deployment): Offer | Refusal {
  const { capabilities } = deployment
  const emulated: string[] = []

  const typed = typesFor(request.types, model, deployment)
  if ('message' in typed) return typed
  const widths = widthsFor(request.dimensions, model, capabilities.dimensions, typed)
  if ('message' in widths) return widths
  const oddWidth = widthRefusal(typed, widths.width)
  if (oddWidth !== undefined) return oddWidth
  const isScaledHere =
    widths.dimensions !== undefined && !capabilities.unitDimensions && typed.nativeType === undefined
  if (widths.width !== widths.upstreamWidth || isScaledHere) emulated.push('dimensions')

  if (typed.types !== undefined) {
    if (typed.nativeType === undefined) emulated.push('output_dtype')
  } else if (!capabilities.encodings.includes(request.encoding)) emulated.push('encoding_format')

  const decodesTokens =
    request.input.kind === 'tokens' && (!capabilities.tokenArrays || hasPrefix(request, model))
  if (decodesTokens) {
    if (model.facts.tokenizer === 'none') {
      return {
        param: 'input',
        message: `Model '${model.id}' takes texts, and Torana has no tokenizer for it that turns token ids into text. Send strings.`,
      }
    }
    emulated.push('input')
  }

  const inputType = inputTypeFor(request, model)
  if ('message' in inputType) return inputType
  if (inputType.prefix !== '') emulated.push('input_type')

  const refusal =
    vectorTypeRefusal(request.extraFields) ??
    unknownFieldRefusal(Object.keys(request.extraFields), model, deployment)
  if (refusal !== undefined) return refusal
  return {
    deployment,
    ...typed,
    ...widths,
    isScaledHere,
    decodesTokens,
    ...inputType,
    user: capabilities.user ? request.user : undefined,
    extraFields: request.extraFields,
    emulated,
  }
}

interface Widths {
  readonly dimensions: number | undefined
  readonly upstreamWidth: number
  readonly width: number
}

function widthsFor(
  asked: number | undefined,
  model: EmbeddingModel,
  native: NativeDimensions,
  { nativeType }: TypeOffer,
): Widths | Refusal {
  const full = model.facts.dimensions
  if (asked === undefined || asked === full)
    return { dimensions: undefined, upstreamWidth: full, width: full }
  // A vector is cut before its type is made, so one that the upstream typed can't be cut here.
  const mayCut = model.facts.matryoshka && asked < full && nativeType === undefined
  // One cached vector of full width serves every narrower one.
  const isCutHere = model.cache !== undefined && mayCut
  if (takesWidth(native, asked) && !isCutHere)
    return { dimensions: asked, upstreamWidth: asked, width: asked }
  if (mayCut) return { dimensions: undefined, upstreamWidth: full, width: asked }
  return { param: 'dimensions', message: dimensionsMessage(asked, model, native) }
}

/** Whether an upstream makes vectors of this width itself. */
export function takesWidth(native: NativeDimensions, asked: number): boolean {
  switch (native.kind) {
    case 'none':
      return false
    case 'range':
      return asked >= native.min && asked <= native.max
    case 'list':
      return native.values.includes(asked)
  }
}

function dimensionsMessage(asked: number, model: EmbeddingModel, native: NativeDimensions): string {
  const full = model.facts.dimensions
  if (asked > full && native.kind !== 'list') {
    return `dimensions is ${asked}; vectors of '${model.id}' have ${full} and can only be shortened. Send ${full} or less.`
  }
  if (native.kind === 'list') {
    return `dimensions is ${asked}; '${model.id}' takes ${[...new Set([...native.values, full])].join(', ')}.`
  }
  if (native.kind === 'range') {
    const orFull = native.max < full ? ` or ${full}` : ''
    return `dimensions is ${asked}; '${model.id}' takes ${native.min} to ${native.max}${orFull}.`
  }
  return `'${model.id}' has a fixed width of ${full}, and its vectors must not be shortened. Remove dimensions.`
}

function hasPrefix(request: EmbeddingRequest, model: EmbeddingModel): boolean {
  const outcome = inputTypeFor(request, model)
  return 'prefix' in outcome && outcome.prefix !== ''
}

type InputTypeOffer = Pick<Offer, 'inputType' | 'inputTypeField' | 'prefix'>
const NO_INPUT_TYPE: InputTypeOffer = { inputType: undefined, inputTypeField: undefined, prefix: '' }

function inputTypeFor(request: EmbeddingRequest, model: EmbeddingModel): InputTypeOffer | Refusal {
  const rule = model.facts.inputType
  if (rule.rule === 'none') {
    return request.inputType === undefined
      ? NO_INPUT_TYPE
      : {
          param: 'input_type',
          message: `'${model.id}' treats queries and documents in the same way. Remove input_type.`,
        }
  }
  const wanted = request.inputType ?? rule.default
  if (wanted === undefined) return NO_INPUT_TYPE
  const values = rule.rule === 'field' ? rule.values : rule.prefixes
  const value = values[wanted]
  if (value === undefined) {
    return {
      param: 'input_type',
      message: `'${model.id}' has no input_type '${wanted}'. It takes: ${Object.keys(values).join(', ')}.`,
    }
  }
  return rule.rule === 'field'
    ? { inputType: value, inputTypeField: rule.field, prefix: '' }
    : { ...NO_INPUT_TYPE, prefix: value }
}

/**
 * The first field that is sent to one of the deployments although its effect there is not known. It may change the vectors
 * (`task`) or connect inputs (`late_chunking`): then the answer names no space, and nothing is split, merged or shared.
 */
export function fieldOfUnknownEffect(
  offers: readonly Pick<Offer, 'deployment' | 'extraFields'>[],
): string | undefined {
  for (const { deployment, extraFields } of offers)
    for (const name in extraFields) if (!deployment.capabilities.harmlessFields.includes(name)) return name
  return undefined
}

function withoutOption(request: EmbeddingRequest, param: string): EmbeddingRequest | undefined {
  switch (param) {
    case 'dimensions':
      return { ...request, dimensions: undefined }
    case 'input_type':
      return { ...request, inputType: undefined }
    case 'input':
      return undefined
    case request.types?.field:
      return { ...request, types: undefined }
    default: {
      const { [param]: _, ...extraFields } = request.extraFields
      return { ...request, extraFields }
    }
  }
}
