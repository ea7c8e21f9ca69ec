/** An answer that is written while the request still arrives: its sender can read it, and cannot send for ever. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as send, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { endUnread } from '#http/gate/unread.ts'

const ANSWER = JSON.stringify({ error: 'refused' })
const MEGABYTE = 1024 * 1024

/** Refuses everything at its first bytes. */
const server = createServer((request, response) => {
  request.once('data', () => {
    request.pause()
    response.writeHead(400, { connection: 'close', 'content-length': ANSWER.length })
    response.end(ANSWER)
    endUnread(request, response)
  })
})
const sockets = new Set<Socket>()
server.on('connection', (socket) => {
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
after(() => {
  server.closeAllConnections()
  server.close()
})

async function noneLeft(): Promise<void> {
  for (let waited = 0; sockets.size > 0; waited += 1) {
    assert.ok(waited < 500, `${sockets.size} connections are still open`)
    await delay(20)
  }
}

/** Reads nothing before everything is sent, as simple clients do. */
async function sendAllThenRead(bytes: number, pauseMs: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const chunks: Buffer[] = []
  await once(socket, 'connect')
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.on('error', () => {})
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n`)
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += 256 * 1024) {
    await new Promise<void>((resolve) => socket.write(Buffer.alloc(256 * 1024), () => resolve()))
    await delay(pauseMs)
  }
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('end', () => socket.end())
  await closed
  return Buffer.concat(chunks).toString()
}

test('a client that sends everything before it reads sees the answer', async () => {
  for (const megabytes of [1, 4, 7]) {
    const text = await sendAllThenRead(megabytes * MEGABYTE, 5)
    assert.ok(text.startsWith('HTTP/1.1 400') && text.endsWith(ANSWER), `${megabytes} MB: ${text}`)
  }
  await noneLeft()
})

test('a client that looks for an answer while it sends stops at once', async () => {
  const sending = send({
    port,
    host: '127.0.0.1',
    method: 'POST',
    headers: { 'content-length': 100 * MEGABYTE },
  })
  sending.on('error', () => {})
  sending.write(Buffer.alloc(64 * 1024))
  const [response] = (await once(sending, 'response')) as [IncomingMessage]
  assert.equal(response.statusCode, 400)
  assert.equal(Buffer.concat(await Array.fromAsync(response)).toString(), ANSWER)
  sending.destroy()
  await noneLeft()
})

test('a client that never stops sending is cut off', async () => {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.resume()
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${1000 * MEGABYTE}\r\n\r\n`)
  let sent = 0
  while (!socket.destroyed && sent < 200 * MEGABYTE) {
    sent += MEGABYTE
    await Promise.race([
      closed,
      new Promise<void>((resolve) => socket.write(Buffer.alloc(MEGABYTE), () => resolve())),
    ])
  }
  await closed
  assert.ok(sent < 100 * MEGABYTE, `${sent} bytes were taken`)
  await noneLeft()
})

test('a client that stands still is cut off', async () => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {})
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nx')
  await once(socket, 'end')
  assert.ok(Buffer.concat(chunks).toString().endsWith(ANSWER))
  await noneLeft()
  socket.destroy()
})
