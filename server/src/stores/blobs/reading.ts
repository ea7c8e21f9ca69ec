import type { Readable } from 'node:stream'

/** Whoever asked for a blob and has not begun to read it by then has forgotten it. */
const UNREAD_MS = 60_000

/**
 * The bytes of a stream that holds a file or a connection. One that nobody begins to read is given up after a while, for it
 * would be held for good; so is one whose next piece does not come within `idleMs`, while a reader may take its time. What
 * goes wrong reaches the reader in the words of `translated`.
 */
export function reading(
  stream: Readable,
  translated: (error: unknown) => unknown,
  idleMs?: number,
): AsyncIterable<Uint8Array> {
  const giveUp = (message: string, afterMs: number): NodeJS.Timeout =>
    setTimeout(() => stream.destroy(new Error(message)), afterMs).unref()
  const forgotten = giveUp('nobody began to read', UNREAD_MS)
  // The reader is told; without a listener the process would end before there is one.
  stream.on('error', () => {})

  async function* pieces(): AsyncIterable<Uint8Array> {
    clearTimeout(forgotten)
    const iterator = (stream as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
    try {
      for (;;) {
        const idle = idleMs === undefined ? undefined : giveUp(`nothing came for ${idleMs} ms`, idleMs)
        const next = await iterator.next().finally(() => clearTimeout(idle))
        if (next.done) return
        yield next.value
      }
    } catch (error) {
      throw translated(error)
    } finally {
      stream.destroy()
    }
  }
  return pieces()
}
