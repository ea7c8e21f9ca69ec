/** The views in which a request's vectors are written, and the names of their spaces. */
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import { readSpace, spaceOf, type ModelSpace } from '#core/embedding/space.ts'
import type { Calibration } from '#core/embedding/vector-types/calibration.ts'
import { fitsFloat16 } from '#core/embedding/vector-types/make.ts'
import { isByteType, type ByteType, type VectorType } from '#core/catalog/vector-type.ts'
import type { TypeView } from '#core/embedding/vector-types/view.ts'
import { valuesOf, type Vector } from '#core/embedding/vector.ts'
import { Fault } from '#core/fault/fault.ts'
import { guardedSpaceFor, UNKNOWN_RETRY_MS } from './space.ts'

/** The calibrations that this node knows. */
export interface Calibrations {
  /** The one with this id, else the newest of the space. Undefined: there is none. */
  readonly calibrationOf: (floatSpace: string, id: string | undefined) => Calibration | undefined
}

interface ViewTerms extends Calibrations {
  readonly model: EmbeddingModel
  readonly generation: number | undefined
  /** The space that the caller pinned: it may name an earlier calibration. */
  readonly pinned: string | undefined
}

/** Undefined: float alone, as upstreams send it. */
function viewsFor(
  { types, typeField, nativeType, width }: Pick<Offer, 'types' | 'typeField' | 'nativeType' | 'width'>,
  terms: ViewTerms,
): readonly TypeView[] | undefined {
  if (nativeType !== undefined) return [{ type: nativeType, scale: 'native' }]
  return types?.map((type) => viewOf(type, width, { ...terms, field: typeField }))
}

/** Whether a type that was asked for needs a calibration that does not exist. */
export function lacksCalibration(offer: Offer, terms: ViewTerms): boolean {
  try {
    viewsFor(offer, terms)
    return false
  } catch (error) {
    if (error instanceof Fault && error.code === 'calibration_missing') return true
    throw error
  }
}

/** `field`: the one that named the type. */
type NamedTerms = ViewTerms & { readonly field: string | undefined }

function viewOf(type: VectorType, width: number, terms: NamedTerms): TypeView {
  if (type === 'float' || type === 'float16') return { type }
  return isByteType(type) ? { type, scale: calibrationFor(type, width, terms) } : { type, scale: 'gt0' }
}

function calibrationFor(
  type: ByteType,
  width: number,
  { model, generation, pinned, field, calibrationOf }: NamedTerms,
): Calibration {
  if (generation === undefined)
    throw new Fault(
      'space_unknown',
      `${type} belongs to a calibrated vector space, and this node does not know the space of '${model.id}' yet. Retry.`,
      { retryAfterMs: UNKNOWN_RETRY_MS },
    )
  const space = spaceOf(model.id, width, generation)
  // The pin may name the model or a declared space; a calibration of another space counts for nothing.
  const calibration = calibrationOf(space, pinned === undefined ? undefined : readSpace(pinned)?.calibration)
  if (calibration !== undefined) return calibration
  throw new Fault(
    'calibration_missing',
    `'${model.id}' has no calibration for ${type} at ${width} dimensions. The operator makes one with 'torana calibrate --model ${model.id}${width === model.facts.dimensions ? '' : ` --dimensions ${width}`} --file corpus.txt'. float16 needs none.`,
    { param: field },
  )
}

/** What decides the space of a request beside its model. */
interface SpaceTerms {
  /** Undefined: this node does not know it yet. */
  readonly now: ModelSpace | undefined
  readonly pinned: string | undefined
  readonly unknownField: string | undefined
}

/** The types of the answer, and the space that its vectors belong to. */
export function spaceFor(
  model: EmbeddingModel,
  first: Offer,
  { now, pinned, unknownField }: SpaceTerms,
  { calibrationOf }: Calibrations,
): { readonly views: readonly TypeView[] | undefined; readonly guardedSpace: string | undefined } {
  const views = viewsFor(first, { model, generation: now?.generation, pinned, calibrationOf })
  return { views, guardedSpace: guardedSpaceFor(model, first.width, now, pinned, unknownField, views) }
}

/** Vectors of unit length always fit; a model that does not scale its vectors may have values that do not. */
export function checkFloat16(
  vectors: readonly Vector[],
  views: readonly TypeView[],
  { typeField }: Offer,
): void {
  if (!views.some(({ type }) => type === 'float16')) return
  const index = vectors.findIndex((vector) => !fitsFloat16(valuesOf(vector)))
  if (index === -1) return
  throw new Fault(
    'type_unsupported',
    `The vector of input[${index}] has a value beyond 65,504, the largest of float16. Ask for float.`,
    { param: typeField },
  )
}
