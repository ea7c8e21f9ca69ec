import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Holding } from '#core/schedule/fair-share.ts'
import { Fault } from '#core/fault/fault.ts'
import type { ImageOutcome } from './outcome.ts'
import { RunningJobs } from './running-jobs.ts'

const atOnce = (): Promise<unknown> => Promise.resolve()
const never = (): Promise<unknown> => new Promise(() => {})
const limits = { maxImageJobs: 64, queueWaitMs: 2000 }

function aJob(): PromiseWithResolvers<ImageOutcome> {
  return Promise.withResolvers()
}

const OUTCOME: ImageOutcome = {
  kind: 'fault',
  fault: new Fault('internal_error', 'over'),
  isUnknown: false,
  freesKey: true,
}

/** All that one project gets. */
async function fill(running: RunningJobs, project: string): Promise<Holding[]> {
  const places: Holding[] = []
  for (;;) {
    const place = await running.place(project).catch((error: unknown) => error)
    if (place instanceof Fault) {
      assert.equal(place.code, 'too_many_image_jobs')
      assert.match(place.message, new RegExp(`project '${project}', which already has ${places.length}\\.`))
      return places
    }
    places.push(place as Holding)
  }
}

test('a project alone gets nearly all places, and others still get some', async () => {
  const running = new RunningJobs(limits, atOnce)
  assert.equal((await fill(running, 'loud')).length, 56)
  assert.equal((await fill(running, 'second')).length, 7)
  assert.ok(await running.place('calm'))
})

test('one place is enough for any project', async () => {
  const running = new RunningJobs({ ...limits, maxImageJobs: 1 }, atOnce)
  const [place] = await fill(running, 'loud')
  assert.equal((await fill(running, 'calm')).length, 0)
  place?.[Symbol.dispose]()
  assert.equal((await fill(running, 'calm')).length, 1)
})

test('a job gives its place back when it ends, however it ends, to whoever waits', async () => {
  const running = new RunningJobs({ ...limits, maxImageJobs: 1 }, never)
  for (const isLost of [false, true]) {
    const job = aJob()
    const end = running.start('one', await running.place('p'), () => job.promise)
    const next = running.place('q')
    assert.equal(running.size, 1)
    if (isLost) job.reject(new Error('lost'))
    else job.resolve(OUTCOME)
    await (isLost ? assert.rejects(end) : end)
    ;(await next)[Symbol.dispose]()
    assert.equal(running.size, 0)
  }
})

test('a job that was taken over is this node’s while it waits for its place', async () => {
  const running = new RunningJobs({ ...limits, maxImageJobs: 1 }, never)
  const place = await running.place('p')
  let hasBegun = false
  const end = running.start('taken', running.turn('p'), async () => {
    hasBegun = true
    return OUTCOME
  })
  await Promise.resolve()
  assert.deepEqual([running.ids, hasBegun], [['taken'], false])
  place[Symbol.dispose]()
  assert.equal(await end, OUTCOME)
})
