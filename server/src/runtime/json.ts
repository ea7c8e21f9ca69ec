import { JsonRefused, type LargeJson, type LiftedFile } from '#ports/json.ts'
import type { JsonReply, JsonRequest, PackedTokens } from './json-worker.ts'
import { Thread } from './thread.ts'

export class WorkerJson implements LargeJson {
  readonly #thread = new Thread<JsonRequest, JsonReply>(new URL('./json-worker.ts', import.meta.url))

  async parse(bytes: Uint8Array<ArrayBuffer>): Promise<unknown> {
    const { value, packed } = await this.#parsed(bytes, false)
    if (packed) (value as Record<string, unknown>)['input'] = unpacked(packed)
    return value
  }

  async parseWithFiles(
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<{ readonly value: unknown; readonly files: readonly LiftedFile[] }> {
    // Small bodies are parts of larger buffers, which belong to others.
    const own = bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
    const { value, files } = await this.#parsed(own, true)
    return { value, files }
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  async #parsed(
    bytes: Uint8Array<ArrayBuffer>,
    hasFiles: boolean,
  ): Promise<Extract<JsonReply, { value: unknown }>> {
    const reply = await this.#thread.ask({ bytes, hasFiles }, [bytes.buffer])
    if ('value' in reply) return reply
    if (reply.refusal !== undefined) throw new JsonRefused(reply.refusal)
    throw new SyntaxError(`not JSON at position ${reply.position ?? 'unknown'}`)
  }
}

function unpacked({ ids, lengths }: PackedTokens): Uint32Array | Uint32Array[] {
  if (lengths === undefined) return ids
  let at = 0
  return Array.from(lengths, (length) => ids.subarray(at, (at += length)))
}
