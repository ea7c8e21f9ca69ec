import type { JsonBounds } from '#core/text/json-bounds.ts'
import { exactFields } from '#core/text/exact-json.ts'
import { MAX_LINE_BYTES } from '#core/files/lines.ts'
import { workerModule } from '#package/files.ts'
import { JsonRefused, JsonTooLong, type JsonWithFiles, type LargeJson, type ParsedJson } from '#ports/json.ts'
import { defaultLimits, type Limits } from '#core/settings.ts'
import type { Asker } from '#ports/asker.ts'
import { Thread } from '#thread/thread.ts'
import { Turns } from '#thread/turns.ts'
import type { JsonWorks, PackedTokens, UnreadJson } from './json-worker.ts'

type BodyLimits = Pick<Limits, 'embeddingsBodyBytes' | 'contentsBodyBytes' | 'editsJsonBytes'>

/** A fraction of four bytes becomes a value of 24 in a list that grew by half. */
const MEMORY_PER_EMBEDDINGS_BYTE = 12
/** The body as text of two bytes per character, and its files as texts beside it. */
const MEMORY_PER_FILE_BYTE = 4
/** The engine, and garbage that is not collected yet. */
const BASE_MEMORY_MB = 128
/** Time for a body. The largest takes a second of a core, so that this long means a failure. */
const MAX_TASK_MS = 60_000

/** Waiting bodies of one project. A thread reads some twenty per second: more would outlast their callers. */
const MAX_WAITING = 256

function memoryMbFor({ embeddingsBodyBytes, contentsBodyBytes, editsJsonBytes }: BodyLimits): number {
  const bytes = Math.max(
    Math.max(embeddingsBodyBytes, MAX_LINE_BYTES) * MEMORY_PER_EMBEDDINGS_BYTE,
    Math.max(contentsBodyBytes, editsJsonBytes) * MEMORY_PER_FILE_BYTE,
  )
  return BASE_MEMORY_MB + Math.ceil(bytes / 1024 ** 2)
}

export class WorkerJson implements LargeJson {
  readonly #thread: Thread<JsonWorks>
  readonly #turns = new Turns({ atOnce: 1, maxWaiting: MAX_WAITING })

  constructor(limits: BodyLimits = defaultLimits) {
    this.#thread = new Thread(workerModule('runtime/json-worker'), {
      memoryMb: memoryMbFor(limits),
      maxTaskMs: MAX_TASK_MS,
    })
  }

  async parse(bytes: Uint8Array<ArrayBuffer>, bounds: JsonBounds, asker: Asker): Promise<ParsedJson> {
    const answer = await this.#turns.run(asker, () =>
      this.#thread.ask('parse', { bytes, bounds }, { transfer: [bytes.buffer] }),
    )
    if (!('value' in answer)) throw errorOf(answer)
    const { value, packed, exactTexts, media } = answer
    if (packed) (value as Record<string, unknown>)['input'] = unpacked(packed)
    return { value, exact: exactFields(exactTexts), media }
  }

  async parseWithFiles(bytes: Uint8Array<ArrayBuffer>, asker: Asker): Promise<JsonWithFiles> {
    // Small bodies share larger buffers, which belong to others.
    const own = bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
    const answer = await this.#turns.run(asker, () =>
      this.#thread.ask('parseWithFiles', own, { transfer: [own.buffer] }),
    )
    if (!('value' in answer)) throw errorOf(answer)
    const { value, files, exactTexts } = answer
    return { value, files, exact: exactFields(exactTexts) }
  }

  close(): Promise<void> {
    this.#turns.close()
    return this.#thread.close()
  }
}

function errorOf({ refusal, position, isTooLong }: UnreadJson): SyntaxError {
  if (isTooLong) return new JsonTooLong(refusal)
  return refusal === undefined
    ? new SyntaxError(`not JSON at position ${position ?? 'unknown'}`)
    : new JsonRefused(refusal)
}

function unpacked({ ids, lengths }: PackedTokens): Uint32Array | Uint32Array[] {
  if (lengths === undefined) return ids
  let at = 0
  return Array.from(lengths, (length) => ids.subarray(at, (at += length)))
}
