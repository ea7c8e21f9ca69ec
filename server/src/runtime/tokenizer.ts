import type { TokenIds } from '#core/embedding/input.ts'
import { workerModule } from '#package/files.ts'
import type { Asker } from '#ports/asker.ts'
import type { CountAsker, KnownTokenizer, TokenCount, TokenCounter } from '#ports/tokens.ts'
import { Thread, type ThreadLimits } from '#thread/thread.ts'
import { Turns } from '#thread/turns.ts'
import { cutAt, isCleanCut } from './text-cuts.ts'
import type { TokenizerWorks } from './tokenizer-worker.ts'

/**
 * The ranks and the library's cache of merged words take less than a hundred megabytes; a step takes
 * milliseconds of a core.
 */
const LIMITS: ThreadLimits = { memoryMb: 256, maxTaskMs: 60_000 }
/** Characters of one step. The slowest texts take 4 µs per character, so that a step takes at most 16 ms. */
const STEP_CHARACTERS = 4096
/** Ids of one step: a millisecond or two, and at most 2 MB of text. */
const STEP_IDS = 16_384
/** Waiting steps of one project, one for each waiting request. A thousand of them take about a second. */
const MAX_WAITING = 1024

/** Part of one text, or of one array of token ids. */
interface Piece {
  readonly index: number
  readonly start: number
  readonly end: number
}

/** Counts in a thread, which starts with the first count: its ranks take 100 ms to load, and most nodes never need them. */
export class WorkerTokenCounter implements TokenCounter {
  readonly #thread = new Thread<TokenizerWorks>(workerModule('runtime/tokenizer-worker'), LIMITS)
  readonly #turns = new Turns({ atOnce: 1, maxWaiting: MAX_WAITING })

  async count(
    texts: readonly string[],
    _tokenizer: KnownTokenizer,
    { project, timeoutMs, most }: CountAsker,
  ): Promise<TokenCount[]> {
    const endMs = performance.now() + timeoutMs
    const counts = texts.map(() => ({ tokens: 0, exact: true }))
    const isDone = (index: number): boolean => (counts[index]?.tokens ?? 0) > most
    for (const step of stepsOf(texts, STEP_CHARACTERS, cutAt, isDone)) {
      const parts = step.map(({ index, start, end }) => (texts[index] as string).slice(start, end))
      const asker = { project, timeoutMs: endMs - performance.now() }
      const counted = await this.#turns.run(asker, () => this.#thread.ask('count', parts))
      for (const [at, { index, end }] of step.entries()) {
        const count = counts[index] as (typeof counts)[number]
        const { tokens, exact } = counted[at] as TokenCount
        const text = texts[index] as string
        count.tokens += tokens
        count.exact &&= exact && (end === text.length || (isCleanCut(text, end) && !isDone(index)))
      }
    }
    return counts
  }

  async decode(
    tokens: readonly TokenIds[],
    _tokenizer: KnownTokenizer,
    { project, timeoutMs }: Asker,
  ): Promise<(string | undefined)[]> {
    const endMs = performance.now() + timeoutMs
    const texts = tokens.map((): string | undefined => '')
    // A character may begin in one step and end in the next. A byte order mark is a character like any other.
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    const isUnknown = (index: number): boolean => texts[index] === undefined
    for (const step of stepsOf(tokens, STEP_IDS, (_, limit) => limit, isUnknown)) {
      const packed = packedIds(tokens, step)
      const asker = { project, timeoutMs: endMs - performance.now() }
      const { bytes, lengths } = await this.#turns.run(asker, () =>
        this.#thread.ask('decode', packed, { transfer: [packed.ids.buffer] }),
      )
      let at = 0
      for (const [number, { index, end }] of step.entries()) {
        const length = lengths[number]
        if (length === undefined) {
          // Incomplete bytes of the array's earlier ids belong to no other text.
          decoder.decode()
          texts[index] = undefined
          continue
        }
        const isLast = end === tokens[index]?.length
        texts[index] += decoder.decode(bytes.subarray(at, (at += length)), { stream: !isLast })
      }
    }
    return texts
  }

  close(): Promise<void> {
    this.#turns.close()
    return this.#thread.close()
  }
}

/**
 * Cuts texts into steps of at most `max`; a text that fits into a step is not cut. Called again after each
 * step, without what is done, since a step may have found that its text is long enough.
 */
function* stepsOf<Entry extends string | TokenIds>(
  entries: readonly Entry[],
  size: number,
  cut: (entry: Entry, limit: number) => number,
  isDone: (index: number) => boolean,
): Generator<readonly Piece[]> {
  let step: Piece[] = []
  let room = size
  for (const [index, entry] of entries.entries()) {
    for (let start = 0; start < entry.length && !isDone(index);) {
      const isWhole = entry.length - start <= room
      if (!isWhole && step.length > 0) {
        yield step
        step = []
        room = size
        continue
      }
      const end = isWhole ? entry.length : cut(entry, start + room)
      step.push({ index, start, end })
      room -= end - start
      start = end
    }
  }
  if (step.length > 0) yield step
}

/** Copied, since sending a part of an array sends the whole array. */
function packedIds(
  tokens: readonly TokenIds[],
  step: readonly Piece[],
): { readonly ids: Float64Array<ArrayBuffer>; readonly lengths: readonly number[] } {
  const lengths = step.map(({ start, end }) => end - start)
  const ids = new Float64Array(lengths.reduce((sum, length) => sum + length, 0))
  let at = 0
  for (const { index, start, end } of step) {
    ids.set((tokens[index] as TokenIds).slice(start, end), at)
    at += end - start
  }
  return { ids, lengths }
}
