/**
 * Loaded into a gateway with `--import`: holds every image job at one place of its life forever, and writes a
 * line to a file when one arrives there. The reader of the file kills the process when all have arrived. The
 * place and the file are in the query of this module's own address, since threads get the option but not the
 * environment.
 */
import { appendFileSync } from 'node:fs'
import { ServerResponse } from 'node:http'
import { isMainThread } from 'node:worker_threads'
import type { Hold } from '../../../server/src/ports/image-jobs.ts'
import type { LedgerEntry } from '../../../server/src/core/money/ledger.ts'

type Method = (this: unknown, ...values: never[]) => unknown

const query = new URL(import.meta.url).searchParams
const file = query.get('file') ?? ''

function reached(what: string): void {
  appendFileSync(file, `${what}\n`)
}

function forEver(): Promise<never> {
  // A timer, so that the process does not end for lack of work. It holds the promise: an unreferenced job
  // would be collected as garbage with its open files, which ends the process.
  return new Promise((_, reject) => setTimeout(reject, 2 ** 31 - 1))
}

/** Holds a call of the method before or after it is made. `nameOf` names the job; undefined lets it pass. */
function holdAt(
  when: 'before' | 'after',
  owner: { readonly prototype: object },
  method: string,
  nameOf: (...values: never[]) => string | undefined,
): void {
  const methods = owner.prototype as Record<string, Method>
  const original = methods[method] as Method
  methods[method] = function held(...values) {
    const name = nameOf(...values)
    if (name === undefined) return Reflect.apply(original, this, values)
    const made =
      when === 'before' ? Promise.resolve() : Promise.resolve(Reflect.apply(original, this, values))
    return made.then(() => {
      reached(name)
      return forEver()
    })
  }
}

const jobOf = ({ jobId }: Hold): string => jobId
const begins = (folder: string) => (name: string) => (name.startsWith(folder) ? name : undefined)

const jobs = async () =>
  (await import('../../../server/src/stores/postgres/jobs/image-jobs.ts')).PostgresImageJobs
const blobs = async () => (await import('../../../server/src/stores/blobs/disk.ts')).DiskBlobs

const PLACES: Readonly<Record<string, () => Promise<void>>> = {
  'before-dispatch': async () => holdAt('before', await jobs(), 'dispatched', jobOf),
  'after-dispatch': async () => holdAt('after', await jobs(), 'dispatched', jobOf),
  /** The first of several concurrent calls is held; the others are made and delivered. */
  async 'before-first-dispatch'() {
    const Jobs = await jobs()
    holdAt('before', Jobs, 'dispatched', ({ jobId }: Hold, { attempt }: { readonly attempt: number }) =>
      attempt === 0 ? `${jobId}/0` : undefined,
    )
    holdAt('after', Jobs, 'callEnded', ({ jobId }: Hold, attempt: number) => `${jobId}/${attempt}`)
  },
  /** The first bytes have arrived, and more of them are in the socket; none is read to its end. */
  async 'reply-arriving'() {
    const { ImageSink } = await import('../../../server/src/upstreams/openai/image-sink.ts')
    const seen = new WeakSet()
    ImageSink.prototype.push = function held(this: object) {
      if (seen.has(this)) return
      seen.add(this)
      reached(crypto.randomUUID())
    }
    ImageSink.prototype.end = forEver
  },
  'before-picture': async () => holdAt('before', await blobs(), 'put', begins('pictures/')),
  'after-picture': async () => holdAt('after', await blobs(), 'put', begins('pictures/')),
  'before-delivery': async () => holdAt('before', await blobs(), 'put', begins('jobs/')),
  async 'before-conversion'() {
    const { WorkerImageCodec } = await import('../../../server/src/runtime/image-codec.ts')
    holdAt('before', WorkerImageCodec, 'convert', () => crypto.randomUUID())
  },
  async 'before-ledger'() {
    const { BatchedLedger } = await import('../../../server/src/worker/ledger/batched-ledger.ts')
    holdAt('before', BatchedLedger, 'write', (entries: readonly LedgerEntry[]) => entries[0]?.requestId)
  },
  'before-end': async () => holdAt('before', await jobs(), 'end', jobOf),
  'after-end': async () => holdAt('after', await jobs(), 'end', jobOf),
  /** Everything of the answer but its last bytes is sent. */
  async 'within-answer'() {
    const end = Reflect.get(ServerResponse.prototype, 'end') as Method
    ServerResponse.prototype.end = function held(this: ServerResponse, ...values: never[]) {
      if (!this.req.url?.endsWith('/images/generations')) Reflect.apply(end, this, values)
      else reached(crypto.randomUUID())
      return this
    }
  },
  'before-submitted': async () => holdAt('before', await jobs(), 'submitted', jobOf),
  'after-submitted': async () => holdAt('after', await jobs(), 'submitted', jobOf),
  async 'before-download'() {
    const { GuardedPictureFetcher } = await import('../../../server/src/upstreams/connect/picture-fetch.ts')
    holdAt('before', GuardedPictureFetcher, 'fetch', (url: string) => url)
  },
  async 'after-download'() {
    const { GuardedPictureFetcher } = await import('../../../server/src/upstreams/connect/picture-fetch.ts')
    holdAt('after', GuardedPictureFetcher, 'fetch', (url: string) => url)
  },
}

/** Downloads of polled upstreams run in a separate thread; everything else in the main one. */
const place = query.get('place') ?? ''
if (isMainThread || place.endsWith('-download')) await PLACES[place]?.()
