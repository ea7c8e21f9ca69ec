/** A proxy between a limiter and its Redis: commands pass, replies get lost or late. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { after } from 'node:test'

export interface ReplyProxy {
  readonly url: string
  /** Asked for each reply. */
  swallows: () => boolean
  delayMs: number
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
    // The end of either side, in any way, ends the other.
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy())
    }
    redis.on('data', (chunk) => {
      if (proxy.swallows()) return
      if (proxy.delayMs === 0) client.write(chunk)
      else setTimeout(() => client.write(chunk), proxy.delayMs)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const proxy: ReplyProxy = {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    swallows: () => false,
    delayMs: 0,
  }
  return proxy
}
