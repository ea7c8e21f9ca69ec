/**
 * An upstream that misbehaves when a text asks for it, as a broken or hostile server would. Otherwise it returns a vector
 * of 16 numbers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { text } from 'node:stream/consumers'

const JSON_TYPE = { 'content-type': 'application/json' }
const TINY_CHUNKS = 20_000
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
const vector = JSON.stringify(Array.from({ length: 16 }, (_, index) => index + 1))

const ways: Readonly<Record<string, (response: ServerResponse, body: string) => void | Promise<void>>> = {
  echo: (response, body) => {
    response.writeHead(400, JSON_TYPE).end(JSON.stringify({ error: { message: `bad: ${body}` } }))
  },
  fail: (response) => {
    response.writeHead(500, JSON_TYPE).end('{"error":{"message":"inference failed"}}')
  },
  never: () => {},
  async chunks(response) {
    response.writeHead(200, JSON_TYPE).write('{"data":[{"embedding":[1')
    for (let sent = 0; sent < TINY_CHUNKS && !response.destroyed; sent += 1) {
      if (!response.write('1')) await wait(1)
      if (sent % 500 === 0) await wait(1)
    }
    response.end()
  },
  async endless(response) {
    response.writeHead(200, JSON_TYPE)
    const chunk = Buffer.alloc(65_536, ' ')
    for (let sent = 0; sent < MAX_ANSWER_BYTES && !response.destroyed; sent += chunk.length) {
      response.write(chunk)
      await wait(1)
    }
    response.destroy()
  },
}

export async function playHostile(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const way = ways[/@@(\w+)@@/.exec(body)?.[1] ?? '']
  if (way) return way(response, body)
  response
    .writeHead(200, JSON_TYPE)
    .end(`{"data":[{"index":0,"embedding":${vector}}],"usage":{"prompt_tokens":1,"total_tokens":1}}`)
}
