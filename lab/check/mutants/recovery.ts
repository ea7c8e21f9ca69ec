/** Faults of recovery: what a failure of disk, store or process leaves behind. */
import type { Mutant } from './mutant.ts'

export const RECOVERY: readonly Mutant[] = [
  {
    id: 'M04',
    says: 'spooled entries are set aside while the store is away',
    file: 'worker/ledger/hand-over.ts',
    old: `    if (error instanceof EntriesRefused) return error
    throw error`,
    new: '    return error as EntriesRefused',
    tests: ['src/worker/ledger/batched-ledger.test.ts'],
  },
  {
    id: 'M05',
    says: 'records that could be written nowhere do not count towards the bound',
    file: 'worker/ledger/batched-ledger.ts',
    old: 'this.#queued + this.#unregistered.size + this.#kept.size > WAITING_MAX',
    new: 'this.#queued + this.#unregistered.size > WAITING_MAX',
    tests: ['src/worker/ledger/batched-ledger.test.ts'],
  },
  {
    id: 'M06',
    says: 'two batches use up leases at once',
    file: 'worker/ledger/batched-ledger.ts',
    old: 'if (batch.isLeased) this.#isLeasing = false',
    new: 'this.#isLeasing = false',
    tests: ['src/worker/ledger/ledger-lanes.test.ts'],
  },
  {
    id: 'M31',
    says: 'the spool of a dead node comes after its open calls',
    file: 'worker/ledger/recover.ts',
    old: `      await spool.drain((entries) => {
        spooled += entries.length
        return handOver(nodeId, entries, { store, events })
      })
      await store.endNode(nodeId, calls)
`,
    new: `      await store.endNode(nodeId, calls)
      await spool.drain((entries) => {
        spooled += entries.length
        return handOver(nodeId, entries, { store, events })
      })
`,
    tests: ['src/worker/ledger/recover.test.ts'],
  },
  {
    id: 'M22',
    says: 'an image that was paid and could not be converted may be bought again under its key',
    file: 'request/images/outcome.ts',
    old: 'freesKey: !isUnknown && !isPaid',
    new: 'freesKey: !isUnknown',
    tests: ['src/request/images/outcome.test.ts'],
  },
  {
    id: 'M23',
    says: 'a call of images whose end is unknown is stored as failed',
    file: 'request/images/run.ts',
    old: "isFree ? 'failed' : 'unknown'",
    new: "isFree ? 'failed' : 'failed'",
    tests: ['src/request/images/resume.test.ts'],
  },
  {
    id: 'M24',
    says: 'pictures are stored before their record',
    file: 'request/images/run.ts',
    old: `    await keepDelivery(hold.jobId, delivery, outside)
    await keepPictures(answer.pictures, kept, held, outside)
`,
    new: `    await keepPictures(answer.pictures, kept, held, outside)
    await keepDelivery(hold.jobId, delivery, outside)
`,
    tests: ['src/request/images/resume.test.ts'],
  },
  {
    id: 'M25',
    says: 'a replaced holder may mark a call as sent',
    file: 'stores/postgres/jobs/image-jobs-sql.ts',
    old: "SET state = 'dispatched' WHERE job_id = $1 AND token = $2 AND",
    new: "SET state = 'dispatched' WHERE job_id = $1 AND $2::bigint IS NOT NULL AND",
    tests: ['test/contract/image-jobs.test.ts'],
  },
  {
    id: 'M57',
    says: 'records whose tags are being registered do not count towards the bound',
    file: 'worker/ledger/batched-ledger.ts',
    old: 'this.#queued + this.#unregistered.size + this.#kept.size > WAITING_MAX',
    new: 'this.#queued + this.#kept.size > WAITING_MAX',
    tests: ['src/worker/ledger/batched-ledger.test.ts'],
  },
  {
    id: 'M58',
    says: 'records that could be written nowhere are lost at the second try',
    file: 'worker/ledger/kept-writes.ts',
    old: `        this.#waiting.unshift(next)
`,
    new: '',
    tests: ['src/worker/ledger/batched-ledger.test.ts'],
  },
  {
    id: 'M59',
    says: 'a call that was noted and not sent is left as sent',
    file: 'request/images/run.ts',
    old: `    if (dispatched !== undefined) await whileReachable(outside.jobs.callEnded(hold, dispatched, 'failed'))
`,
    new: '',
    tests: ['src/request/images/resume.test.ts'],
  },
  {
    id: 'M60',
    says: 'a polled call whose end was unknown is polled again',
    file: 'request/images/resume.ts',
    old: " || call.state === 'unknown'",
    new: '',
    tests: ['src/request/images/resume.test.ts'],
  },
]
