/** Requests that no client library would send, byte by byte. */
import { once } from 'node:events'
import { connect } from 'node:net'

export interface RawAnswer {
  /** Everything that came back until the connection ended. */
  readonly text: string
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** Sends the parts unchanged, then waits for the other side to close. */
export async function sendRaw(
  url: string,
  pieces: readonly (string | Buffer)[],
  { thenClose = false } = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  // A reset is one way for the other side to close.
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await once(socket, 'connect')
  for (const piece of pieces) socket.write(piece)
  if (thenClose) socket.destroySoon()
  await closed
  return parsed(Buffer.concat(chunks).toString('latin1'))
}

function parsed(text: string): RawAnswer {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2)
  const [first = '', ...lines] = head.split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  )
  return { text, status: Number(first.split(' ')[1] ?? 0), headers, body }
}
