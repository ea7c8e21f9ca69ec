/** The yardstick: `node:http` and undici's `pool.request`, the body buffered, nothing else. */
import { createServer } from 'node:http'
import { Pool } from 'undici'

const [origin = '', port = '0'] = process.argv.slice(2)
const pool = new Pool(origin, { connections: 512 })

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    void forward(Buffer.concat(chunks)).then(
      ({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length })
        response.end(body)
      },
      () => response.writeHead(502).end(),
    )
  })

  async function forward(body: Buffer): Promise<{ status: number; body: Buffer }> {
    const answer = await pool.request({
      path: request.url ?? '/',
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: request.headers.authorization ?? '' },
      body,
    })
    return { status: answer.statusCode, body: Buffer.from(await answer.body.arrayBuffer()) }
  }
})
server.listen(Number(port), '127.0.0.1', () => process.send?.('ready'))
