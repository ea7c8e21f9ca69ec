/**
 * Which types a deployment gives. A type is native in the whole model or in none of it: the first deployment by priority
 * decides, because the same type of two makers has two scales.
 */
import type { Deployment, EmbeddingModel } from '../../catalog/catalog.ts'
import type { Refusal } from '../../request/offers.ts'
import type { AskedTypes } from './asked.ts'
import {
  DIMENSIONS_PER_BYTE,
  isBitType,
  isByteType,
  VECTOR_TYPES,
  type VectorType,
  type WholeType,
} from '../../catalog/vector-type.ts'

export interface TypeOffer {
  /** Undefined: float alone. */
  readonly types?: readonly VectorType[] | undefined
  /** The field that named them. */
  readonly typeField?: string | undefined
  /** The type that the upstream makes itself; it is then the only one. Undefined: it answers with float32. */
  readonly nativeType?: WholeType | undefined
}

const FLOAT: TypeOffer = {}

/** Whether the upstreams of the model make this type themselves. */
function isNativeIn(
  { deployments }: Pick<EmbeddingModel, 'deployments'>,
  type: VectorType,
): type is WholeType {
  if (type === 'float' || type === 'float16') return false
  const [first, ...others] = deployments
  if (first === undefined) return false
  const deciding = others.reduce((one, other) => (other.priority < one.priority ? other : one), first)
  return outputTypesOf(deciding).includes(type)
}

function outputTypesOf({ capabilities }: Deployment): readonly VectorType[] {
  return capabilities.outputTypes ?? ONLY_FLOAT
}
const ONLY_FLOAT: readonly VectorType[] = ['float']

/** Deployments that can't serve a type because the model has it from its upstreams, and they do not. */
export function leftOut(model: EmbeddingModel, type: VectorType): readonly Deployment[] {
  if (!isNativeIn(model, type)) return []
  return model.deployments.filter((deployment) => !outputTypesOf(deployment).includes(type))
}

export function typesFor(
  asked: AskedTypes | undefined,
  model: EmbeddingModel,
  deployment: Deployment,
): TypeOffer | Refusal {
  const own = outputTypesOf(deployment)
  if (asked === undefined)
    return own.includes('float')
      ? FLOAT
      : refusal(
          'output_dtype',
          `${deployment.id} answers with ${own.join(', ')} only. Ask for one of them in 'output_dtype'.`,
        )
  const { field, types } = asked
  const nativeType = types.find((type): type is WholeType => isNativeIn(model, type))
  if (nativeType !== undefined) {
    if (types.length > 1)
      return refusal(
        field,
        `The upstream of '${model.id}' makes ${nativeType} itself, one type in a call. Ask for each type in a request of its own.`,
      )
    if (own.includes(nativeType)) return { types, typeField: field, nativeType }
    return refusal(
      field,
      `${deployment.id} does not make ${nativeType}, and another deployment of '${model.id}' does. Vectors of both would not fit together.`,
    )
  }
  if (!own.includes('float'))
    return refusal(
      field,
      `${deployment.id} answers with ${own.join(', ')} only, and ${types.join(', ')} can't be made of that.`,
    )
  const bits = types.find(isBitType)
  if (bits !== undefined && model.facts.binary === undefined)
    return refusal(
      field,
      `'${model.id}' is not known to keep its meaning in ${bits}. Models that were trained for it keep about 95 of 100 nearest neighbours after rescoring; others may lose 40 of them without, and 10 with it. Measure it on your texts; if you accept the loss, the operator sets 'embedding: { binary: accepted }' for the model.`,
    )
  const byte = types.find(isByteType)
  if (byte !== undefined) return refusal(field, noBytesMessage(model, byte))
  return { types, typeField: field }
}

/** No range is published that fits the vectors of a model, and one of a few vectors would spoil the others silently. */
function noBytesMessage(model: EmbeddingModel, type: VectorType): string {
  const possible = VECTOR_TYPES.filter(
    (one) => isNativeIn(model, one) || (isBitType(one) ? model.facts.binary !== undefined : !isByteType(one)),
  )
  return `'${model.id}' has no ${type}: its first deployment by priority does not make it, and Torana makes none of float32. It has ${possible.join(', ')}.`
}

/** Eight dimensions make a byte, so other widths would be padded with bits that mean nothing. */
export function widthRefusal({ types }: TypeOffer, width: number): Refusal | undefined {
  const bits = types?.find(isBitType)
  if (bits === undefined || width % DIMENSIONS_PER_BYTE === 0) return undefined
  return refusal('dimensions', `${bits} holds eight dimensions in a byte, and ${width} is no multiple of 8.`)
}

function refusal(param: string, message: string): Refusal {
  return { param, message, code: 'type_unsupported' }
}
