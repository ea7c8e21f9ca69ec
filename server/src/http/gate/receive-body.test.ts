import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { defaultLimits } from '#core/settings.ts'
import { BodyRoom } from './body-room.ts'
import { receiveBody } from './receive-body.ts'

const LIMIT = { maxBytes: 8 * 1024 * 1024, advice: '' }

/** Sends a body to a server that begins to read it when `begin` resolves, and returns what was received. */
async function received(
  bodyBytes: number,
  room: BodyRoom,
  begin: (request: IncomingMessage) => Promise<unknown>,
  send: (socket: Socket, body: Buffer) => Promise<unknown>,
): Promise<{ readonly sent: Buffer; readonly got: Buffer }> {
  const sent = Buffer.from(Array.from({ length: bodyBytes }, (_, at) => at % 251))
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const read = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    await begin(request)
    const sender = { share: 'p', shownAs: 'p', count: () => undefined, hold: () => {} }
    resolve(await receiveBody(request, response, LIMIT, room, () => sender))
    response.end()
  }
  const server = createServer((request, response) => void read(request, response).catch(reject))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  try {
    socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${bodyBytes}\r\n\r\n`)
    await send(socket, sent)
    return { sent, got: await promise }
  } finally {
    socket.destroy()
    server.close()
  }
}

test('a body that arrived in several parts before anyone reads it is read whole', async () => {
  const arrived = async (request: IncomingMessage): Promise<void> => {
    while (!request.complete) await wait(1)
  }
  const inParts = async (socket: Socket, body: Buffer): Promise<void> => {
    for (let at = 0; at < body.length; at += 4000) {
      socket.write(body.subarray(at, at + 4000))
      await wait(2)
    }
  }
  const { sent, got } = await received(20_000, new BodyRoom(defaultLimits), arrived, inParts)
  assert.ok(sent.equals(got), `${got.length} of ${sent.length} bytes`)
})

test('a large body that waited for memory with more than a thousand parts is put together in order', async () => {
  const bodyBytes = 2 * 1024 * 1024
  const room = new BodyRoom({ ...defaultLimits, bodyBytes: 4 * 1024 * 1024 })
  const taken = room.take('other', 2 * 1024 * 1024)
  assert.ok(taken !== undefined)
  const inParts = async (socket: Socket, body: Buffer): Promise<void> => {
    for (let at = 0; at < 1500; at += 1) {
      socket.write(body.subarray(at * 100, at * 100 + 100))
      await new Promise(setImmediate)
    }
    socket.write(body.subarray(150_000))
    await wait(50)
    taken[Symbol.dispose]()
  }
  const { sent, got } = await received(bodyBytes, room, async () => {}, inParts)
  assert.ok(sent.equals(got), `${got.length} of ${sent.length} bytes`)
})

test('a body that came with its headers is taken at once, and its connection serves the next request', async () => {
  const room = new BodyRoom(defaultLimits)
  const bodies: string[] = []
  const sender = (): never => assert.fail('the body has arrived')
  const read = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    bodies.push(String(await receiveBody(request, response, LIMIT, room, sender, false)))
    response.end()
  }
  const server = createServer((request, response) => void read(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  try {
    for (const body of ['one', 'two', 'three']) {
      socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
      const [answer] = (await once(socket, 'data')) as [Buffer]
      assert.match(String(answer), /^HTTP\/1.1 200 OK\r\n/)
    }
    assert.deepEqual(bodies, ['one', 'two', 'three'])
  } finally {
    socket.destroy()
    server.close()
  }
})
