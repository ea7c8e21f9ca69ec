/**
 * How connections are opened. While a pool has none, it opens one at a time, and each attempt that took too long gets twice the time
 * of the one before: a node that is short of CPU would otherwise break off every handshake and begin it again, with all others of
 * its pool, for as long as it is busy. A caller waits no longer for that than for a connection in use; the attempt goes on.
 */
import type { Pool, PoolClient } from 'pg'

/** Longest time for one attempt. A dead link is tried again after it. */
const MAX_ATTEMPT_MS = 30_000

export class Connecting {
  readonly #pool: Pool
  /** Longest wait of a caller, and the time for the first attempt. */
  readonly #waitMs: number
  readonly #connections = new Set<PoolClient>()
  #attempt: Promise<void> | undefined

  constructor(pool: Pool, waitMs: number) {
    this.#pool = pool
    this.#waitMs = waitMs
    pool.on('connect', (client) => {
      this.#connections.add(client)
      pool.options.connectionTimeoutMillis = waitMs
    })
    // A dead link takes minutes from here to `remove`, which comes with the last packet.
    pool.on('error', (_, client) => void this.#connections.delete(client))
    pool.on('release', (error, client) => void (error && this.#connections.delete(client)))
    pool.on('remove', (client) => void this.#connections.delete(client))
  }

  get hasConnection(): boolean {
    return this.#connections.size > 0
  }

  client(): Promise<PoolClient> {
    return this.hasConnection ? this.#pool.connect() : this.#firstClient()
  }

  async #firstClient(): Promise<PoolClient> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error('timeout exceeded when trying to connect')), this.#waitMs)
    const client = this.#open().then(() => this.#pool.connect())
    try {
      return await Promise.race([late, client])
    } catch (error) {
      client.then(
        (unused) => unused.release(),
        () => {},
      )
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  #open(): Promise<void> {
    if (this.#attempt !== undefined) return this.#attempt
    const { options } = this.#pool
    const startMs = performance.now()
    const timeoutMs = options.connectionTimeoutMillis ?? this.#waitMs
    this.#attempt = this.#pool
      .connect()
      .then(
        (client) => client.release(),
        (error: unknown) => {
          const isLate = performance.now() - startMs >= timeoutMs
          if (isLate) options.connectionTimeoutMillis = Math.min(2 * timeoutMs, MAX_ATTEMPT_MS)
          throw error
        },
      )
      .finally(() => (this.#attempt = undefined))
    return this.#attempt
  }
}
