/** An upload that reports its progress, which `fetch` can't. For the `fetch` option of a write. */
import { words } from '../words/words.ts'
import { UnreachableError } from './faults.ts'

export function uploading(
  body: Blob,
  onSent: (sentBytes: number) => void,
): (request: Request) => Promise<Response> {
  return (request) =>
    new Promise((resolve, reject) => {
      const { signal } = request
      const sending = new XMLHttpRequest()
      sending.open(request.method, request.url)
      for (const [name, value] of request.headers) sending.setRequestHeader(name, value)
      sending.upload.addEventListener('progress', ({ loaded }) => onSent(loaded))
      sending.addEventListener('load', () => resolve(responseOf(sending)))
      sending.addEventListener('error', () => reject(new UnreachableError(words.ui.unreachable)))
      sending.addEventListener('abort', () => reject(signal.reason as Error))
      if (signal.aborted) return reject(signal.reason as Error)
      signal.addEventListener('abort', () => sending.abort(), { once: true })
      sending.send(body)
    })
}

function responseOf(sent: XMLHttpRequest): Response {
  const lines = sent.getAllResponseHeaders().trim().split(/\r?\n/)
  const headers = lines.map((line) => line.split(/: (.*)/s, 2) as [string, string])
  return new Response(sent.responseText, {
    status: sent.status,
    headers: headers.filter(([name]) => name !== ''),
  })
}
