/** Promises of image jobs that outlive a process: the content of the tables, lost answers, lost secrets. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import { CredentialLost } from '#ports/credentials.ts'
import { JobLost, JOB_HOLD_MS, type Hold, type ImageJobs } from '#ports/image-jobs.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { UNKNOWN_POSTED_AFTER_MS } from '#ports/upkeep.ts'
import { sealingKeysOf } from '#runtime/secret.ts'
import type { Database } from '#stores/postgres/database.ts'
import { PostgresImageJobs } from '#stores/postgres/jobs/image-jobs.ts'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import { anEntry } from '#test/support/entries.ts'
import {
  aCall,
  aJob,
  begunHold,
  KEYS,
  leave,
  nextId,
  webhooksFor,
  type DatabaseJobsWorld,
} from './image-jobs-open.ts'

const CANARY = 'a canary in a cage of gold'
const TABLES = ['image_jobs', 'image_job_calls', 'webhook_events'] as const

/** The content of all tables, bytes as the text they would be. */
async function dump(database: Database): Promise<string> {
  const tables = await Promise.all(
    TABLES.map((table) =>
      database.query<{ row: string }>(
        `SELECT (to_jsonb(${table}) || jsonb_build_object('as_text', ${
          table === 'image_jobs'
            ? `concat(encode(request_sealed, 'escape'), encode(result_sealed, 'escape'))`
            : table === 'image_job_calls'
              ? `encode(submitted_sealed, 'escape')`
              : `''`
        }))::text AS row FROM ${table}`,
      ),
    ),
  )
  return tables
    .flat()
    .map(({ row }) => row)
    .join('\n')
}

/** A database whose next transaction or statement is done, but whose answer is lost. */
function losing(database: Database, plan: { loses: boolean }): Database {
  const answering = async <Result>(work: Promise<Result>): Promise<Result> => {
    const result = await work
    if (!plan.loses) return result
    plan.loses = false
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  }
  return {
    ...database,
    query: <Row>(...args: Parameters<Database['query']>) => answering(database.query<Row>(...args)),
    transaction: (work) => answering(database.transaction(work)),
  }
}

export function sqlImageJobsSuite(name: string, open: () => Promise<DatabaseJobsWorld>): void {
  test(`${name}: nothing in the tables tells what was asked or answered, and it is forgotten in the end`, async () => {
    const { jobs, database } = await open()
    const job = aJob({ request: CANARY, project: 'shop+hooks' })
    const hold = await begunHold(jobs, job)
    await jobs.dispatched(hold, aCall())
    await jobs.submitted(hold, 0, CANARY)
    assert.ok(!(await dump(database)).includes('canary'))
    await jobs.end(hold, { state: 'settled', result: CANARY, freesKey: false })
    const end = await dump(database)
    assert.ok(end.includes(job.id) && end.includes('image.job.succeeded') && !end.includes('canary'))
    const [kept] = await database.query(
      `SELECT request_key, request_sealed, submitted_key, submitted_sealed FROM image_jobs JOIN image_job_calls USING (job_id)`,
    )
    assert.deepEqual(kept, {
      request_key: null,
      request_sealed: null,
      submitted_key: null,
      submitted_sealed: null,
    })
    assert.equal((await jobs.find(job.id, job.project))?.result, CANARY)
  })

  test(`${name}: texts that were moved to another row or column do not open`, async () => {
    const { jobs, database } = await open()
    const [one, other] = [aJob(), aJob()]
    for (const job of [one, other])
      await jobs.end(await begunHold(jobs, job), { state: 'settled', result: job.id, freesKey: false })
    await database.query(
      `UPDATE image_jobs SET result_key = other.result_key, result_sealed = other.result_sealed
       FROM image_jobs AS other WHERE image_jobs.job_id = $1 AND other.job_id = $2`,
      [one.id, other.id],
    )
    await assert.rejects(jobs.find(one.id, 'shop'), CredentialLost)
    assert.equal((await jobs.find(other.id, 'shop'))?.result, other.id)
  })

  test(`${name}: a job whose request can't be opened any more is taken over all the same, with no request`, async () => {
    const { jobs, database, passes } = await open()
    const strange = aJob()
    await begunHold(jobs, strange)
    const rotated = new PostgresImageJobs(database, sealingKeysOf({ current: 'new', previous: undefined }))
    await passes(10)
    await begunHold(rotated, aJob({ digest: 'digest-2' }))
    await passes(JOB_HOLD_MS)
    const taken = await rotated.takeOver(nextId(), 10)
    assert.deepEqual(
      taken.map(({ request }) => request),
      ['', aJob().request],
    )
    const rotating = new PostgresImageJobs(
      database,
      sealingKeysOf({ current: 'new', previous: 'the secret of these tests' }),
    )
    await passes(JOB_HOLD_MS)
    const [first] = await rotating.takeOver(nextId(), 1)
    assert.deepEqual([first?.job.id, first?.request], [strange.id, strange.request])
  })

  test(`${name}: a digest is kept under a key, and requests from before are still recognised`, async () => {
    const { jobs, database } = await open()
    const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')
    const digest = digestOf('a prompt that can be guessed')
    const kept = async (id: string) =>
      (await database.query<{ digest: string }>('SELECT digest FROM image_jobs WHERE job_id = $1', [id]))[0]
        ?.digest
    const rotated = new PostgresImageJobs(
      database,
      sealingKeysOf({ current: 'new', previous: 'the secret of these tests' }),
    )
    for (const idempotencyKey of ['order-1', undefined]) {
      const job = aJob({ digest, idempotencyKey, keyId: `shop/${idempotencyKey}` })
      await begunHold(jobs, job)
      assert.match((await kept(job.id)) ?? '', /^[0-9a-f]{64}$/)
      assert.notEqual(await kept(job.id), digest)
      await leave(jobs, job)
      const again = () => ({ ...job, id: nextId(), isRetry: true })
      const joins = async (node: ImageJobs, when: string): Promise<void> => {
        const retry = again()
        assert.equal((await node.begin(retry)).kind, 'joined', when)
        await node.callerLeft({ jobId: job.id, callerId: retry.id })
      }
      await joins(jobs, 'under the same secret')
      await joins(rotated, 'under the secret before')
      if (idempotencyKey !== undefined)
        assert.equal((await jobs.begin({ ...again(), digest: digestOf('another') })).kind, 'conflict')
    }
  })

  test(`${name}: an unknown stays as long as it is open in the ledger`, async () => {
    const { jobs, database, passes } = await open()
    const ledger = new PostgresLedger(database)
    const nodeId = nextId()
    await ledger.startNode({ id: nodeId, host: 'here', version: '1' })
    const job = aJob()
    const entry = anEntry({ requestId: job.id, callId: nextId(), kind: 'unknown', tokens: undefined })
    await ledger.append(nodeId, [entry])
    await jobs.end(await begunHold(jobs, job), { state: 'unknown', result: '{}', freesKey: false })
    await passes(UNKNOWN_POSTED_AFTER_MS + 60_000)
    assert.equal(await jobs.deleteOld(0), 0)
    await ledger.resolveUnknown({
      requestId: job.id,
      attempt: 0,
      kind: 'void',
      actor: { kind: 'member', name: 'ada' },
    })
    assert.equal(await jobs.deleteOld(0), 1)
  })

  test(`${name}: what was done although its answer was lost may be done again`, async () => {
    const { database, passes } = await open()
    const plan = { loses: false }
    const jobs = new PostgresImageJobs(losing(database, plan), KEYS, webhooksFor)
    const twice = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      plan.loses = true
      await assert.rejects(work(), StoreUnreachable)
      return work()
    }
    const job = aJob({ idempotencyKey: 'order-7', project: 'shop+hooks' })
    const hold = await twice(() => begunHold(jobs, job))
    const call = aCall()
    await twice(() => jobs.dispatched(hold, call))
    await twice(() => jobs.submitted(hold, 0, 'taken'))
    await twice(() => jobs.callEnded(hold, 0, 'delivered'))
    await twice(() => jobs.renew(job.nodeId, [job.id]))
    await twice(() => jobs.end(hold, { state: 'settled', result: 'pictures', freesKey: false }))
    await twice(() => jobs.answered(job.id))
    const caller = { jobId: job.id, callerId: job.id }
    await twice(() => jobs.renewCallers([caller]))
    await twice(() => jobs.callerLeft(caller))
    await twice(() => jobs.release(job.nodeId))
    assert.equal((await jobs.find(job.id, job.project))?.result, 'pictures')
    const [events] = await database.query<{ rows: number }>(
      'SELECT count(*)::integer AS rows FROM webhook_events',
    )
    assert.equal(events?.rows, 2)
    await passes(60_000)
    await twice(() => jobs.deleteOld(0))
    assert.equal(await jobs.find(job.id, job.project), undefined)
  })

  test(`${name}: a job that a node took without knowing comes to a node that runs it`, async () => {
    const { database, elsewhere, passes } = await open()
    const plan = { loses: true }
    const jobs = new PostgresImageJobs(losing(database, plan), KEYS)
    const job = aJob()
    await assert.rejects(jobs.begin(job), StoreUnreachable)
    await passes(JOB_HOLD_MS)
    plan.loses = true
    await assert.rejects(jobs.takeOver(job.nodeId, 10), StoreUnreachable)
    await passes(JOB_HOLD_MS)
    const taken = await elsewhere.takeOver(nextId(), 10)
    assert.deepEqual(
      taken.map(({ hold: { jobId, token } }) => [jobId, token]),
      [[job.id, 3]],
    )
  })

  test(`${name}: the jobs of a node that has ended are taken at once, those of a silent one when their hold has run out`, async () => {
    const { jobs, elsewhere, database, passes } = await open()
    const [ended, silent] = [aJob(), aJob({ digest: 'digest-2' })]
    await database.query(
      `INSERT INTO nodes (node_id, host, version, seen_at) SELECT unnest($1::uuid[]), 'here', '1', now() - interval '1 hour'`,
      [[ended.nodeId, silent.nodeId]],
    )
    for (const job of [ended, silent]) await begunHold(jobs, job)
    const takenIds = async () => (await elsewhere.takeOver(nextId(), 10)).map(({ job }) => job.id)
    assert.deepEqual(await takenIds(), [])
    await database.query('UPDATE nodes SET ended_at = now() WHERE node_id = $1', [ended.nodeId])
    assert.deepEqual(await takenIds(), [ended.id])
    await passes(JOB_HOLD_MS - 5000)
    assert.deepEqual(await takenIds(), [])
    await passes(5000)
    assert.deepEqual((await takenIds()).toSorted(), [ended.id, silent.id].toSorted())
  })

  test(`${name}: a failure of the store is reported as such`, async () => {
    const { database } = await open()
    const broken: Database = {
      ...database,
      query: () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })),
      transaction: () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })),
    }
    const jobs = new PostgresImageJobs(broken, KEYS)
    const hold = { jobId: nextId(), token: 1 }
    const end = { state: 'settled', result: '', freesKey: false } as const
    for (const work of [
      () => jobs.begin(aJob()),
      () => jobs.find(nextId(), 'shop'),
      () => jobs.dispatched(hold, aCall()),
      () => jobs.end(hold, end),
      () => jobs.takeOver(nextId(), 1),
      () => jobs.deleteOld(0),
    ])
      await assert.rejects(work(), StoreUnreachable)
  })
}

/** What takes several connections at once. */
export function concurrentImageJobsSuite(name: string, open: () => Promise<DatabaseJobsWorld>): void {
  const sayings: Readonly<Record<string, (jobs: ImageJobs, hold: Hold) => Promise<void>>> = {
    dispatched: (jobs, hold) => jobs.dispatched(hold, aCall(1)),
    submitted: (jobs, hold) => jobs.submitted(hold, 0, 'late'),
    callEnded: (jobs, hold) => jobs.callEnded(hold, 0, 'delivered'),
    end: (jobs, hold) => jobs.end(hold, { state: 'failed', result: 'late', freesKey: true }),
  }
  for (const [saying, say] of Object.entries(sayings)) {
    test(`${name}: a holder that says ${saying} while it is being replaced waits, and has lost the job`, async () => {
      const { jobs, database } = await open()
      const job = aJob()
      const hold = await begunHold(jobs, job)
      await jobs.dispatched(hold, aCall())
      const taken = Promise.withResolvers<void>()
      let said: Promise<void> | undefined
      await database.transaction(async (sql) => {
        await sql.query('UPDATE image_jobs SET token = token + 1')
        said = say(jobs, hold)
        said.then(taken.resolve, taken.resolve)
        const isWaiting = async (): Promise<boolean> => {
          const waiting = await database.query(
            `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          )
          return waiting.length > 0
        }
        while (!(await Promise.race([isWaiting(), taken.promise.then(() => true)]))) await yieldLoop()
      })
      await assert.rejects(said as Promise<void>, JobLost)
      assert.equal((await jobs.find(job.id, 'shop'))?.state, 'dispatched')
      const calls = await database.query('SELECT attempt, state, submitted_key FROM image_job_calls')
      assert.deepEqual(calls, [{ attempt: 0, state: 'sent', submitted_key: null }])
    })
  }
}
