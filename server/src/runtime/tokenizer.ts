import type { TokenIds } from '#core/embedding/input.ts'
import type { TokenCount, TokenCounter } from '#ports/tokens.ts'
import { Thread, type ThreadLimits } from '#thread/thread.ts'
import type { TokenizerWorks } from './tokenizer-worker.ts'

/** The ranks and the library's memory of merged words take less than a hundred; the longest task some seconds of a busy core. */
const LIMITS: ThreadLimits = { memoryMb: 256, maxTaskMs: 60_000 }

/** Counts in a thread, which starts with the first count: its ranks take 100 ms to load, and most nodes never need them. */
export class WorkerTokenCounter implements TokenCounter {
  readonly #thread = new Thread<TokenizerWorks>(new URL('./tokenizer-worker.ts', import.meta.url), LIMITS)

  count(texts: readonly string[]): Promise<TokenCount[]> {
    return this.#thread.ask('count', texts)
  }

  decode(tokens: readonly TokenIds[]): Promise<(string | undefined)[]> {
    return this.#thread.ask('decode', tokens)
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}
