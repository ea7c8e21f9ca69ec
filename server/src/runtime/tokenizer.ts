import type { TokenIds } from '#core/embedding/input.ts'
import type { TokenCount, TokenCounter } from '#ports/tokens.ts'
import { Thread } from '#thread/thread.ts'
import type { TokenizerWorks } from './tokenizer-worker.ts'

/** Counts in a thread, which starts with the first count: its ranks take 100 ms to load, and most nodes never need them. */
export class WorkerTokenCounter implements TokenCounter {
  readonly #thread = new Thread<TokenizerWorks>(new URL('./tokenizer-worker.ts', import.meta.url))

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
