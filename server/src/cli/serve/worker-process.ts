/** One worker as its supervisor sees it. */
import type { Worker } from 'node:cluster'
import { once } from 'node:events'
import type { ToSupervisor, ToWorker } from './worker-messages.ts'

/** Migrations of large tables take minutes. A start that takes longer hangs. */
const READY_MS = 600_000

export class WorkerProcess {
  /** Its place among the others, which the next process in it inherits. */
  readonly place: number
  readonly #worker: Worker
  /** What it prints for a person once it takes requests; undefined: it ended before. */
  readonly ready: Promise<string | undefined>
  /** The exit code, or the signal. */
  readonly ended: Promise<number | string>
  /** What it had counted when it was last heard. */
  counted = ''
  isReady = false
  hasEnded = false

  constructor(
    place: number,
    worker: Worker,
    onMessage: (message: ToSupervisor, from: WorkerProcess) => void,
  ) {
    this.place = place
    this.#worker = worker
    this.ended = once(worker, 'exit').then(([code, signal]) => {
      this.hasEnded = true
      return (signal ?? code) as number | string
    })
    const ready = Promise.withResolvers<string | undefined>()
    const late = setTimeout(() => this.signal('SIGKILL'), READY_MS)
    this.ready = ready.promise.finally(() => clearTimeout(late))
    void this.ended.then(() => ready.resolve(undefined))
    // A worker that died while it was written to is noticed by its end.
    worker.on('error', () => {})
    worker.on('message', (message: ToSupervisor) => {
      if (message.kind === 'counted') this.counted = message.text
      if (message.kind === 'ready') {
        this.isReady = true
        ready.resolve(message.banner)
      }
      onMessage(message, this)
    })
  }

  get pid(): number | undefined {
    return this.#worker.process.pid
  }

  tell(message: ToWorker): void {
    if (this.#worker.isConnected()) this.#worker.send(message)
  }

  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): void {
    this.#worker.process.kill(name)
  }
}
