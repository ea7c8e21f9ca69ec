/**
 * Connections on their way to a worker. Node's cluster hands each to one worker and waits for its word; when the worker dies instead,
 * the cluster keeps the connection open and forgets it, so that its caller waits for ever. Here the cluster gets the word that the
 * worker can't give any more.
 */
import type { Worker } from 'node:cluster'

/** What Node's cluster sends to a worker, and hears from it. Node documents none of it: a test of the workers notices a change. */
interface ClusterMessage {
  readonly cmd: string
  readonly act?: string
  readonly seq?: number
  readonly ack?: number
  readonly port?: number | null
}

type Send = (message: ClusterMessage, ...rest: unknown[]) => boolean

/** `hasOthers`: another worker takes connections. */
export function keepHandedConnections(worker: Worker, hasOthers: () => boolean): void {
  const { process: child } = worker
  const waiting = new Set<number>()
  const send: Send = child.send.bind(child) as Send
  const noting: Send = (message, ...rest) => {
    if (message.act === 'newconn' && message.seq !== undefined) waiting.add(message.seq)
    return send(message, ...rest)
  }
  child.send = noting
  child.on('internalMessage', ({ ack }: ClusterMessage) => {
    if (ack !== undefined) waiting.delete(ack)
  })
  // By now all that the worker ever said has been heard: it has read nothing of a connection that it did not say it takes.
  child.once('close', () => {
    if (waiting.size === 0) return
    // With a connection on its way, Node never notices that the worker is gone, and would hand it the next one.
    worker.disconnect()
    // Without another worker the connection counts as taken: the cluster then closes it, and its caller knows at once.
    const accepted = !hasOthers()
    for (const ack of waiting) child.emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted })
  })
}

/** Called when a worker asks for a port, before the cluster binds it. */
export function onAboutToBind(
  { process: child }: Worker,
  work: (port: number | null | undefined) => void,
): void {
  child.prependListener('internalMessage', ({ act, port }: ClusterMessage) => {
    if (act === 'queryServer') work(port)
  })
}
