/** Loaded into a gateway with `--import`: reports on a separate socket the longest round since the last question. */
import { createServer } from 'node:http'
import { isMainThread } from 'node:worker_threads'
import { watchLoop } from './loop-watch.ts'

// Threads inherit the option.
if (isMainThread) {
  const watch = watchLoop()
  createServer((_request, response) => response.end(String(watch.longestMs())))
    .listen(process.env['LOOP_PROBE_SOCKET'])
    .unref()
}
