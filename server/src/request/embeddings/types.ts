/** The views in which a request's vectors are written, and the names of their spaces. */
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import type { ModelSpace } from '#core/embedding/space.ts'
import { fitsFloat16 } from '#core/embedding/vector-types/make.ts'
import { isBitType, isByteType } from '#core/catalog/vector-type.ts'
import type { TypeView } from '#core/embedding/vector-types/view.ts'
import { valuesOf, type Vector } from '#core/embedding/vector.ts'
import { Fault } from '#core/fault/fault.ts'
import { guardedSpaceFor } from './space.ts'

/** Undefined: float alone, as upstreams send it. */
function viewsFor({
  types,
  nativeType,
}: Pick<Offer, 'types' | 'nativeType'>): readonly TypeView[] | undefined {
  if (nativeType !== undefined) return [{ type: nativeType, scale: 'native' }]
  return types?.map((type): TypeView => {
    if (isByteType(type)) throw new Error(`an offer has ${type} that no upstream makes`)
    return isBitType(type) ? { type, scale: 'gt0' } : { type }
  })
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
): { readonly views: readonly TypeView[] | undefined; readonly guardedSpace: string | undefined } {
  const views = viewsFor(first)
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
