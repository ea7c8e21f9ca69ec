/** Vectors as JSON: numbers, or base64 of little-endian values of their type. */
import type { Encoding } from '../catalog/catalog.ts'
import { numberTextOf } from './number-text.ts'
import { base64Of, encodeBase64, jsonOf, valuesOf, type Vector } from './vector.ts'
import { bytesOf, numbersOf, type TypedValues } from '../catalog/vector-type.ts'
import { typedOf, type TypeView } from './vector-types/view.ts'

/** The fields of an item of the answer behind its index: `embedding`, and `embeddings` by type where several are asked for. */
export function typedFields(
  vector: Vector,
  views: readonly TypeView[],
  encoding: Encoding,
  textOf: (ascii: Uint8Array) => string,
): string {
  const values = valuesOf(vector)
  const texts = views.map((view) => valueText(vector, values, view, encoding, textOf))
  const first = `"embedding":${texts[0]}`
  if (texts.length === 1) return first
  return `${first},"embeddings":{${views.map(({ type }, index) => `"${type}":${texts[index]}`).join()}}`
}

function valueText(
  vector: Vector,
  values: Float32Array,
  view: TypeView,
  encoding: Encoding,
  textOf: (ascii: Uint8Array) => string,
): string {
  if (view.type === 'float') return encoding === 'base64' ? `"${base64Of(vector)}"` : textOf(jsonOf(vector))
  const typed = typedOf(values, view)
  if (encoding === 'base64') return `"${typedBase64(typed)}"`
  // Every float16 is a float32, whose shortest text reads back as the same float16.
  if (typed instanceof Float16Array) return textOf(numberTextOf(Float32Array.from(typed)))
  return `[${typed.join()}]`
}

/** Little-endian. */
function typedBase64(typed: TypedValues): string {
  if (typed instanceof Float32Array) return encodeBase64(typed)
  if (!(typed instanceof Float16Array))
    return new Uint8Array(typed.buffer, typed.byteOffset, typed.byteLength).toBase64()
  const bytes = new Uint8Array(typed.length * 2)
  const view = new DataView(bytes.buffer)
  for (let index = 0; index < typed.length; index += 1)
    view.setFloat16(index * 2, typed[index] as number, true)
  return bytes.toBase64()
}

/** Average characters of a number: digits, sign, point and comma. */
const NUMBER_CHARACTERS = { float: 13, float16: 9, int8: 4, uint8: 4, binary: 4, ubinary: 4 } as const

/** About how many characters one vector of this width takes in all views. */
export function textLengthOf(views: readonly TypeView[], width: number, encoding: Encoding): number {
  let length = 0
  for (const { type } of views)
    length +=
      encoding === 'base64'
        ? Math.ceil((bytesOf(type, width) * 4) / 3)
        : numbersOf(type, width) * NUMBER_CHARACTERS[type]
  return length
}
