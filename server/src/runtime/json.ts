import type { LargeJson } from '#ports/json.ts'
import type { JsonReply, JsonRequest, PackedTokens } from './json-worker.ts'
import { Thread } from './thread.ts'

export class WorkerJson implements LargeJson {
  readonly #thread = new Thread<JsonRequest, JsonReply>(new URL('./json-worker.ts', import.meta.url))

  async parse(bytes: Uint8Array<ArrayBuffer>): Promise<unknown> {
    const reply = await this.#thread.ask({ bytes }, [bytes.buffer])
    if (!('value' in reply)) throw new SyntaxError(`not JSON at position ${reply.position ?? 'unknown'}`)
    const { value, packed } = reply
    if (packed) (value as Record<string, unknown>)['input'] = unpacked(packed)
    return value
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}

function unpacked({ ids, lengths }: PackedTokens): Uint32Array | Uint32Array[] {
  if (lengths === undefined) return ids
  let at = 0
  return Array.from(lengths, (length) => ids.subarray(at, (at += length)))
}
