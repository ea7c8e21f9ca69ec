/** Work that is requested by name and done elsewhere: in a thread or in a process. The other side is `serve.ts`. */
import type { Transferable } from 'node:worker_threads'
import type { FromThread, NewsOf, ToThread, Work } from './serve.ts'

export interface AskOptions<News> {
  /** Transferred instead of copied: only the thread has them afterwards. A process gets a copy. */
  readonly transfer?: readonly Transferable[]
  /** Receives what the thread reports before its answer. If this fails, the question fails, and the work stops. */
  readonly hear?: (news: News) => void | Promise<void>
}

export interface AskedLimits {
  /**
   * Time for one question: a longer one ends the other side, which could answer no other. Infinity where the
   * work waits for others.
   */
  readonly maxTaskMs: number
  /**
   * Idle time after which the other side exits and frees its memory; read after each answer. Without it, the
   * other side stays.
   */
  readonly idleMs?: () => number
}

/** A running worker thread or process. */
export interface Side {
  /** Throws for values that cannot cross. */
  post(message: ToThread, transfer: readonly Transferable[]): void
  end(): Promise<unknown>
  /** It keeps this process alive, or no longer does. */
  ref(): void
  unref(): void
}

/** Events of a side. Nothing counts after `ended`. */
export interface Reports {
  message(message: FromThread): void
  ended(error: unknown): void
}

/** The other side ended while it worked on this question. */
export class SideEnded extends Error {
  override readonly name: string = 'SideEnded'
}

/** The question took too long, and the other side was ended for it. */
export class TookTooLong extends SideEnded {
  override readonly name = 'TookTooLong'
}

interface Question {
  readonly timer: NodeJS.Timeout | undefined
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
  readonly hear: ((news: never) => void | Promise<void>) | undefined
}

export class Asked<Works extends Record<string, Work>> {
  readonly #start: (reports: Reports) => Side
  readonly #maxTaskMs: number
  readonly #idleMs: (() => number) | undefined
  readonly #questions = new Map<number, Question>()
  #side: Side | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #lastId = 0

  /** The first question starts the other side, and so does the next one after it has ended. */
  constructor(start: (reports: Reports) => Side, { maxTaskMs, idleMs }: AskedLimits) {
    this.#start = start
    this.#maxTaskMs = maxTaskMs
    this.#idleMs = idleMs
  }

  /** Whether it is not running: it was not asked yet, or has ended. */
  get isAsleep(): boolean {
    return this.#side === undefined
  }

  /** Settles when the other side is done with it, or has ended. */
  async ask<Name extends keyof Works & string>(
    name: Name,
    request: Parameters<Works[Name]>[0],
    { transfer = [], hear }: AskOptions<NewsOf<Works[Name]>> = {},
  ): Promise<Awaited<ReturnType<Works[Name]>>> {
    clearTimeout(this.#idleTimer)
    const side = (this.#side ??= this.#started())
    this.#lastId += 1
    const id = this.#lastId
    side.post({ id, name, request }, transfer)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const timer =
      this.#maxTaskMs === Infinity ? undefined : setTimeout(() => this.#stuck(side, name), this.#maxTaskMs)
    this.#questions.set(id, { timer, resolve, reject, hear })
    side.ref()
    return promise as Promise<Awaited<ReturnType<Works[Name]>>>
  }

  async close(): Promise<void> {
    clearTimeout(this.#idleTimer)
    await this.#side?.end()
  }

  #started(): Side {
    const side: Side = this.#start({
      message: (message) => void this.#receive(side, message),
      ended: (error) => this.#end(side, error),
    })
    return side
  }

  #stuck(side: Side, name: string): void {
    this.#end(side, new TookTooLong(`the work ${name} took longer than ${this.#maxTaskMs} ms`))
  }

  #end(side: Side, error: unknown): void {
    // A failing thread reports its end twice. The next one may have been asked meanwhile.
    if (this.#side !== side) return
    this.#side = undefined
    void side.end()
    for (const id of this.#questions.keys()) this.#take(id)?.reject(error)
  }

  async #receive(side: Side, message: FromThread): Promise<void> {
    const { id } = message
    if ('answer' in message) this.#take(id)?.resolve(message.answer)
    else if ('error' in message) this.#take(id)?.reject(Object.assign(new Error(), message.error))
    else {
      try {
        await this.#questions.get(id)?.hear?.(message.news as never)
        if (this.#questions.has(id)) side.post({ id, heard: true }, [])
      } catch (error) {
        this.#take(id)?.reject(error)
      }
    }
  }

  #rest(): void {
    const side = this.#side
    side?.unref()
    if (side === undefined || this.#idleMs === undefined) return
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(
      () => this.#end(side, new SideEnded('there was no question')),
      this.#idleMs(),
    )
    this.#idleTimer.unref()
  }

  #take(id: number): Question | undefined {
    const question = this.#questions.get(id)
    this.#questions.delete(id)
    clearTimeout(question?.timer)
    // A side without a question must not keep this process alive.
    if (this.#questions.size === 0) this.#rest()
    return question
  }
}
