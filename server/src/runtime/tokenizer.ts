import type { TokenIds } from '#core/embedding/input.ts'
import type { TokenCount, TokenCounter } from '#ports/tokens.ts'
import { Thread } from './thread.ts'
import type { TokenizerReply, TokenizerRequest } from './tokenizer-worker.ts'

/** Counting in a thread of its own, started with the first count: the ranks take 100 ms to load, and most never need them. */
export class WorkerTokenCounter implements TokenCounter {
  readonly #thread = new Thread<TokenizerRequest, TokenizerReply>(
    new URL('./tokenizer-worker.ts', import.meta.url),
  )

  async count(texts: readonly string[]): Promise<TokenCount[]> {
    const reply = await this.#thread.ask({ kind: 'count', texts })
    return 'counts' in reply ? reply.counts : unexpected(reply)
  }

  async decode(tokens: readonly TokenIds[]): Promise<(string | undefined)[]> {
    const reply = await this.#thread.ask({ kind: 'decode', tokens })
    return 'texts' in reply ? reply.texts : unexpected(reply)
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}

function unexpected(reply: TokenizerReply): never {
  throw new Error('error' in reply ? reply.error : 'the tokenizer thread answered another question')
}
