import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'

const gateway = await startGateway({
  models: { 'plain-w16': { on: 'plain' } },
  limits: { maxConnections: 4 },
})
const { hostname, port } = new URL(gateway.url)

async function opened(): Promise<Socket> {
  const socket = connect(Number(port), hostname).on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** True if the node answers on this connection, false if the node closed it. */
async function isServed(socket: Socket): Promise<boolean> {
  socket.write('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n')
  const closed = once(socket, 'close').then(() => false)
  return Promise.race([once(socket, 'data').then(() => true), closed])
}

test('more connections than allowed are closed at once, counted, and let in when others have gone', async () => {
  const sockets = await Promise.all(Array.from({ length: 4 }, opened))
  assert.deepEqual(await Promise.all(sockets.map(isServed)), [true, true, true, true])
  assert.equal(await isServed(await opened()), false)
  const metrics = await (await fetch(`${gateway.controlUrl}/metrics`)).text()
  assert.match(metrics, /^torana_connections_dropped_total 1$/m)
  for (const socket of sockets) {
    socket.destroy()
    await once(socket, 'close')
  }
  for (let isIn = false; !isIn;) {
    const socket = await opened()
    isIn = await isServed(socket)
    socket.destroy()
  }
})
