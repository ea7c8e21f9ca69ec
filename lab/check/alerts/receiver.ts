/** A receiver of webhooks as a process of its own: each event is a line of a file before it is answered. */
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const [port = '0', file = ''] = process.argv.slice(2)

createServer((request, response) => {
  void text(request).then((body) => {
    const { id, type, data } = JSON.parse(body) as {
      readonly id: string
      readonly type: string
      readonly data: Readonly<Record<string, unknown>>
    }
    const { incident, title, grouped } = data
    appendFileSync(file, `${JSON.stringify({ id, type, incident, title, grouped })}\n`)
    response.writeHead(204).end()
  })
}).listen(Number(port), '127.0.0.1')
