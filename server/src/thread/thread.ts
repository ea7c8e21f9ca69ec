/** The one kind of worker thread: it does the work that it is asked for by name. Its inside is `serve.ts`. */
import { Worker, type Transferable, type WorkerOptions } from 'node:worker_threads'
import type { FromThread, NewsOf, ToThread, Work } from './serve.ts'

export interface AskOptions<News> {
  /** Handed over instead of copied: afterwards the thread alone has them. */
  readonly transfer?: readonly Transferable[]
  /** Hears what the thread tells before its answer. If this fails, the question fails, and the work stands still. */
  readonly hear?: (news: News) => void | Promise<void>
}

/** What a thread may take. Each number has its reason where it is written. */
export interface ThreadLimits {
  /** Of JavaScript values; bytes in buffers are not counted. A thread that needs more ends, and the process lives on. */
  readonly memoryMb: number
  /** A question that takes longer ends the thread, which would answer nobody any more. Infinity where the work waits for others. */
  readonly maxTaskMs: number
  /** After so long without a question it ends, and gives back what it holds. Unless given it stays. Asked after each answer. */
  readonly idleMs?: () => number
}

interface Question {
  readonly timer: NodeJS.Timeout | undefined
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
  readonly hear: ((news: never) => void | Promise<void>) | undefined
}

export class Thread<Works extends Record<string, Work>> {
  readonly #module: URL
  readonly #options: WorkerOptions
  readonly #maxTaskMs: number
  readonly #idleMs: (() => number) | undefined
  readonly #questions = new Map<number, Question>()
  #worker: Worker | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #lastId = 0

  /** `module` calls `serve`. It is started by the first question, and by the next one after it has ended. */
  constructor(module: URL, { memoryMb, maxTaskMs, idleMs }: ThreadLimits, options: WorkerOptions = {}) {
    this.#module = module
    this.#options = { ...options, resourceLimits: { maxOldGenerationSizeMb: memoryMb } }
    this.#maxTaskMs = maxTaskMs
    this.#idleMs = idleMs
  }

  /** Whether it holds nothing at the moment: it was not asked yet, or has ended. */
  get isAsleep(): boolean {
    return this.#worker === undefined
  }

  /** Settles when the thread is done with it, or has ended. */
  async ask<Name extends keyof Works & string>(
    name: Name,
    request: Parameters<Works[Name]>[0],
    { transfer = [], hear }: AskOptions<NewsOf<Works[Name]>> = {},
  ): Promise<Awaited<ReturnType<Works[Name]>>> {
    clearTimeout(this.#idleTimer)
    const worker = (this.#worker ??= this.#started())
    this.#lastId += 1
    const id = this.#lastId
    worker.postMessage({ id, name, request } satisfies ToThread, transfer)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const timer =
      this.#maxTaskMs === Infinity ? undefined : setTimeout(() => this.#stuck(worker, name), this.#maxTaskMs)
    this.#questions.set(id, { timer, resolve, reject, hear })
    worker.ref()
    return promise as Promise<Awaited<ReturnType<Works[Name]>>>
  }

  async close(): Promise<void> {
    clearTimeout(this.#idleTimer)
    await this.#worker?.terminate()
  }

  #started(): Worker {
    const worker = new Worker(this.#module, this.#options)
    worker.on('message', (message: FromThread) => void this.#receive(worker, message))
    worker.on('error', (error) => this.#ended(worker, error))
    worker.on('exit', (code) =>
      this.#ended(worker, new Error(`the thread of ${this.#module.pathname} ended with ${code}`)),
    )
    // An answer that can't be read: nobody knows whose it was.
    worker.on('messageerror', (error) => this.#end(worker, error))
    return worker
  }

  #stuck(worker: Worker, name: string): void {
    this.#end(worker, new Error(`the work ${name} took longer than ${this.#maxTaskMs} ms`))
  }

  #end(worker: Worker, error: unknown): void {
    this.#ended(worker, error)
    void worker.terminate()
  }

  #ended(worker: Worker, error: unknown): void {
    // A thread that fails says twice that it ended. Meanwhile the next one may have been asked.
    if (this.#worker !== worker) return
    this.#worker = undefined
    for (const id of this.#questions.keys()) this.#take(id)?.reject(error)
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

  #rest(): void {
    const worker = this.#worker
    worker?.unref()
    if (worker === undefined || this.#idleMs === undefined) return
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => this.#end(worker, new Error('nobody asked')), this.#idleMs())
    this.#idleTimer.unref()
  }

  #take(id: number): Question | undefined {
    const question = this.#questions.get(id)
    this.#questions.delete(id)
    clearTimeout(question?.timer)
    // A thread that nobody waits for must not keep the process alive.
    if (this.#questions.size === 0) this.#rest()
    return question
  }
}

/** Node's timers ring at once beyond it. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** The answer to a question, or `late()` after so long. The thread works on: it is not told of that. */
export async function inTime<Answer>(
  asked: Promise<Answer>,
  timeoutMs: number,
  late: () => Error,
): Promise<Answer> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(late()), Math.max(0, Math.min(timeoutMs, MAX_TIMER_MS)))
  try {
    return await Promise.race([asked, promise])
  } finally {
    clearTimeout(timer)
  }
}
