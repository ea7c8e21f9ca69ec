import { Worker } from 'node:worker_threads'

interface Waiting<Reply> {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

type WithoutId<Request> = Request extends unknown ? Omit<Request, 'id'> : never

/** Questions to a worker thread and their answers, matched by id. Started with the first question, again after a crash. */
export class Thread<Request extends { readonly id: number }, Reply extends { readonly id: number }> {
  readonly #module: URL
  readonly #waiting = new Map<number, Waiting<Reply>>()
  #worker: Worker | undefined
  #lastId = 0

  constructor(module: URL) {
    this.#module = module
  }

  ask(request: WithoutId<Request>, transfer: readonly ArrayBuffer[] = []): Promise<Reply> {
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#running().postMessage({ ...request, id }, transfer)
    })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #running(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(this.#module)
    worker.unref()
    worker.on('message', (reply: Reply) => {
      const waiting = this.#waiting.get(reply.id)
      this.#waiting.delete(reply.id)
      waiting?.resolve(reply)
    })
    const end = (error: Error): void => {
      // It says twice that it ended, and meanwhile the next one may have been asked.
      if (this.#worker !== worker) return
      this.#worker = undefined
      for (const { reject } of this.#waiting.values()) reject(error)
      this.#waiting.clear()
    }
    worker.on('error', end)
    worker.on('exit', (code) => end(new Error(`the thread of ${this.#module.pathname} ended with ${code}`)))
    this.#worker = worker
    return worker
  }
}
