/**
 * Fields of vLLM that ask for vectors in another form than little-endian float32, from which Torana makes every type itself.
 */
import type { Refusal } from '../request/offers.ts'

/** By name, the values that change nothing about float32. Of a list, each entry must be one of them. */
const FLOAT32_VALUES: Readonly<Record<string, readonly string[]>> = {
  // vLLM.
  embed_dtype: ['float32'],
  // vLLM. Base64 in another byte order would be read as other numbers.
  endianness: ['native', 'little'],
}

/** Why such a field can't be passed on: the answer would have another width, or other numbers. */
export function vectorTypeRefusal(fields: Readonly<Record<string, unknown>>): Refusal | undefined {
  for (const name in fields) {
    const allowed = Object.hasOwn(FLOAT32_VALUES, name) ? FLOAT32_VALUES[name] : undefined
    if (allowed === undefined) continue
    const values: readonly unknown[] = Array.isArray(fields[name]) ? fields[name] : [fields[name]]
    if (values.length > 0 && values.every((value) => allowed.includes(value as string))) continue
    const message = `'${name}' asks for vectors of another type or byte order, and Torana reads float32 from this server. Remove it, or send '${allowed[0]}'; 'output_dtype' names the type of the answer.`
    return { param: name, message }
  }
  return undefined
}
