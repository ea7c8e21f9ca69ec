/** What becomes of connections to stores, in the log. */
import type { Log } from './log.ts'

/** Connections that break within it have one cause, and one line. */
const TOGETHER_MS = 1000

/** One line for connections that break together: a server that stops breaks every idle connection of the node at once. */
export function brokenConnectionsLog(log: Pick<Log, 'warn'>): (error: Error) => void {
  let connections = 0
  return ({ message: reason }) => {
    connections += 1
    if (connections > 1) return
    setTimeout(() => {
      log.warn({ connections, reason }, 'connections to PostgreSQL broke')
      connections = 0
    }, TOGETHER_MS).unref()
  }
}

type CacheTrouble = { readonly kind: string } & Readonly<Record<string, unknown>>

/** An error of a field other than `err` would be written as `{}`. */
export function cacheLog(log: Pick<Log, 'warn'>): (trouble: CacheTrouble) => void {
  return ({ error: err, ...trouble }) => {
    if (err === undefined) log.warn(trouble, 'the vector cache in Redis dropped entries')
    else log.warn({ ...trouble, err }, 'the vector cache in Redis is unreachable')
  }
}

/** `storedKeys`: the stored keys that this node knows. It may know none, as with an empty data folder. */
export function keyStoreLog(
  log: Pick<Log, 'info' | 'error'>,
  storedKeys: () => number,
): (trouble: Error | undefined) => void {
  return (err) => {
    if (err === undefined) return log.info('the key store is back')
    const keys = storedKeys()
    const says =
      keys === 0
        ? 'this node knows no stored key and accepts only those of its configuration'
        : 'this node accepts known keys for one hour'
    log.error({ err, keys }, `the key store is unreachable; ${says}`)
  }
}
