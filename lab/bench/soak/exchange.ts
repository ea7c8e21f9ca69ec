/** One HTTP exchange of a client that may leave at any byte. */
import { Agent, request, type IncomingHttpHeaders } from 'node:http'

/** When a client leaves: while it sends, while it waits, while it reads. */
export type Leaving =
  | { readonly while: 'sending'; readonly share: number }
  | { readonly while: 'waiting'; readonly ms: number }
  | { readonly while: 'reading'; readonly bytes: number }

export interface Asked {
  readonly url: string
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly leaving?: Leaving | undefined
}

export interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const agent = new Agent({ keepAlive: true })
/** Longer than any limit of the gateway: a request that waits this long was lost. */
const FORGOTTEN_MS = 180_000

export function endExchanges(): void {
  agent.destroy()
}

/** Undefined when the client left. Throws for a failure while the client stayed. */
export function exchange({ url, key, headers = {}, body, leaving }: Asked): Promise<Received | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(url, {
      method: body === undefined ? 'GET' : 'POST',
      agent,
      headers: {
        ...headers,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-length': body.length }),
      },
    })
    const forgotten = setTimeout(() => asked.destroy(new Error('no answer')), FORGOTTEN_MS)
    let hasLeft = false
    const leave = (): void => {
      hasLeft = true
      asked.destroy()
    }
    const end = (received: Received | undefined, error?: Error): void => {
      clearTimeout(forgotten)
      if (hasLeft) resolve(undefined)
      else if (error === undefined) resolve(received)
      else reject(error)
    }
    asked.on('error', (error) => end(undefined, error))
    asked.on('close', () => end(undefined, new Error('closed without an answer')))
    asked.on('response', (answer) => {
      const chunks: Buffer[] = []
      let length = 0
      answer.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        length += chunk.length
        if (leaving?.while === 'reading' && length >= leaving.bytes) leave()
      })
      answer.on('error', (error) => end(undefined, error))
      answer.on('end', () => {
        const { statusCode: status = 0, headers: answerHeaders, complete } = answer
        end(
          { status, headers: answerHeaders, body: Buffer.concat(chunks) },
          complete ? undefined : new Error('a cut answer'),
        )
      })
    })
    if (leaving?.while === 'waiting') setTimeout(leave, leaving.ms)
    if (leaving?.while === 'sending' && body !== undefined) {
      asked.write(body.subarray(0, Math.floor(body.length * leaving.share)), () => setTimeout(leave, 5))
    } else {
      asked.end(body)
    }
  })
}
