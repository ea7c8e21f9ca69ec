import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Scenario } from './traits.ts'

export type Reply = { status: number; headers: Record<string, string>; body: Buffer }

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
  } else if (scenario.has('chunked-N')) {
    response.writeHead(status, headers)
    await writtenInChunks(response, body, Math.max(1, scenario.amount('chunked-N') ?? 1))
    response.end()
  } else {
    response.writeHead(status, { ...headers, 'content-length': body.length })
    response.end(body)
  }
}

async function writtenInChunks(response: ServerResponse, body: Buffer, chunkBytes: number): Promise<void> {
  for (let start = 0; start < body.length && !response.destroyed; start += chunkBytes) {
    await written(response, body.subarray(start, start + chunkBytes))
    // Without a turn of the event loop in between, the kernel would join the chunks into one segment.
    await nextTurn()
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
