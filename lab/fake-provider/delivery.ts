import type { ServerResponse } from 'node:http'
import { setTimeout as delay, setImmediate as yieldLoop } from 'node:timers/promises'
import type { Scenario } from './traits.ts'

export type Reply = {
  status: number
  headers: Record<string, string>
  body: Buffer
  /** The body as it leaves: event by event. After a cut the connection ends in the middle of the answer. */
  stream?: { events: Buffer[]; gapMs: number; cut: boolean }
}

/** The part of a body that the scenario lets through. */
export function deliveredPart(scenario: Scenario, body: Buffer): Buffer {
  const cut = scenario.has('half-body') || scenario.has('half-body-chunked')
  return cut ? body.subarray(0, Math.floor(body.length / 2)) : body
}

export async function deliver(scenario: Scenario, response: ServerResponse, reply: Reply): Promise<void> {
  const { status, headers, body } = reply
  const part = deliveredPart(scenario, body)
  if (scenario.has('half-body')) {
    response.writeHead(status, { ...headers, 'content-length': body.length })
    await written(response, part)
    response.destroy()
  } else if (scenario.has('half-body-chunked')) {
    response.writeHead(status, headers)
    await written(response, part)
    response.destroy()
  } else if (reply.stream !== undefined) {
    response.writeHead(status, headers)
    await streamed(scenario, response, reply.stream)
  } else if (scenario.has('chunked-N')) {
    response.writeHead(status, headers)
    await writtenInChunks(response, body, Math.max(1, scenario.amount('chunked-N') ?? 1))
    response.end()
  } else {
    response.writeHead(status, { ...headers, 'content-length': body.length })
    response.end(body)
  }
}

async function streamed(
  scenario: Scenario,
  response: ServerResponse,
  { events, gapMs, cut }: NonNullable<Reply['stream']>,
): Promise<void> {
  for (const event of events) {
    if (gapMs > 0) await delay(gapMs)
    if (response.destroyed) return
    await writtenInChunks(response, event, Math.max(1, scenario.amount('chunked-N') ?? event.length))
  }
  if (cut) response.destroy()
  else response.end()
}

async function writtenInChunks(response: ServerResponse, body: Buffer, chunkBytes: number): Promise<void> {
  for (let start = 0; start < body.length && !response.destroyed; start += chunkBytes) {
    await written(response, body.subarray(start, start + chunkBytes))
    // Without a round of the event loop in between, the kernel would join the chunks into one segment.
    await yieldLoop()
  }
}

/** Resolves once the bytes have gone to the kernel, or the connection is gone. */
function written(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', resolve)
    response.write(bytes, () => {
      response.off('close', resolve)
      resolve()
    })
  })
}
