import { RequestTrace } from '#core/request/request-trace.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairShare } from '#core/schedule/fair-share.ts'
import { momentOf } from '#core/money/ledger.ts'
import { defaultLimits } from '#core/settings.ts'
import { JobLost } from '#ports/image-jobs.ts'
import type { ImageAnswer } from '#ports/image-upstream.ts'
import { ENDLESS_ROOM } from '#ports/disk-room.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { aDispatch } from '#test/support/dispatch.ts'
import { aPicture } from '#test/support/edits.ts'
import { memoryImages } from '#test/support/image-parts.ts'
import { anImageModel, anImageRequest } from '#test/support/images.ts'
import { memoryMoney } from '#test/support/money.ts'
import { eventually } from '#test/support/process.ts'
import { PicturesAtHand } from './at-hand.ts'
import { NO_FILES } from './files.ts'
import { generateImages, type ImageDependencies, type ImageOptions } from './image.ts'

const picture = new Uint8Array(await aPicture(8, 8))
const identifiers = uuidv7Identifiers(systemClock)
const model = anImageModel()
const key = {
  id: 'p/k',
  name: 'k',
  project: 'p',
  models: undefined,
  expiresAtMs: undefined,
  limits: [],
  budgets: [],
}
const ANSWER: ImageAnswer = {
  pictures: [{ bytes: picture, revisedPrompt: undefined }],
  tokens: {
    textInput: undefined,
    imageInput: undefined,
    textOutput: undefined,
    imageOutput: undefined,
    cachedTextInput: undefined,
    cachedImageInput: undefined,
  },
  echoes: {},
  extraFields: {},
}

/** A node that records the order in which a job ends and files are discarded. */
function aNode() {
  const notes: string[] = []
  const images = memoryImages()
  const sent = Promise.withResolvers<ImageAnswer>()
  const { jobs } = images
  const end = jobs.end.bind(jobs)
  jobs.end = async (...given) => {
    await end(...given)
    notes.push('the job ended')
  }
  const dependencies: ImageDependencies = {
    ...memoryMoney(),
    ...images,
    clock: systemClock,
    identifiers,
    observer: { callEnded: () => {}, overcounted: () => {}, undercounted: () => {}, requestEnded: () => {} },
    limits: defaultLimits,
    diskRoom: ENDLESS_ROOM,
    dispatch: aDispatch(),
    catalog: () => ({ models: new Map([[model.id, model]]), retired: new Map(), projects: [] }),
    imageUpstream: { generate: () => sent.promise },
  }
  const ask = (name: string, given: Partial<ImageOptions> = {}, asked = model.id) =>
    generateImages(
      anImageRequest({ model: asked }),
      {
        requestId: identifiers.next(),
        key,
        unsupported: undefined,
        dryRun: false,
        idempotencyKey: undefined,
        isRetry: false,
        respondAsync: false,
        trace: new RequestTrace(0),
        onPreview: () => {},
        whenGone: () => {},
        files: { ...NO_FILES, discard: async () => void notes.push(`files of ${name} discarded`) },
        ...given,
      },
      dependencies,
    )
  const answer = (pictures = ANSWER.pictures): void => sent.resolve({ ...ANSWER, pictures })
  return { ask, notes, answer, running: images.running, jobs, blobs: images.blobs }
}

test('files of a job are discarded once it has ended in the store, and once only', async () => {
  const { ask, notes, answer } = aNode()
  answer()
  assert.equal((await ask('it')).kind, 'made')
  assert.deepEqual(notes, ['the job ended', 'files of it discarded'])
})

test('a client that does not wait leaves its files to the job', async () => {
  const { ask, notes, answer, running } = aNode()
  assert.equal((await ask('it', { respondAsync: true })).kind, 'queued')
  assert.deepEqual(notes, [])
  answer()
  await running.settled()
  assert.deepEqual(notes, ['the job ended', 'files of it discarded'])
})

test('a request that joins a job discards its own files, and not those of the job', async () => {
  const { ask, notes, answer, running } = aNode()
  const first = ask('first', { idempotencyKey: 'same' })
  await eventually(async () => assert.equal(running.size, 1))
  const second = await ask('second', { idempotencyKey: 'same', respondAsync: true })
  assert.equal(second.kind, 'queued')
  assert.deepEqual(notes, ['files of second discarded'])
  answer()
  assert.equal((await first).kind, 'made')
  assert.deepEqual(notes.slice(1), ['the job ended', 'files of first discarded'])
})

test('files of a request that begins no job are discarded', async () => {
  const { ask, notes } = aNode()
  assert.equal((await ask('a dry run', { dryRun: true })).kind, 'dry-run')
  await assert.rejects(ask('a mistake', {}, 'no-such-model'), { code: 'model_not_found' })
  assert.deepEqual(notes, ['files of a dry run discarded', 'files of a mistake discarded'])
})

test('a job that changes hands answers the request that began it and the one that joined it', async () => {
  const { ask, answer, running, jobs } = aNode()
  const both = ['first', 'second'].map((name) => ask(name, { idempotencyKey: 'same' }))
  await eventually(async () => assert.equal(running.size, 1))
  const [jobId = ''] = running.ids
  jobs.callEnded = () => Promise.reject(new JobLost('another node has it'))
  const find = jobs.find.bind(jobs)
  jobs.find = async (id, project) => {
    const job = await find(id, project)
    const result = JSON.stringify({ code: 'upstream_failed', message: 'As the other node says.' })
    return job && { ...job, state: 'failed', endedAtMs: 1, result }
  }
  answer()
  for (const asked of both) await assert.rejects(asked, { code: 'upstream_failed', jobId })
})

test('a job that nobody waits for is told of, though the store has gone since it began', async () => {
  const { ask, answer, running, jobs } = aNode()
  jobs.find = () => Promise.reject(new StoreUnreachable('gone'))
  const requestId = identifiers.next()
  const queued = await ask('it', { respondAsync: true, requestId })
  assert.ok(queued.kind === 'queued')
  const { id, state, model: asked, createdAtMs } = queued.job
  assert.deepEqual([id, state, asked], [requestId, 'leased', model.id])
  assert.equal(createdAtMs, momentOf(requestId))
  answer()
  await running.settled()
})

test('the memory of a picture is given back once it is kept, and that of one that could be kept nowhere is not', async () => {
  const { ask, answer, blobs, notes } = aNode()
  const other = new Uint8Array(await aPicture(9, 9))
  const put = blobs.put.bind(blobs)
  blobs.put = async (name, bytes) => {
    if (Buffer.from(bytes).equals(other)) throw new StoreUnreachable('full')
    await put(name, bytes)
    if (Buffer.from(bytes).equals(picture)) notes.push('it is kept')
  }
  const made = [picture, other].map((bytes, index) => ({
    bytes,
    discard: () => void notes.push(`${index} is given back`),
    revisedPrompt: undefined,
  }))
  answer(made)
  const outcome = await ask('it')
  assert.ok(outcome.kind === 'made')
  assert.deepEqual([...outcome.held.values()], [other])
  assert.deepEqual(notes, ['it is kept', '0 is given back', 'the job ended', 'files of it discarded'])
})

test('a picture that a caller waits for stays in memory until the caller has it, and the others are given back', async () => {
  const { ask, answer, notes } = aNode()
  const other = new Uint8Array(await aPicture(9, 9))
  using atHand = new PicturesAtHand(key.project, new FairShare({ capacity: 2, headroom: 1, maxWaiting: 0 }))
  answer(
    [picture, other].map((bytes, index) => ({
      bytes,
      discard: () => void notes.push(`${index} is given back`),
      revisedPrompt: undefined,
    })),
  )
  const outcome = await ask('it', { atHand })
  assert.ok(outcome.kind === 'made')
  assert.deepEqual(notes, ['1 is given back', 'the job ended', 'files of it discarded'])
  assert.equal(atHand.get(outcome.result.pictures[0]?.sha256 ?? ''), picture)
  atHand[Symbol.dispose]()
  assert.equal(notes.at(-1), '0 is given back')
})
