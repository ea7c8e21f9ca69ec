/** Runs in a worker thread: parses large request bodies and packs token ids, so that handing them over costs nothing. */
import { parentPort } from 'node:worker_threads'
import { JsonRefused, type LiftedFile } from '#ports/json.ts'
import { parsedWithFiles } from './json-files.ts'

export interface JsonRequest {
  readonly id: number
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly hasFiles: boolean
}

export type JsonReply =
  | {
      readonly id: number
      readonly value: unknown
      readonly packed: PackedTokens | undefined
      readonly files: readonly LiftedFile[]
    }
  | { readonly id: number; readonly position: string | undefined; readonly refusal: string | undefined }

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

function parsed({ bytes, hasFiles }: JsonRequest): Omit<Extract<JsonReply, { value: unknown }>, 'id'> {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (hasFiles) return { ...parsedWithFiles(body), packed: undefined }
  const value: unknown = JSON.parse(body.toString('utf8'))
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const packed = isObject ? pack((value as Record<string, unknown>)['input']) : undefined
  if (packed) (value as Record<string, unknown>)['input'] = undefined
  return { value, packed, files: [] }
}

parentPort?.on('message', (request: JsonRequest) => {
  const { id } = request
  try {
    const { value, packed, files } = parsed(request)
    const transfer = files.flatMap(({ bytes }) => (bytes ? [bytes.buffer] : []))
    if (packed) transfer.push(packed.ids.buffer, ...(packed.lengths ? [packed.lengths.buffer] : []))
    parentPort?.postMessage({ id, value, packed, files } satisfies JsonReply, transfer)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const position = /position (\d+)/.exec(String(error))?.[1]
    const refusal = error instanceof JsonRefused ? error.message : undefined
    parentPort?.postMessage({ id, position, refusal } satisfies JsonReply)
  }
  // Nobody waits for the collector: a body may be 32 MB, and the next may be long in coming.
  request.bytes.buffer.transfer(0)
})
