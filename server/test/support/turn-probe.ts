/** Loaded into a gateway with `--import`: tells on a socket of its own how long the longest turn was since the last question. */
import { createServer } from 'node:http'
import { isMainThread } from 'node:worker_threads'
import { watchTurns } from './turns.ts'

// Threads inherit the option.
if (isMainThread) {
  const turns = watchTurns()
  createServer((_request, response) => response.end(String(turns.longestMs())))
    .listen(process.env['TURN_PROBE_SOCKET'])
    .unref()
}
