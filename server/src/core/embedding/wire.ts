/** What differs between an embeddings request and the call that went out, and why. It never repeats inputs, only their number. */
import type { Wire, WireDifference } from '../request/request-trace.ts'
import { inputCount } from './input.ts'
import type { EmbeddingRequest } from './request.ts'

const INPUT_NAMES = { texts: 'texts', tokens: 'arrays of token ids', contents: 'contents' } as const

interface Result {
  readonly model: { readonly id: string }
  readonly width: number
  readonly emulated: readonly string[]
  readonly dropped: readonly string[]
}

export function embeddingWire(request: EmbeddingRequest, { model, width, emulated, dropped }: Result): Wire {
  const { dimensions, encoding, inputType, input, types } = request
  const inputs = `${inputCount(input)} ${INPUT_NAMES[input.kind]}`
  const given = {
    model: request.model,
    input: inputs,
    encoding_format: encoding,
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(types === undefined ? {} : { output_dtype: types.types.join(', ') }),
    ...(inputType === undefined ? {} : { input_type: inputType }),
  }
  const gone = new Set([...emulated, ...dropped])
  const sent = Object.fromEntries(
    Object.entries({ ...given, model: model.id }).filter(([name]) => name === 'input' || !gone.has(name)),
  )
  const notes: Readonly<Record<string, string>> = {
    dimensions: `${dimensions ?? width} → not sent, cut here to ${width}`,
    encoding_format: `${encoding} → made here`,
    output_dtype: `${types?.types.join(', ')} → not sent, made here from float32`,
    input: 'token ids → decoded to texts here',
    input_type: `${String(inputType)} → written before each text here`,
  }
  const differences: WireDifference[] = [
    ...emulated.map((field) => ({ field, how: 'emulated' as const, note: notes[field] ?? 'done by Torana' })),
    ...dropped.map((field) => ({
      field,
      how: 'dropped' as const,
      note: 'no deployment takes it, so it was left out',
    })),
  ]
  return { in: given, out: sent, differences }
}
