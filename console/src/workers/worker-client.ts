/** The one client of every web worker: each request gets its response, or an error when the worker fails or is closed. */

/** One kind of work: what is sent, and what comes back. */
interface Task {
  readonly request: unknown
  readonly response: unknown
}

/** A table of tasks by kind, as an interface. */
export type TaskTable<Tasks> = { readonly [Kind in keyof Tasks]: Task }

export interface TaskMessage {
  readonly id: number
  readonly kind: PropertyKey
  readonly request: unknown
}

export interface TaskReply {
  readonly id: number
  readonly response?: unknown
  readonly error?: string
}

/** The worker did not load, or broke outside of a task. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError'
}

interface Pending {
  readonly resolve: (response: never) => void
  readonly reject: (error: Error) => void
}

export class WorkerClient<Tasks extends TaskTable<Tasks>> {
  readonly #worker: Worker
  readonly #pending = new Map<number, Pending>()
  #lastId = 0
  #closedBy: Error | undefined

  constructor(worker: Worker) {
    this.#worker = worker
    worker.onmessage = ({ data: { id, response, error } }: MessageEvent<TaskReply>) => {
      const pending = this.#pending.get(id)
      this.#pending.delete(id)
      if (error === undefined) pending?.resolve(response as never)
      else pending?.reject(new Error(error))
    }
    // A script that cannot be loaded gives an event without a message.
    worker.onerror = ({ message }: Partial<ErrorEvent>) =>
      this.#end(new WorkerError(message ?? 'The worker could not be loaded.'))
    worker.onmessageerror = () => this.#end(new WorkerError('The worker sent an unreadable message.'))
  }

  get isClosed(): boolean {
    return this.#closedBy !== undefined
  }

  /** An `ArrayBuffer` is moved, not copied. */
  request<Kind extends keyof Tasks>(
    kind: Kind,
    request: Tasks[Kind]['request'],
  ): Promise<Tasks[Kind]['response']> {
    if (this.#closedBy !== undefined) return Promise.reject(this.#closedBy)
    const { promise, resolve, reject } = Promise.withResolvers<Tasks[Kind]['response']>()
    const id = ++this.#lastId
    this.#pending.set(id, { resolve, reject })
    const message: TaskMessage = { id, kind, request }
    this.#worker.postMessage(message, request instanceof ArrayBuffer ? [request] : [])
    return promise
  }

  close(): void {
    this.#end(new DOMException('The worker was closed.', 'AbortError'))
  }

  #end(error: Error): void {
    this.#closedBy ??= error
    this.#worker.terminate()
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}
