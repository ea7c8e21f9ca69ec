import type { Readable } from 'node:stream'

/** Time after which a blob that was opened but never read is closed. */
const UNREAD_MS = 60_000

/**
 * The bytes of a stream that holds a file or a connection. The stream is closed when no reader begins within a minute, since it would
 * stay open for good, and when its next part does not come within `idleMs`. A reader may take its time. Errors reach the reader as
 * `translated` converts them.
 */
export function reading(
  stream: Readable,
  translated: (error: unknown) => unknown,
  idleMs?: number,
): AsyncIterable<Uint8Array> {
  const giveUp = (message: string, afterMs: number): NodeJS.Timeout =>
    setTimeout(() => stream.destroy(new Error(message)), afterMs).unref()
  const forgotten = giveUp('nobody began to read', UNREAD_MS)
  // The reader gets the error; without a listener the process would end before there is a reader.
  stream.on('error', () => {})

  async function* parts(): AsyncIterable<Uint8Array> {
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
  return parts()
}
