/**
 * A server before the node for a browser that tells WebDriver nothing of its console: it adds a script to the page that collects
 * errors, and notes the requests that the node refused.
 */
import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

const SCRIPT_PATH = '/test-probe.js'

/** Runs before all other scripts. The content security policy allows scripts of the same address. */
function collect(): void {
  const complaints: string[] = []
  Object.assign(globalThis, { toranaComplaints: complaints })
  addEventListener('error', ({ message }) => complaints.push(message))
  addEventListener('unhandledrejection', ({ reason }) => complaints.push(String(reason)))
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
    complaints.push(`${violatedDirective} ${blockedURI}`),
  )
  const report = console.error
  console.error = (...given) => {
    complaints.push(given.map(String).join(' '))
    report(...given)
  }
}

export interface Probe {
  readonly url: string
  readonly refused: string[]
  readonly close: () => Promise<void>
}

export async function startProbe(target: string): Promise<Probe> {
  const refused: string[] = []
  const server = createServer((asked, answer) => {
    if (asked.url === SCRIPT_PATH) {
      answer.setHeader('content-type', 'text/javascript').end(`(${String(collect)})()`)
      return
    }
    // Compressed pages could not be added to.
    const { 'accept-encoding': _, ...headers } = asked.headers
    const passed = request(`${target}${asked.url}`, { method: asked.method, headers }, (got) => {
      const status = got.statusCode ?? 0
      if (status >= 400) refused.push(`${status} ${asked.url}`)
      if (got.headers['content-type']?.startsWith('text/html') === true) {
        void whole(got).then((html) => {
          const { 'content-length': _length, ...kept } = got.headers
          answer.writeHead(status, kept)
          answer.end(html.replace('<head>', `<head><script src="${SCRIPT_PATH}"></script>`))
        })
        return
      }
      answer.writeHead(status, got.headers)
      got.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function whole(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
