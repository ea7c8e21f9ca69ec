/**
 * The upstreams of the soak: embeddings, images, edits and streams of OpenAI's wire, failing in the way that
 * the part of the path after `/soak` names. It records every call by the id that the gateway gave it, and whether it served it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { answerEmbeddings } from './embeddings.ts'
import { answerPictures, fileOf } from './images.ts'
import type { Answer, RecordedCall, Fault } from './calls.ts'

/** Of a hundred calls, how many meet which fault. */
const ways: Readonly<
  Record<string, { readonly faults: Partial<Record<Fault, number>>; readonly delayMs: number }>
> = {
  steady: { faults: {}, delayMs: 40 },
  slow: { faults: {}, delayMs: 1500 },
  limited: { faults: { limited: 30 }, delayMs: 30 },
  failing: { faults: { failed: 20, overloaded: 10 }, delayMs: 30 },
  resetting: { faults: { reset: 10, 'served-reset': 10 }, delayMs: 30 },
  cutting: { faults: { cut: 20 }, delayMs: 30 },
  garbling: { faults: { garbled: 10, narrow: 10 }, delayMs: 30 },
}

const refusals: Partial<Record<Fault, number>> = { limited: 429, failed: 500, overloaded: 503 }

const recorded: RecordedCall[] = []

/** A request that ends in the middle stays in the records as `unread`. */
export async function playSoak(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pathname = new URL(request.url ?? '/', 'http://upstream').pathname.slice('/soak'.length)
  if (pathname === '/_calls') return void response.end(JSON.stringify(recorded))
  if (pathname.startsWith('/files/')) return sendFile(pathname, response)
  const [, name = '', path = ''] = /^\/([^/]+)(\/.*)$/.exec(pathname) ?? []
  const way = ways[name]
  // A node also asks for the list of models: that is no call.
  if (way === undefined || request.method !== 'POST') return void response.writeHead(404).end()
  const entry: RecordedCall = {
    callId: String(request.headers['x-torana-call-id'] ?? ''),
    fault: 'unread',
    served: false,
  }
  recorded.push(entry)
  const body = await buffer(request)
  entry.fault = 'none'
  await wait(Math.random() * way.delayMs)
  entry.fault = faultOf(way.faults)
  const status = refusals[entry.fault]
  if (status !== undefined) return refuse(response, status)
  if (entry.fault === 'reset') return void request.socket.resetAndDestroy()
  const type = request.headers['content-type'] ?? ''
  const origin = `http://${request.headers.host}/soak`
  const answer = path.endsWith('/embeddings')
    ? answerEmbeddings(body, entry.fault)
    : await answerPictures(body, type, { origin, path, callId: entry.callId })
  Object.assign(entry, answer.recorded, { served: true })
  await send(request, response, answer, entry.fault)
}

function faultOf(faults: Partial<Record<Fault, number>>): Fault {
  let left = Math.random() * 100
  for (const [fault, percent] of Object.entries(faults)) {
    left -= percent
    if (left < 0) return fault as Fault
  }
  return 'none'
}

function refuse(response: ServerResponse, status: number): void {
  const headers = {
    'content-type': 'application/json',
    ...(status === 429 ? { 'retry-after-ms': '50' } : {}),
  }
  response
    .writeHead(status, headers)
    .end(`{"error":{"message":"The upstream says ${status}.","type":"soak"}}`)
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  { type, chunks }: Answer,
  fault: Fault,
): Promise<void> {
  if (fault === 'served-reset') return void request.socket.resetAndDestroy()
  const body = Buffer.concat(chunks)
  if (fault === 'cut') {
    response.writeHead(200, { 'content-type': type, 'content-length': body.length })
    response.write(body.subarray(0, Math.floor(body.length * Math.random())))
    await wait(5)
    return void request.socket.destroy()
  }
  response.writeHead(200, { 'content-type': type })
  for (const chunk of chunks) {
    if (chunks.length > 1) await wait(5)
    response.write(chunk)
  }
  response.end()
}

function sendFile(pathname: string, response: ServerResponse): void {
  const file = fileOf(pathname)
  if (file === undefined) return void response.writeHead(404).end()
  response.writeHead(200, { 'content-type': 'image/png', 'content-length': file.length }).end(file)
}
