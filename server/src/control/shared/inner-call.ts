/** A request to a handler of the gateway without a connection: what the node sends itself, and what it answers. */
import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { PathModel } from '#core/request/path-model.ts'
import type { RequestHandler } from '#http/gateway/caller/journey.ts'
import type { Key } from '#ports/keys.ts'

export interface InnerCall {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly path: PathModel | undefined
  readonly key: Key
  /** The address of the person who asks for it. */
  readonly address: string | undefined
  /** Aborts when that person has left. */
  readonly signal: AbortSignal
}

export interface InnerAnswer {
  readonly status: number
  readonly requestId: string
  /** The beginning of it: errors and dry runs are shorter, and no one reads images here. */
  readonly body: string
}

/** Bytes of an answer that are read: many times a dry run over all deployments of a model. */
const MAX_READ_BYTES = 256 * 1024

export async function callInside(handler: RequestHandler, call: InnerCall): Promise<InnerAnswer> {
  const connection = new InnerConnection(call.address)
  const request = new IncomingMessage(connection as Duplex as Socket)
  // Answers of HTTP/1.0 have no chunks.
  Object.assign(request, { method: 'POST', httpVersion: '1.0', httpVersionMajor: 1, httpVersionMinor: 0 })
  request.headers = {
    ...call.headers,
    'content-type': 'application/json',
    'content-length': String(call.body.length),
  }
  request.push(call.body)
  request.push(null)
  request.complete = true
  const response = new ServerResponse(request)
  response.assignSocket(connection as Duplex as Socket)
  // As a server does once an answer is sent.
  response.once('finish', () => connection.destroy())
  const leave = (): void => void connection.destroy()
  call.signal.addEventListener('abort', leave)
  try {
    await handler(request, response, call.path, call.key)
    if (!response.writableFinished) await finished(response, { readable: false }).catch(() => {})
    return connection.answer(response.statusCode)
  } finally {
    call.signal.removeEventListener('abort', leave)
    connection.destroy()
  }
}

/** Takes everything, and keeps the beginning. */
class InnerConnection extends Duplex {
  readonly remoteAddress: string | undefined
  readonly #chunks: Buffer[] = []
  #bytes = 0

  constructor(remoteAddress: string | undefined) {
    super()
    this.remoteAddress = remoteAddress
  }

  answer(status: number): InnerAnswer {
    const text = Buffer.concat(this.#chunks).toString('utf8')
    const end = text.indexOf('\r\n\r\n')
    const requestId = /^x-request-id: (\S+)/im.exec(text.slice(0, Math.max(0, end)))?.[1] ?? ''
    return { status, requestId, body: end < 0 ? '' : text.slice(end + 4) }
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (this.#bytes < MAX_READ_BYTES) this.#chunks.push(chunk)
    this.#bytes += chunk.length
    done()
  }
}
