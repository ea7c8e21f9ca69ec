import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WorkerClient, WorkerError, type TaskMessage, type TaskReply } from './worker-client.ts'

interface Tasks {
  readonly double: { readonly request: number; readonly response: number }
}

/** The browser's side of a worker: the test decides what it answers, and when. */
function startWorker() {
  const sent: TaskMessage[] = []
  let isTerminated = false
  const worker = {
    postMessage: (message: TaskMessage) => sent.push(message),
    terminate: () => (isTerminated = true),
  } as unknown as Worker
  const tasks = new WorkerClient<Tasks>(worker)
  return {
    tasks,
    sent,
    isTerminated: () => isTerminated,
    reply: (data: TaskReply) => worker.onmessage?.({ data } as MessageEvent),
    fail: (event: Partial<ErrorEvent>) => worker.onerror?.(event as ErrorEvent),
  }
}

test('each request gets its own response, in whatever order they arrive', async () => {
  const { tasks, reply } = startWorker()
  const [one, two, three] = [1, 2, 3].map((request) => tasks.request('double', request))
  reply({ id: 3, response: 6 })
  reply({ id: 2, error: 'too large' })
  reply({ id: 1, response: 2 })
  assert.equal(await one, 2)
  assert.equal(await three, 6)
  await assert.rejects(two ?? assert.fail(), /^Error: too large$/)
})

test('a worker that cannot load fails every request, pending or later, and is ended', async () => {
  const { tasks, fail, isTerminated } = startWorker()
  const pending = tasks.request('double', 1)
  fail({})
  await assert.rejects(pending, WorkerError)
  await assert.rejects(tasks.request('double', 2), WorkerError)
  assert.ok(tasks.isClosed && isTerminated())
})

test('closing aborts what is pending and ends the worker', async () => {
  const { tasks, isTerminated } = startWorker()
  const pending = tasks.request('double', 1)
  tasks.close()
  await assert.rejects(pending, { name: 'AbortError' })
  assert.ok(isTerminated())
})
