import { Worker } from 'node:worker_threads'
import type { TokenCount, TokenCounter } from '#ports/tokens.ts'
import type { TokenizerReply, TokenizerRequest } from './tokenizer-worker.ts'

interface Waiting {
  readonly resolve: (reply: TokenizerReply) => void
  readonly reject: (error: Error) => void
}

/** Counting in a thread of its own, started with the first count: the ranks take 100 ms to load, and most never need them. */
export class WorkerTokenCounter implements TokenCounter {
  #worker: Worker | undefined
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0

  async count(texts: readonly string[]): Promise<TokenCount[]> {
    const reply = await this.#ask({ id: this.#nextId(), kind: 'count', texts })
    return 'counts' in reply ? reply.counts : unexpected()
  }

  async decode(tokens: readonly (readonly number[])[]): Promise<(string | undefined)[]> {
    const reply = await this.#ask({ id: this.#nextId(), kind: 'decode', tokens })
    return 'texts' in reply ? reply.texts : unexpected()
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  #ask(request: TokenizerRequest): Promise<TokenizerReply> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject })
      this.#running().postMessage(request)
    })
  }

  #running(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(new URL('./tokenizer-worker.ts', import.meta.url))
    worker.unref()
    worker.on('message', (reply: TokenizerReply) => {
      const waiting = this.#waiting.get(reply.id)
      this.#waiting.delete(reply.id)
      if ('error' in reply) waiting?.reject(new Error(reply.error))
      else waiting?.resolve(reply)
    })
    const end = (error: Error): void => {
      this.#worker = undefined
      for (const { reject } of this.#waiting.values()) reject(error)
      this.#waiting.clear()
    }
    worker.on('error', end)
    worker.on('exit', (code) => end(new Error(`the tokenizer thread ended with ${code}`)))
    this.#worker = worker
    return worker
  }
}

function unexpected(): never {
  throw new Error('the tokenizer thread answered another question')
}
