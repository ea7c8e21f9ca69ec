/** How a node ends, in order and in time, whatever its clients and upstreams do. */
import type { ConfigWatch } from '#config/reload.ts'
import { after, wait } from '#runtime/clock.ts'
import type { Basics } from './basics.ts'
import type { Bulk } from './bulk.ts'
import type { Images } from './images.ts'
import type { Listeners } from './listeners.ts'
import type { NodeReadiness } from './readiness.ts'
import type { Stores } from './stores.ts'

/**
 * For what has to be closed after the last request: connections to PostgreSQL, threads, files. Tenths of a second on a machine with
 * nothing else to do; orchestrators are told to wait half a second longer than this.
 */
const CLOSE_MS = 4500
/** How often the node looks whether its last calls have ended. */
const LOOK_MS = 20

export interface StopOptions {
  /** Load balancers get time to notice, where there are any. */
  readonly gently?: boolean
  /** Another process answers at this node's addresses already. */
  readonly isReplaced?: boolean
}

export interface EndingParts {
  readonly file: ConfigWatch
  readonly readiness: Pick<NodeReadiness, 'isWatched'>
  readonly listeners: Listeners
  readonly images: Pick<Images, 'drain'>
  readonly bulk: Pick<Bulk, 'drain'>
  readonly stores: Pick<Stores, 'openCalls'>
  /** All that was opened, in the order in which it was. */
  readonly parts: AsyncDisposable
}

export class Ending {
  readonly #basics: Basics
  readonly #parts: EndingParts
  #ended: Promise<void> | undefined

  constructor(basics: Basics, parts: EndingParts) {
    this.#basics = basics
    this.#parts = parts
  }

  stop(options: StopOptions = {}): Promise<void> {
    this.#ended ??= this.#end(options)
    return this.#ended
  }

  async #end(options: StopOptions): Promise<void> {
    const { clock, limits, log } = this.#basics
    const { file, listeners, images, bulk, stores, parts } = this.#parts
    const endMs = clock.monotonicMs() + limits.drainMs
    const leftMs = (): number => Math.max(0, endMs - clock.monotonicMs())
    file.close()
    // Nobody waits for what they do, so they end first; another node goes on with them.
    const drained = bulk.drain(limits.drainMs)
    await this.#leave(options, leftMs)
    await listeners.drain(leftMs())
    // Jobs whose client has gone, or never waited.
    await images.drain(leftMs())
    await drained
    // Calls whose client has gone: what they cost belongs into the books.
    while (stores.openCalls() > 0 && leftMs() > 0) await wait(LOOK_MS)
    await listeners.close()
    const closed = parts[Symbol.asyncDispose]().then(() => true)
    const late = Promise.withResolvers<boolean>()
    const cancel = after(leftMs() + CLOSE_MS, () => late.resolve(false))
    const isClosed = await Promise.race([closed, late.promise])
    cancel()
    if (isClosed) return
    log.warn(
      'not everything could be closed in time; what is left is on disk, and the next start takes it up',
    )
    log.close()
  }

  /**
   * Gives balancers time to notice, and clients time to use a connection once more that they think open: each answer says that it is
   * the last one. The node takes new connections meanwhile only where its 503 at `/readyz` is seen. Balancers that only try to
   * connect go elsewhere once that is refused.
   */
  async #leave({ gently = false, isReplaced = false }: StopOptions, leftMs: () => number): Promise<void> {
    const { listeners, readiness } = this.#parts
    const delayMs = Math.min(this.#basics.limits.stopDelayMs, leftMs())
    if (isReplaced) {
      // Others answer at its addresses: it is not unready.
      listeners.release()
      return wait(delayMs)
    }
    if (!gently) return listeners.leave()
    if (!readiness.isWatched) {
      listeners.refuse()
      return listeners.unconnected(delayMs)
    }
    listeners.leave()
    await wait(delayMs)
    // On a busy machine checks are late. A balancer that still sends requests has not noticed.
    await listeners.unasked(Math.min(delayMs, leftMs()))
  }
}
