/** A worker's own side: it tells its supervisor that it is ready, counts for it, and ends when the supervisor is gone. */
import cluster from 'node:cluster'
import { Socket } from 'node:net'
import type { Node } from '#main'
import type { Peers } from '#node/control.ts'
import type { PortName } from '#http/listeners.ts'
import { CONTENT_TYPE, type MetricsText } from '#telemetry/metrics.ts'
import type { ToSupervisor, ToWorker } from './worker-messages.ts'

/** A supervisor that does not answer is dead, or about to be noticed as such: the worker then tells of itself alone. */
const SCRAPE_MS = 5000

export class WorkerChannel {
  readonly #scrapes = new Map<number, (text: string) => void>()
  #next = 1
  #node: Node | undefined
  readonly #replaced = Promise.withResolvers<'replaced'>()
  readonly #orphaned = Promise.withResolvers<'orphaned'>()

  constructor() {
    process.on('message', (message: ToWorker, socket: unknown) => this.#hear(message, socket))
    cluster.worker?.once('disconnect', () => {
      // Else Node ends the process at once, with the requests in it.
      if (cluster.worker) cluster.worker.exitedAfterDisconnect = true
      this.#orphaned.resolve('orphaned')
    })
  }

  /** Resolves when another worker stands in this one's place, or the supervisor is gone. */
  get mustEnd(): Promise<'replaced' | 'orphaned'> {
    return Promise.race([this.#replaced.promise, this.#orphaned.promise])
  }

  /** Takes a connection that the supervisor accepted. */
  onConnection: ((to: PortName, socket: Socket) => void) | undefined

  readonly peers: Peers = { metrics: () => this.#scrape() }

  ready(node: Node, banner: string): void {
    this.#node = node
    this.#tell({ kind: 'ready', banner })
  }

  /** The last word of this worker, so that what it counted is not forgotten. */
  async leave(): Promise<void> {
    const counted = await this.#node?.metrics()
    if (counted === undefined || process.send === undefined || !process.connected) return
    const message: ToSupervisor = { kind: 'counted', text: counted.text }
    await new Promise<void>((resolve) => process.send?.(message, undefined, undefined, () => resolve()))
  }

  #hear(message: ToWorker, socket: unknown): void {
    // Undefined: its client has gone meanwhile.
    if (message.kind === 'connection' && socket instanceof Socket) this.onConnection?.(message.to, socket)
    if (message.kind === 'replaced') this.#replaced.resolve('replaced')
    if (message.kind === 'scraped') this.#scrapes.get(message.id)?.(message.text)
    if (message.kind === 'count') void this.#count(message.id)
  }

  async #count(id: number): Promise<void> {
    const counted = await this.#node?.metrics()
    if (counted !== undefined) this.#tell({ kind: 'counted', id, text: counted.text })
  }

  async #scrape(): Promise<MetricsText> {
    const id = this.#next++
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    this.#scrapes.set(id, resolve)
    const late = setTimeout(() => resolve(undefined), SCRAPE_MS)
    this.#tell({ kind: 'scrape', id })
    const text = await promise
    clearTimeout(late)
    this.#scrapes.delete(id)
    return { contentType: CONTENT_TYPE, text: text ?? (await this.#node?.metrics())?.text ?? '' }
  }

  #tell(message: ToSupervisor): void {
    if (process.connected) process.send?.(message)
  }
}
