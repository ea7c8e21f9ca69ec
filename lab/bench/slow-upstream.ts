/** An upstream that is never the bottleneck: every call is answered after the same time, however many come. */
import { createServer } from 'node:http'

const [port = '0', delayMs = '20'] = process.argv.slice(2)
const vector = new Uint8Array(new Float32Array(16).fill(0.25).buffer).toBase64()
const answer = Buffer.from(
  `{"object":"list","data":[{"object":"embedding","index":0,"embedding":"${vector}"}],"model":"m","usage":{"prompt_tokens":8,"total_tokens":8}}`,
)
const headers = { 'content-type': 'application/json', 'content-length': answer.length }

createServer((request, response) => {
  request.resume()
  setTimeout(() => response.writeHead(200, headers).end(answer), Number(delayMs))
}).listen(Number(port), '127.0.0.1')
