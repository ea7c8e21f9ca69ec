import type { JsonBounds } from '#core/json-bounds.ts'
import { JsonRefused, type LargeJson, type LiftedFile } from '#ports/json.ts'
import { Thread } from '#thread/thread.ts'
import type { JsonWorks, PackedTokens, UnreadJson } from './json-worker.ts'

export class WorkerJson implements LargeJson {
  readonly #thread = new Thread<JsonWorks>(new URL('./json-worker.ts', import.meta.url))

  async parse(bytes: Uint8Array<ArrayBuffer>, bounds: JsonBounds): Promise<unknown> {
    const answer = await this.#thread.ask('parse', { bytes, bounds }, { transfer: [bytes.buffer] })
    if (!('value' in answer)) throw errorOf(answer)
    const { value, packed } = answer
    if (packed) (value as Record<string, unknown>)['input'] = unpacked(packed)
    return value
  }

  async parseWithFiles(
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<{ readonly value: unknown; readonly files: readonly LiftedFile[] }> {
    // Small bodies are parts of larger buffers, which belong to others.
    const own = bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
    const answer = await this.#thread.ask('parseWithFiles', own, { transfer: [own.buffer] })
    if (!('value' in answer)) throw errorOf(answer)
    return answer
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}

function errorOf({ refusal, position }: UnreadJson): SyntaxError {
  return refusal === undefined
    ? new SyntaxError(`not JSON at position ${position ?? 'unknown'}`)
    : new JsonRefused(refusal)
}

function unpacked({ ids, lengths }: PackedTokens): Uint32Array | Uint32Array[] {
  if (lengths === undefined) return ids
  let at = 0
  return Array.from(lengths, (length) => ids.subarray(at, (at += length)))
}
