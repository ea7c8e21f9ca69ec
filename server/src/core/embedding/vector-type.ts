/**
 * Fields that ask servers for vectors other than little-endian float32, the only type that Torana reads and answers with.
 */
import type { Refusal } from '../request/offers.ts'

/** By name, the values that change nothing about float32. Of a list, each entry must be one of them. */
const FLOAT32_VALUES: Readonly<Record<string, readonly string[]>> = {
  // Voyage and Mistral.
  output_dtype: ['float', 'float32'],
  // Cohere. Base64 is of float32.
  embedding_types: ['float', 'base64'],
  // Jina.
  embedding_type: ['float', 'base64'],
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
    const message = `'${name}' asks for vectors of another type or byte order, and Torana answers with float32 vectors only. Remove it, or send '${allowed[0]}'.`
    return { param: name, message }
  }
  return undefined
}
