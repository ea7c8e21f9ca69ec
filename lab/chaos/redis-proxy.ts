/** Lies between the gateways and Redis, so that replies can get lost. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface ReplyProxy {
  readonly url: string
  /** The share of replies that never arrive, from 0 to 1. */
  swallowedShare: number
  stop(): void
}

export async function startReplyProxy(redisPort: number): Promise<ReplyProxy> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.once('close', () => sockets.delete(socket)).setNoDelay()
  }
  const server = createServer((client) => {
    const redis = keep(connect(redisPort, '127.0.0.1'))
    keep(client).pipe(redis)
    // The end of either side, in whatever way, ends the other.
    client.on('error', () => redis.destroy()).on('close', () => redis.destroy())
    redis.on('error', () => client.destroy()).on('close', () => client.destroy())
    redis.on('data', (reply) => {
      if (Math.random() >= proxy.swallowedShare) client.write(reply)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: ReplyProxy = {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    swallowedShare: 0,
    stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
  return proxy
}
