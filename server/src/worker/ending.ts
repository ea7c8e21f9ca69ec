/** How a node ends, in order and in time, whatever its clients and upstreams do. */
import type { Clock } from '#ports/clock.ts'

/**
 * Time to close what is left after the last request: connections to PostgreSQL, threads, files. It takes tenths of a second on an
 * idle machine; orchestrators wait half a second longer than this.
 */
const CLOSE_MS = 4500
/** Interval of checks whether the last calls have ended. */
const LOOK_MS = 20

export interface StopOptions {
  /** Gives load balancers time to notice, where there are any. */
  readonly gently?: boolean
  /** Another process answers at this node's addresses already. */
  readonly isReplaced?: boolean
}

interface Draining {
  drain(forMs: number): Promise<void>
}

export interface EndingParts {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly wait: (ms: number) => Promise<void>
  /** Calls `ring` after `ms`, unless the returned function cancels it. */
  readonly after: (ms: number, ring: () => void) => () => void
  readonly limits: { readonly drainMs: number; readonly stopDelayMs: number }
  readonly file: { close(): void }
  readonly readiness: { readonly isWatched: boolean }
  readonly listeners: Draining & {
    leave(): void
    refuse(): void
    release(): void
    unconnected(forMs: number): Promise<void>
    unasked(forMs: number): Promise<void>
    close(): Promise<void>
  }
  readonly images: Draining
  readonly bulk: Draining
  /** Calls that were begun and not accounted for yet. */
  readonly openCalls: () => number
  /** All that was opened. */
  readonly parts: AsyncDisposable
  /** Called when the parts take too long to close. */
  readonly onLate: () => void
}

/** The function that stops a node. A second call gets the same promise. */
export function endingOf(parts: EndingParts): (options?: StopOptions) => Promise<void> {
  let ended: Promise<void> | undefined
  return (options = {}) => (ended ??= end(parts, options))
}

async function end(parts: EndingParts, options: StopOptions): Promise<void> {
  const { clock, wait, limits, file, listeners, images, bulk } = parts
  const endMs = clock.monotonicMs() + limits.drainMs
  const leftMs = (): number => Math.max(0, endMs - clock.monotonicMs())
  file.close()
  // Bulk work stops first, because no client waits for it: another node continues it.
  const drained = bulk.drain(limits.drainMs)
  await leave(parts, options, leftMs)
  await listeners.drain(leftMs())
  // Jobs whose client has gone, or never waited.
  await images.drain(leftMs())
  await drained
  // Calls whose client has gone: what they cost belongs in the ledger.
  while (parts.openCalls() > 0 && leftMs() > 0) await wait(LOOK_MS)
  await listeners.close()
  const closed = parts.parts[Symbol.asyncDispose]().then(() => true)
  const late = Promise.withResolvers<boolean>()
  const cancel = parts.after(leftMs() + CLOSE_MS, () => late.resolve(false))
  const isClosed = await Promise.race([closed, late.promise])
  cancel()
  if (!isClosed) parts.onLate()
}

/**
 * Gives balancers time to notice, and clients time to use a connection once more that they think open: each answer says that it is
 * the last one. The node takes new connections meanwhile only where its 503 at `/readyz` is seen. Balancers that only try to
 * connect go elsewhere once that is refused.
 */
async function leave(
  { listeners, readiness, limits, wait }: EndingParts,
  { gently = false, isReplaced = false }: StopOptions,
  leftMs: () => number,
): Promise<void> {
  const delayMs = Math.min(limits.stopDelayMs, leftMs())
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
