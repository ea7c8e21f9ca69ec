/** The types in which the numbers of a vector are written. `binary` and `ubinary` hold eight dimensions in a byte. */
export const VECTOR_TYPES = ['float', 'float16', 'int8', 'uint8', 'binary', 'ubinary'] as const

export type VectorType = (typeof VECTOR_TYPES)[number]
