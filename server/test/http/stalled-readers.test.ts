/** Clients that don't read their answers: they could hold them in the memory of the node for ever. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { GATEWAY_KEY, startGateway } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'

const gateway = await startGateway({
  models: { 'plain-w1536': { on: 'plain' } },
  limits: { downloadIdleMs: 400 },
})
const { hostname, port } = new URL(gateway.url)

/** Sends the same request `times` times on one connection, and reads nothing. */
async function stalled(inputs: number, times: number): Promise<Socket> {
  const body = JSON.stringify({
    model: 'plain-w1536',
    input: Array.from({ length: inputs }, (_, index) => `text ${index}`),
    encoding_format: 'float',
  })
  const head = `POST /v1/embeddings HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${GATEWAY_KEY}\r\ncontent-type: application/json\r\n`
  const socket = connect(Number(port), hostname).pause()
  socket.on('error', () => {})
  await once(socket, 'connect')
  for (let sent = 0; sent < times; sent += 1)
    socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  return socket
}

async function figure(name: string): Promise<number> {
  const metrics = await (await fetch(`${gateway.controlUrl}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1] ?? -1)
}

// More than the buffers of the system take.
for (const [what, inputs, times] of [
  ['one large answer', 1000, 1],
  ['many small answers on one connection', 8, 200],
] as const) {
  test(`${what}: the connection is closed after a while, and counted`, async () => {
    const before = await figure('torana_connections_stalled_total')
    const socket = await stalled(inputs, times)
    await eventually(async () => assert.equal(await figure('torana_connections_stalled_total'), before + 1))
    socket.destroy()
  })
}

test('a client that reads is left alone, and so is one that waits between two requests', async () => {
  const before = await figure('torana_connections_stalled_total')
  const socket = await stalled(1000, 1)
  const ended = new Promise<void>((resolve) => {
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text = text.slice(-100) + chunk.toString('latin1')
      if (/"total_tokens":\d+\}\}/.test(text)) resolve()
    })
  })
  socket.resume()
  await ended
  // Longer than a pause within an answer may be.
  await new Promise((resolve) => setTimeout(resolve, 1500))
  socket.write('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n')
  await once(socket, 'data')
  socket.destroy()
  assert.equal(await figure('torana_connections_stalled_total'), before)
})
