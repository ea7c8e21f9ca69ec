/** Runs in a worker thread: parses large request bodies and packs token ids, so that handing them over costs nothing. */
import { parentPort } from 'node:worker_threads'

export interface JsonRequest {
  readonly id: number
  readonly bytes: Uint8Array<ArrayBuffer>
}

export type JsonReply =
  | { readonly id: number; readonly value: unknown; readonly packed?: PackedTokens | undefined }
  | { readonly id: number; readonly position: string | undefined }

/** Token arrays laid end to end; `lengths` is undefined for one flat array. */
export interface PackedTokens {
  readonly ids: Uint32Array<ArrayBuffer>
  readonly lengths: Uint32Array<ArrayBuffer> | undefined
}

function pack(input: unknown): PackedTokens | undefined {
  // An empty list is neither form, and the guard of `input` has words for it.
  if (!Array.isArray(input) || input.length === 0) return undefined
  if (input.every(isTokenId)) return { ids: Uint32Array.from(input), lengths: undefined }
  if (!input.every((entry) => Array.isArray(entry) && entry.every(isTokenId))) return undefined
  const arrays = input as number[][]
  const ids = new Uint32Array(arrays.reduce((sum, entry) => sum + entry.length, 0))
  let at = 0
  for (const entry of arrays) {
    ids.set(entry, at)
    at += entry.length
  }
  return { ids, lengths: Uint32Array.from(arrays, (entry) => entry.length) }
}

function isTokenId(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 0x7f_ff_ff_ff
}

parentPort?.on('message', ({ id, bytes }: JsonRequest) => {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1]
    parentPort?.postMessage({ id, position } satisfies JsonReply)
    return
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const packed = isObject ? pack((value as Record<string, unknown>)['input']) : undefined
  if (packed) (value as Record<string, unknown>)['input'] = undefined
  const transfer = packed ? [packed.ids.buffer, ...(packed.lengths ? [packed.lengths.buffer] : [])] : []
  parentPort?.postMessage({ id, value, packed } satisfies JsonReply, transfer)
})
