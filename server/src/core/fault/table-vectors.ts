/** Faults about the type of vectors. */
import type { FaultEntry } from './entry.ts'

const badRequest = { status: 400, type: 'invalid_request_error', retry: false, who: 'caller' } as const

export const VECTOR_FAULTS = {
  type_unsupported: {
    ...badRequest,
    meaning:
      'The model has no vectors of the type in `output_dtype`, or not of that type and width together. Torana makes a type only where the result is known to be useful, and it never mixes vectors of two makers in one model.',
    nextStep:
      'Use a type that the message names, or leave `output_dtype` out. For `binary` and `ubinary`, measure the loss on your own texts first (docs: Smaller vectors).',
  },
} as const satisfies Record<string, FaultEntry>
