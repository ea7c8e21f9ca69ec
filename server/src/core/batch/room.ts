/** Upper bound of the size of results, known before their lines run: nothing is bought that could not be kept. */
import { inputCount } from '../embedding/input.ts'
import type { BatchLine } from './line.ts'

/** The text around an answer or a refusal: ids, field names, usage, a message. */
const ENVELOPE_BYTES = 2048
/** `{"object":"embedding","index":2047,"embedding":…},` */
const ITEM_BYTES = 64
/** A number as JSON, with its comma: `-1.2345678901234567e-308,`. */
const NUMBER_BYTES = 25
/** Four bytes of a float32, as base64. */
const BASE64_BYTES = 16 / 3
/** A character outside of ASCII is written as `\u00e4`. */
const ESCAPED_BYTES = 6
/** Assumed size of an image: twice a PNG of four megapixels. Larger images are counted with their real size. */
export const PICTURE_BYTES = 8 * 1024 * 1024

/** `widthOf`: the width of a model's vectors; undefined when there is no such model, and the line is refused. */
export function resultBytes(
  { customId, request }: BatchLine,
  widthOf: (model: string) => number | undefined,
): number {
  const names = (customId.length + (request?.model.length ?? 0)) * ESCAPED_BYTES
  const width = request && (request.dimensions ?? widthOf(request.model))
  if (request === undefined || width === undefined) return ENVELOPE_BYTES + names
  const number = request.encoding === 'base64' ? BASE64_BYTES : NUMBER_BYTES
  // The first of several types is written twice, and none takes more than float32.
  const count = request.types === undefined ? 1 : request.types.types.length + 1
  return ENVELOPE_BYTES + names + inputCount(request.input) * (ITEM_BYTES + Math.ceil(width * number)) * count
}
