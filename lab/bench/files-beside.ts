/** A caller that embeds beside a large file: one text after another, until the thread receives the order to stop. */
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

const { url, headers, body } = workerData as {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const times: number[] = []
const over = new AbortController()
parentPort?.once('message', () => over.abort())
while (!over.signal.aborted) {
  const startedMs = performance.now()
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  })
  await answer.arrayBuffer()
  times.push(performance.now() - startedMs)
  await wait(5)
}
parentPort?.postMessage(times)
