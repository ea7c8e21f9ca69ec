/** What every `ImageJobs` promises, whichever engine keeps them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CALLER_SILENT_MS,
  IDEMPOTENCY_MS,
  JobLost,
  JOB_HOLD_MS,
  RETRY_JOIN_MS,
  type BegunJob,
  type Hold,
  type ImageJobs,
  type JobEnd,
} from '#ports/image-jobs.ts'
import { UNKNOWN_POSTED_AFTER_MS } from '#ports/upkeep.ts'
import { allEnded } from '#test/support/reused-database.ts'
import { aCall, aJob, begunHold, leave, nextId, type JobsWorld } from './image-jobs-open.ts'

const settled: JobEnd = { state: 'settled', result: '{"data":[]}', freesKey: false }
const failed: JobEnd = { state: 'failed', result: '{"fault":"refused"}', freesKey: false }
const failedFree: JobEnd = { ...failed, freesKey: true }
const unknown: JobEnd = { state: 'unknown', result: '{"fault":"unknown"}', freesKey: false }

const DAY_MS = 86_400_000

/** Which job it came to. */
function joinedId(begun: BegunJob): string {
  return begun.kind === 'joined' ? begun.job.id : begun.kind
}

/** Every message of a holder. */
const SAYINGS: Readonly<Record<string, (jobs: ImageJobs, hold: Hold) => Promise<void>>> = {
  dispatched: (jobs, hold) => jobs.dispatched(hold, aCall(1)),
  submitted: (jobs, hold) => jobs.submitted(hold, 0, 'late'),
  callEnded: (jobs, hold) => jobs.callEnded(hold, 0, 'delivered'),
  'end settled': (jobs, hold) => jobs.end(hold, settled),
  'end failed': (jobs, hold) => jobs.end(hold, failedFree),
}

export function imageJobsSuite(name: string, open: () => Promise<JobsWorld>): void {
  test(`${name}: of fifty that begin at once with one idempotency key one begins, the others join it`, async () => {
    const { jobs, elsewhere } = await open()
    const asked = Array.from({ length: 50 }, () => aJob({ idempotencyKey: 'order-7' }))
    const begun = await allEnded(asked.map((job, index) => (index % 2 ? jobs : elsewhere).begin(job)))
    const first = begun.findIndex(({ kind }) => kind === 'begun')
    assert.equal(begun.filter(({ kind }) => kind === 'begun').length, 1)
    assert.deepEqual(
      new Set(begun.filter((_, index) => index !== first).map(joinedId)),
      new Set([asked[first]?.id]),
    )
  })

  test(`${name}: of retries without a key that come at once, one joins, and the others get jobs of their own`, async () => {
    const { jobs, elsewhere, passes } = await open()
    const left = aJob()
    await begunHold(jobs, left)
    await leave(jobs, left)
    const asked = Array.from({ length: 20 }, () => aJob({ isRetry: true }))
    const begun = await allEnded(asked.map((job, index) => (index % 2 ? jobs : elsewhere).begin(job)))
    const first = begun.findIndex(({ kind }) => kind === 'joined')
    assert.equal(joinedId(begun[first] as BegunJob), left.id)
    assert.equal(begun.filter(({ kind }) => kind === 'joined').length, 1)
    await passes(4000)
    const own = asked.map(({ id }) => ({ jobId: id, callerId: id }))
    await jobs.renewCallers([{ jobId: left.id, callerId: asked[first]?.id as string }, ...own])
    const others = asked.filter((_, index) => index !== first)
    const again = await allEnded(
      others.map((job, index) => (index % 2 ? jobs : elsewhere).begin({ ...job, undecidedMs: 4000 })),
    )
    assert.ok(again.every(({ kind }) => kind === 'begun'))
  })

  test(`${name}: equal requests at once that are no retries are two jobs, on two nodes as well`, async () => {
    const { jobs, elsewhere } = await open()
    const begun = await Promise.all([jobs.begin(aJob()), elsewhere.begin(aJob())])
    assert.deepEqual(begun.map(joinedId), ['begun', 'begun'])
  })

  test(`${name}: a retry gets a job of its own as soon as a caller shows that it waits on another node`, async () => {
    const { jobs, elsewhere, passes } = await open()
    const job = aJob()
    await begunHold(jobs, job)
    await jobs.renewCallers([{ jobId: job.id, callerId: job.id }])
    await passes(1000)
    const retry = aJob({ isRetry: true })
    assert.equal(joinedId(await elsewhere.begin(retry)), 'undecided')
    assert.equal(await elsewhere.find(retry.id, 'shop'), undefined)
    await passes(3000)
    assert.equal(joinedId(await elsewhere.begin({ ...retry, undecidedMs: 3000 })), 'undecided')
    await jobs.renewCallers([{ jobId: job.id, callerId: job.id }])
    assert.equal(joinedId(await elsewhere.begin({ ...retry, undecidedMs: 3000 })), 'begun')
  })

  test(`${name}: a retry that came before the caller left joins when it has`, async () => {
    const { jobs, elsewhere } = await open()
    const job = aJob()
    await begunHold(jobs, job)
    const retry = aJob({ isRetry: true })
    assert.equal(joinedId(await elsewhere.begin(retry)), 'undecided')
    await leave(jobs, job)
    assert.equal(joinedId(await elsewhere.begin(retry)), job.id)
    // Again, since the answer may have been lost.
    assert.equal(joinedId(await elsewhere.begin(retry)), job.id)
  })

  test(`${name}: the caller of a dead node counts as gone when the node was silent for long, before the hold of its job has run out`, async () => {
    const { jobs, elsewhere, passes } = await open()
    const job = aJob()
    await begunHold(jobs, job)
    const retry = aJob({ isRetry: true })
    const undecidedMs = CALLER_SILENT_MS - 1000
    await passes(undecidedMs)
    assert.equal(joinedId(await elsewhere.begin({ ...retry, undecidedMs: undecidedMs - 1000 })), 'undecided')
    await passes(1000)
    assert.equal(joinedId(await elsewhere.begin({ ...retry, undecidedMs })), job.id)
    // The node was not dead after all: the job stays the retry's.
    await jobs.renewCallers([{ jobId: job.id, callerId: job.id }])
    await leave(jobs, job)
    assert.equal(joinedId(await jobs.begin(aJob({ isRetry: true }))), 'undecided')
    await elsewhere.callerLeft({ jobId: job.id, callerId: retry.id })
    assert.equal(joinedId(await jobs.begin(aJob({ isRetry: true }))), job.id)
  })

  test(`${name}: a caller stays the job's caller when another node takes the job over`, async () => {
    const { jobs, elsewhere, passes } = await open()
    const job = aJob()
    await begunHold(jobs, job)
    await leave(jobs, job)
    const retry = aJob({ isRetry: true })
    assert.equal(joinedId(await elsewhere.begin(retry)), job.id)
    await passes(JOB_HOLD_MS)
    await elsewhere.renewCallers([{ jobId: job.id, callerId: retry.id }])
    assert.equal((await elsewhere.takeOver(nextId(), 10)).length, 1)
    assert.equal(joinedId(await jobs.begin(aJob({ isRetry: true, undecidedMs: 5000 }))), 'begun')
  })

  test(`${name}: an idempotency key that was used for something else is a conflict, in its own project only`, async () => {
    const { jobs } = await open()
    const idempotencyKey = 'order-7'
    await begunHold(jobs, aJob({ idempotencyKey }))
    assert.deepEqual(await jobs.begin(aJob({ idempotencyKey, digest: 'digest-2' })), { kind: 'conflict' })
    await begunHold(jobs, aJob({ idempotencyKey, digest: 'digest-2', project: 'other', keyId: 'other/ci' }))
    await begunHold(jobs, aJob({ idempotencyKey: 'order-8' }))
  })

  test(`${name}: another key of the project joins by the idempotency key as well`, async () => {
    const { jobs } = await open()
    const job = aJob({ idempotencyKey: 'order-7' })
    const hold = await begunHold(jobs, job)
    await jobs.end(hold, settled)
    await jobs.answered(job.id)
    const again = await jobs.begin(aJob({ idempotencyKey: 'order-7', keyId: 'shop/web' }))
    assert.ok(again.kind === 'joined')
    assert.deepEqual([again.job.id, again.job.state, again.job.result], [job.id, 'settled', settled.result])
  })

  test(`${name}: an idempotency key is good for a day, then it may be used for anything`, async () => {
    const { jobs, passes } = await open()
    const idempotencyKey = 'order-7'
    const old = aJob({ idempotencyKey })
    await jobs.end(await begunHold(jobs, old), settled)
    await passes(IDEMPOTENCY_MS - 60_000)
    assert.equal(joinedId(await jobs.begin(aJob({ idempotencyKey }))), old.id)
    await passes(60_000)
    const asked = Array.from({ length: 10 }, () => aJob({ idempotencyKey, digest: 'digest-2' }))
    const begun = await allEnded(asked.map((job) => jobs.begin(job)))
    assert.equal(begun.filter(({ kind }) => kind === 'begun').length, 1)
    assert.equal(begun.filter(({ kind }) => kind === 'joined').length, 9)
    assert.equal((await jobs.find(old.id, 'shop'))?.state, 'settled')
  })

  test(`${name}: a failure that bought nothing frees its idempotency key, another one keeps it`, async () => {
    const { jobs } = await open()
    const idempotencyKey = 'order-7'
    await jobs.end(await begunHold(jobs, aJob({ idempotencyKey })), failedFree)
    const second = aJob({ idempotencyKey })
    await jobs.end(await begunHold(jobs, second), failed)
    assert.equal(joinedId(await jobs.begin(aJob({ idempotencyKey }))), second.id)
    for (const state of ['settled', 'unknown'] as const) {
      const hold = await begunHold(jobs, aJob())
      await assert.rejects(jobs.end(hold, { ...settled, state, freesKey: true }), RangeError)
    }
  })

  for (const [what, joins, prepare] of RETRIES) {
    test(`${name}: a retry of the SDK's own ${joins ? 'joins' : 'does not join'} ${what}`, async () => {
      const world = await open()
      const job = aJob()
      const hold = await begunHold(world.jobs, job)
      await prepare(world, hold)
      await leave(world.jobs, job)
      const retry = await world.jobs.begin(aJob({ isRetry: true }))
      assert.equal(joinedId(retry), joins ? job.id : 'begun')
    })
  }

  test(`${name}: only a retry joins, only the same request of the same key, the newest`, async () => {
    const { jobs, passes } = await open()
    const older = aJob()
    await begunHold(jobs, older)
    await passes(10)
    const newer = aJob()
    await begunHold(jobs, newer)
    await leave(jobs, older, newer)
    assert.equal(joinedId(await jobs.begin(aJob({ isRetry: true }))), newer.id)
    await leave(jobs, newer)
    for (const other of [
      { digest: 'digest-2' },
      { keyId: 'shop/web' },
      { project: 'other', keyId: 'other/ci' },
      { idempotencyKey: 'order-7' },
    ])
      await begunHold(jobs, aJob({ isRetry: true, ...other }))
    await begunHold(jobs, aJob())
  })

  test(`${name}: a retry joins no job whose own caller waits, and the next older one instead`, async () => {
    const { jobs, passes } = await open()
    const older = aJob()
    await begunHold(jobs, older)
    await passes(10)
    const newer = aJob()
    await begunHold(jobs, newer)
    await leave(jobs, older)
    assert.equal(joinedId(await jobs.begin(aJob({ isRetry: true, awaited: [newer.id] }))), older.id)
    const both = [newer.id, older.id]
    assert.equal(joinedId(await jobs.begin(aJob({ isRetry: true, awaited: both }))), 'begun')
    // An Idempotency-Key says itself that it is the same request.
    const keyed = aJob({ idempotencyKey: 'order-8' })
    await begunHold(jobs, keyed)
    const again = aJob({ idempotencyKey: 'order-8', isRetry: true, awaited: [keyed.id] })
    assert.equal(joinedId(await jobs.begin(again)), keyed.id)
    // And a retry without one retries no request that had one.
    const keyless = aJob({ isRetry: true, awaited: both, undecidedMs: 5000 })
    assert.equal(joinedId(await jobs.begin(keyless)), 'begun')
  })

  test(`${name}: an unknown is joined even if a later one bought nothing`, async () => {
    const { jobs, passes } = await open()
    const paid = aJob()
    await jobs.end(await begunHold(jobs, paid), unknown)
    await leave(jobs, paid)
    await passes(10)
    await jobs.end(await begunHold(jobs, aJob()), failedFree)
    assert.equal(joinedId(await jobs.begin(aJob({ isRetry: true }))), paid.id)
  })

  test(`${name}: a begin that is repeated because its answer was lost has begun, until another holds the job`, async () => {
    const { jobs, elsewhere, passes } = await open()
    for (const overrides of [{}, { isRetry: true, digest: 'digest-2' }, { idempotencyKey: 'order-7' }]) {
      const job = aJob(overrides)
      const hold = await begunHold(jobs, job)
      assert.deepEqual(await begunHold(jobs, job), hold)
      await jobs.dispatched(hold, aCall())
      assert.deepEqual(await begunHold(jobs, job), hold)
      await passes(JOB_HOLD_MS)
      const taken = await elsewhere.takeOver(nextId(), 10)
      assert.ok(taken.some(({ hold: { jobId } }) => jobId === job.id))
      assert.equal(joinedId(await jobs.begin(job)), job.id)
    }
  })

  test(`${name}: a job is found in its project only, and says what it came to`, async () => {
    const { jobs } = await open()
    const job = aJob()
    const hold = await begunHold(jobs, job)
    const { project, keyId, player, model } = job
    const found = await jobs.find(job.id, project)
    const createdAtMs = found?.createdAtMs as number
    const none = { batchId: undefined, endedAtMs: undefined, result: undefined }
    const running = { id: job.id, project, keyId, player, model, state: 'leased', createdAtMs, ...none }
    assert.deepEqual(found, running)
    await jobs.dispatched(hold, aCall())
    assert.equal((await jobs.find(job.id, project))?.state, 'dispatched')
    await jobs.end(hold, settled)
    const ended = await jobs.find(job.id, project)
    assert.ok((ended?.endedAtMs ?? 0) >= createdAtMs)
    const { state, result } = settled
    assert.deepEqual(ended, { ...running, state, result, endedAtMs: ended?.endedAtMs })
    for (const id of [job.id, nextId(), 'no-id', '', "'"])
      assert.equal(await jobs.find(id, 'other'), undefined)
    assert.equal(await jobs.find(job.id.toUpperCase(), project), undefined)
  })

  test(`${name}: a job is taken over when its hold has run out, with all that is known of it`, async () => {
    const { jobs, elsewhere, passes } = await open()
    const job = aJob()
    const hold = await begunHold(jobs, job)
    const [first, second] = [aCall(0), { ...aCall(1), part: 1 }]
    await jobs.dispatched(hold, second)
    await jobs.dispatched(hold, first)
    await jobs.submitted(hold, 0, '{"id":"at the upstream"}')
    await jobs.callEnded(hold, 1, 'failed')
    await passes(JOB_HOLD_MS - 5000)
    assert.deepEqual(await elsewhere.takeOver(nextId(), 10), [])
    await jobs.renew(job.nodeId, [job.id])
    await passes(JOB_HOLD_MS - 5000)
    assert.deepEqual(await elsewhere.takeOver(nextId(), 10), [])
    await passes(5000)
    const [taken, ...more] = await elsewhere.takeOver(nextId(), 10)
    assert.deepEqual(more, [])
    assert.deepEqual(taken?.hold, { jobId: job.id, token: 2 })
    assert.deepEqual([taken?.job.id, taken?.job.state, taken?.request], [job.id, 'dispatched', job.request])
    assert.deepEqual(taken?.calls, [
      { ...first, submitted: '{"id":"at the upstream"}', state: 'sent' },
      { ...second, submitted: undefined, state: 'failed' },
    ])
  })

  test(`${name}: only the jobs that a node names are its own for longer`, async () => {
    const { jobs, elsewhere, passes } = await open()
    const nodeId = nextId()
    const [named, left] = [aJob({ nodeId }), aJob({ nodeId })]
    const strange = aJob()
    for (const job of [named, left, strange]) await begunHold(jobs, job)
    await passes(JOB_HOLD_MS - 5000)
    await jobs.renew(nodeId, [named.id, strange.id, nextId()])
    await jobs.renew(nodeId, [])
    await passes(5000)
    const taken = await elsewhere.takeOver(nextId(), 10)
    assert.deepEqual(taken.map(({ job }) => job.id).toSorted(), [left.id, strange.id].toSorted())
  })

  test(`${name}: an earlier holder of a job can change nothing of it any more`, async () => {
    const { jobs, elsewhere, passes } = await open()
    const job = aJob({ idempotencyKey: 'order-7' })
    const hold = await begunHold(jobs, job)
    await jobs.dispatched(hold, aCall())
    await passes(JOB_HOLD_MS)
    const [taken] = await elsewhere.takeOver(nextId(), 10)
    const before = await jobs.find(job.id, 'shop')
    for (const say of Object.values(SAYINGS)) await assert.rejects(say(jobs, hold), JobLost)
    assert.deepEqual(await jobs.find(job.id, 'shop'), before)
    // It does not extend the hold of the current holder, either.
    await jobs.renew(job.nodeId, [job.id])
    await jobs.release(job.nodeId)
    await passes(JOB_HOLD_MS - 1000)
    await jobs.renew(job.nodeId, [job.id])
    assert.deepEqual(await elsewhere.takeOver(nextId(), 10), [])
    await elsewhere.end(taken?.hold as Hold, settled)
    const ended = await jobs.find(job.id, 'shop')
    for (const say of Object.values(SAYINGS)) await assert.rejects(say(jobs, hold), JobLost)
    assert.deepEqual(await jobs.find(job.id, 'shop'), ended)
    assert.equal(joinedId(await jobs.begin(aJob({ idempotencyKey: 'order-7' }))), job.id)
  })

  test(`${name}: an ended job has no holder, and its end may be repeated`, async () => {
    const { jobs, elsewhere, passes } = await open()
    const job = aJob()
    const hold = await begunHold(jobs, job)
    await jobs.dispatched(hold, aCall())
    await jobs.end(hold, settled)
    await jobs.end(hold, settled)
    for (const [saying, say] of Object.entries(SAYINGS))
      if (saying !== 'end settled') await assert.rejects(say(jobs, hold), JobLost)
    await jobs.renew(job.nodeId, [job.id])
    await passes(2 * JOB_HOLD_MS)
    assert.deepEqual(await elsewhere.takeOver(nextId(), 10), [])
    assert.equal((await jobs.find(job.id, 'shop'))?.result, settled.result)
  })

  test(`${name}: what a holder says may be said again, but not of a call that is not there`, async () => {
    const { jobs, passes } = await open()
    const hold = await begunHold(jobs, aJob())
    const call = aCall()
    for (let time = 0; time < 2; time += 1) {
      await jobs.dispatched(hold, call)
      await jobs.submitted(hold, 0, 'taken')
      await jobs.callEnded(hold, 0, 'delivered')
    }
    await assert.rejects(jobs.dispatched(hold, aCall()), /another call/)
    await assert.rejects(jobs.submitted(hold, 1, 'taken'), /no such attempt 1/)
    await assert.rejects(jobs.callEnded(hold, 1, 'failed'), /no such attempt 1/)
    await passes(JOB_HOLD_MS)
    const [taken] = await jobs.takeOver(nextId(), 1)
    assert.deepEqual(taken?.calls, [{ ...call, submitted: 'taken', state: 'delivered' }])
  })

  test(`${name}: several that take over at once share the jobs, oldest first, and none gets one twice`, async () => {
    const { jobs, elsewhere, passes } = await open()
    const asked = Array.from({ length: 20 }, (_, index) => aJob({ digest: `digest-${index}` }))
    for (const job of asked) {
      await begunHold(jobs, job)
      await passes(1)
    }
    await passes(JOB_HOLD_MS)
    const [oldest] = await elsewhere.takeOver(nextId(), 1)
    assert.equal(oldest?.job.id, asked[0]?.id)
    const rounds = await allEnded(Array.from({ length: 8 }, () => elsewhere.takeOver(nextId(), 3)))
    const rest = await elsewhere.takeOver(nextId(), 100)
    const ids = [...rounds.flat(), ...rest].map(({ job }) => job.id)
    assert.ok(rounds.every(({ length }) => length <= 3))
    assert.deepEqual(
      ids.toSorted(),
      asked
        .slice(1)
        .map(({ id }) => id)
        .toSorted(),
    )
    assert.deepEqual(await jobs.takeOver(nextId(), 100), [])
  })

  test(`${name}: a node that goes leaves its jobs to others at once, and only its own`, async () => {
    const { jobs, elsewhere } = await open()
    const [leaving, staying] = [aJob(), aJob({ digest: 'digest-2' })]
    await begunHold(jobs, leaving)
    await begunHold(elsewhere, staying)
    await jobs.release(leaving.nodeId)
    await jobs.renew(leaving.nodeId, [leaving.id, staying.id])
    const taken = await elsewhere.takeOver(staying.nodeId, 10)
    assert.deepEqual(
      taken.map(({ job }) => job.id),
      [leaving.id],
    )
  })

  test(`${name}: jobs that ended are deleted in their time; those that run and open unknowns stay`, async () => {
    const { jobs, passes } = await open()
    const running = aJob()
    await begunHold(jobs, running)
    const ended: string[] = []
    for (const end of [settled, failed, unknown]) {
      const job = aJob()
      const hold = await begunHold(jobs, job)
      await jobs.dispatched(hold, aCall())
      await jobs.end(hold, end)
      ended.push(job.id)
    }
    const left = async (): Promise<boolean[]> =>
      Promise.all([...ended, running.id].map(async (id) => (await jobs.find(id, 'shop')) !== undefined))
    await passes(DAY_MS - 60_000)
    assert.equal(await jobs.deleteOld(DAY_MS), 0)
    await passes(120_000)
    assert.equal(await jobs.deleteOld(DAY_MS), 2)
    assert.deepEqual(await left(), [false, false, true, true])
    await passes(UNKNOWN_POSTED_AFTER_MS)
    assert.equal(await jobs.deleteOld(DAY_MS), 1)
    assert.deepEqual(await left(), [false, false, false, true])
  })

  test(`${name}: the job of a line is found by its key however late, and only its batch tells of its end`, async () => {
    const { jobs, elsewhere, outbox, passes } = await open()
    const project = 'shop+hooks'
    const line = { project, idempotencyKey: 'batch_1\n7', batchId: 'batch_1' }
    const job = aJob(line)
    await jobs.end(await begunHold(jobs, job), settled)
    assert.deepEqual(await outbox.due(nextId(), 10), [])
    await passes(2 * DAY_MS)
    assert.equal(joinedId(await elsewhere.begin(aJob(line))), job.id)
    const found = await elsewhere.findByKey(line.idempotencyKey, project)
    assert.deepEqual([found?.id, found?.batchId], [job.id, 'batch_1'])
    assert.equal(await jobs.findByKey(line.idempotencyKey, 'another'), undefined)
    const free = aJob({ ...line, idempotencyKey: 'batch_1\n8' })
    await jobs.end(await begunHold(jobs, free), failedFree)
    assert.equal(await jobs.findByKey('batch_1\n8', project), undefined)
    assert.deepEqual(await outbox.due(nextId(), 10), [])
  })

  test(`${name}: the end of a job tells each webhook of its project once`, async () => {
    const { jobs, outbox } = await open()
    const job = aJob({ project: 'shop+hooks', keyId: 'shop+hooks/ci' })
    const hold = await begunHold(jobs, job)
    assert.deepEqual(await outbox.due(nextId(), 10), [])
    await jobs.end(hold, settled)
    await jobs.end(hold, settled)
    await jobs.end(await begunHold(jobs, aJob()), settled)
    const events = await outbox.due(nextId(), 10)
    assert.deepEqual(events.map(({ url }) => url).toSorted(), [
      'https://one.example/hook',
      'https://two.example/hook',
    ])
    assert.equal(new Set(events.map(({ id }) => id)).size, 1)
    const { id, type, payload, project } = events[0] as (typeof events)[number]
    assert.deepEqual([type, project], ['image.job.succeeded', job.project])
    const { created_at, data, ...rest } = JSON.parse(payload) as Record<string, Record<string, unknown>>
    assert.deepEqual(rest, { id, object: 'event', type })
    assert.ok(Number.isInteger(created_at))
    assert.deepEqual(
      [data?.['id'], data?.['status'], data?.['model'], data?.['object']],
      [job.id, 'succeeded', 'painter', 'image.job'],
    )
    assert.ok(!payload.includes('canary'))
  })
}

/** The state of the retried job, and whether the retry joins it. */
const RETRIES: readonly [string, boolean, (world: JobsWorld, hold: Hold) => Promise<void>][] = [
  ['a job that runs', true, async () => {}],
  ['a job that may have been sent', true, ({ jobs }, hold) => jobs.dispatched(hold, aCall())],
  ['a settled job that nobody was told of', true, ({ jobs }, hold) => jobs.end(hold, settled)],
  ['an unknown that nobody was told of', true, ({ jobs }, hold) => jobs.end(hold, unknown)],
  ['a failure that may have cost something', true, ({ jobs }, hold) => jobs.end(hold, failed)],
  ['a failure that bought nothing', false, ({ jobs }, hold) => jobs.end(hold, failedFree)],
  ['a job of a quarter of an hour ago', false, ({ passes }) => passes(RETRY_JOIN_MS)],
  ['a job that is a little younger', true, ({ passes }) => passes(RETRY_JOIN_MS - 60_000)],
  [
    'a job whose answer was received',
    false,
    async ({ jobs }, hold) => {
      await jobs.end(hold, settled)
      await jobs.answered(hold.jobId)
    },
  ],
]
