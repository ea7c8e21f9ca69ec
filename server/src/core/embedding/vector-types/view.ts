/** How a request's vectors are written: one view for each type asked for. */
import type { BitType, TypedValues, WholeType } from '../../catalog/vector-type.ts'
import { binaryOf, float16Of, ubinaryOf } from './make.ts'

export type TypeView =
  | { readonly type: 'float' | 'float16' }
  | { readonly type: BitType; readonly scale: 'gt0' }
  /** The upstream made the type; Torana checks and passes it on. */
  | { readonly type: WholeType; readonly scale: 'native' }

/** The end of a space's name: type and scale. Nothing for float. */
export function suffixOf(view: TypeView): string {
  if (!('scale' in view)) return view.type === 'float' ? '' : `/${view.type}`
  return `/${view.type}:${view.scale}`
}

/** Values of the answer, from the values of a vector as the upstream sent it and Torana cut it. */
export function typedOf(values: Float32Array, view: TypeView): TypedValues {
  switch (view.type) {
    case 'float':
      return values
    case 'float16':
      return float16Of(values)
    default:
      return wholeOf(values, view)
  }
}

function wholeOf(
  values: Float32Array,
  view: Exclude<TypeView, { readonly type: 'float' | 'float16' }>,
): TypedValues {
  const { type, scale } = view
  const isSigned = type === 'int8' || type === 'binary'
  if (scale === 'native') return isSigned ? Int8Array.from(values) : Uint8Array.from(values)
  return isSigned ? binaryOf(values) : ubinaryOf(values)
}
