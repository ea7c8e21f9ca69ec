/** Loaded into a gateway with `--import`: reports figures on a separate socket that only the process itself knows. */
import { createServer } from 'node:http'
import { isMainThread } from 'node:worker_threads'
import { watchLoop } from '../../server/test/support/loop-watch.ts'

export interface Probed {
  /** CPU time of the longest round of its event loop since the last question. */
  readonly longestRoundMs: number
  /** Of all its threads, since it began. */
  readonly cpuMs: number
  readonly heapBytes: number
  /** Memory of buffers, which lie outside the heap. */
  readonly bufferBytes: number
}

// Threads inherit the option.
if (isMainThread && process.env['GATEWAY_PROBE_SOCKET'] !== undefined) {
  const watch = watchLoop()
  createServer((_request, response) => {
    const { user, system } = process.cpuUsage()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    const answer: Probed = {
      longestRoundMs: watch.longestMs(),
      cpuMs: (user + system) / 1000,
      heapBytes: heapUsed,
      bufferBytes: arrayBuffers,
    }
    response.end(JSON.stringify(answer))
  })
    .listen(process.env['GATEWAY_PROBE_SOCKET'])
    .unref()
}
