/** The one kind of worker thread: it does the work that it is asked for by name. Its inside is `serve.ts`. */
import { Worker, type Transferable, type WorkerOptions } from 'node:worker_threads'
import type { FromThread, NewsOf, ToThread, Work } from './serve.ts'

export interface AskOptions<News> {
  /** Handed over instead of copied: afterwards the thread alone has them. */
  readonly transfer?: readonly Transferable[]
  /** Hears what the thread tells before its answer. If this fails, the question fails, and the work stands still. */
  readonly hear?: (news: News) => void | Promise<void>
}

interface Question {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
  readonly hear: ((news: never) => void | Promise<void>) | undefined
}

export class Thread<Works extends Record<string, Work>> {
  readonly #module: URL
  readonly #options: WorkerOptions
  readonly #questions = new Map<number, Question>()
  #worker: Worker | undefined
  #lastId = 0

  /** `module` calls `serve`. It is started by the first question, and by the next one after it has ended. */
  constructor(module: URL, options: WorkerOptions = {}) {
    this.#module = module
    this.#options = options
  }

  /** Settles when the thread is done with it, or has ended. */
  async ask<Name extends keyof Works & string>(
    name: Name,
    request: Parameters<Works[Name]>[0],
    { transfer = [], hear }: AskOptions<NewsOf<Works[Name]>> = {},
  ): Promise<Awaited<ReturnType<Works[Name]>>> {
    this.#worker ??= this.#started()
    this.#lastId += 1
    const id = this.#lastId
    this.#worker.postMessage({ id, name, request } satisfies ToThread, transfer)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#questions.set(id, { resolve, reject, hear })
    this.#worker.ref()
    return promise as Promise<Awaited<ReturnType<Works[Name]>>>
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #started(): Worker {
    const worker = new Worker(this.#module, this.#options)
    worker.on('message', (message: FromThread) => void this.#receive(worker, message))
    const end = (error: unknown): void => {
      // A thread that fails says twice that it ended. Meanwhile the next one may have been asked.
      if (this.#worker !== worker) return
      this.#worker = undefined
      for (const id of this.#questions.keys()) this.#take(id)?.reject(error)
    }
    worker.on('error', end)
    worker.on('exit', (code) => end(new Error(`the thread of ${this.#module.pathname} ended with ${code}`)))
    return worker
  }

  async #receive(worker: Worker, message: FromThread): Promise<void> {
    const { id } = message
    if ('answer' in message) this.#take(id)?.resolve(message.answer)
    else if ('error' in message) this.#take(id)?.reject(Object.assign(new Error(), message.error))
    else {
      try {
        await this.#questions.get(id)?.hear?.(message.news as never)
        if (this.#questions.has(id)) worker.postMessage({ id, heard: true } satisfies ToThread)
      } catch (error) {
        this.#take(id)?.reject(error)
      }
    }
  }

  #take(id: number): Question | undefined {
    const question = this.#questions.get(id)
    this.#questions.delete(id)
    // A thread that nobody waits for must not keep the process alive.
    if (this.#questions.size === 0) this.#worker?.unref()
    return question
  }
}

/** The answer to a question, or `late()` after so long. The thread works on: it is not told of that. */
export async function inTime<Answer>(
  asked: Promise<Answer>,
  timeoutMs: number,
  late: () => Error,
): Promise<Answer> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(late()), timeoutMs)
  try {
    return await Promise.race([asked, promise])
  } finally {
    clearTimeout(timer)
  }
}
