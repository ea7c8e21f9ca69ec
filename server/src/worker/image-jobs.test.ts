import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultLimits } from '#core/settings.ts'
import { JobLost, JOB_HOLD_MS } from '#ports/image-jobs.ts'
import { systemClock } from '#runtime/clock.ts'
import { MemoryImageJobs } from '#test/support/stores/image-jobs.ts'
import { aCall, aJob, begunHold } from '#test/contract/image-jobs-open.ts'
import { memoryImages } from '#test/support/image-parts.ts'
import { startImageWorker, type ImageWorkerParts } from './image-jobs.ts'

test('a node that stood still for longer than its holds last keeps the jobs that it works on', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let lateMs = 0
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + lateMs }
  const images = { ...memoryImages(), jobs: new MemoryImageJobs(clock) }
  const { jobs, running, nodeId } = images
  const job = aJob({ nodeId })
  const hold = await begunHold(jobs, job)
  void running.start(job.id, running.place(job.project), () => new Promise(() => {}))
  const failures: unknown[] = []
  const worker = startImageWorker(
    { ...images, clock, limits: defaultLimits, takesOver: true } as unknown as ImageWorkerParts,
    { tookOver: (id) => failures.push(id), failed: (_, error) => failures.push(error), deleted: () => {} },
  )
  lateMs += 2 * JOB_HOLD_MS
  // It looks for other nodes' jobs before it would renew its own.
  t.mock.timers.tick(2000)
  await worker.stop()
  await jobs.dispatched(hold, aCall())
  assert.deepEqual(failures, [])
})

test('a job that a node takes back while it still works on it goes on as soon as that work has ended', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const images = { ...memoryImages(), jobs: new MemoryImageJobs(systemClock) }
  const { jobs, running, nodeId } = images
  const job = aJob({ nodeId })
  await begunHold(jobs, job)
  const work = Promise.withResolvers<never>()
  void running.start(job.id, running.place(job.project), () => work.promise)
  // As if another node had held it and released it.
  await jobs.release(nodeId)
  const took: string[] = []
  const worker = startImageWorker(
    { ...images, clock: systemClock, limits: defaultLimits, takesOver: true } as unknown as ImageWorkerParts,
    { tookOver: (id) => took.push(id), failed: () => {}, deleted: () => {} },
  )
  t.mock.timers.tick(2000)
  await worker.stop()
  assert.deepEqual(took, [], 'two of one node would buy side by side')
  work.reject(new JobLost('another node had it'))
  await running.settled()
  assert.deepEqual(took, [job.id])
})
