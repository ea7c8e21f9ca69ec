/** Edits in the background: their files are kept until they are done, and not a moment longer. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import {
  aMask,
  aPicture,
  askForm,
  askJson,
  digestsOf,
  EDITS,
  editsAt,
  fidelityOf,
  filePart,
  givenTo,
  references,
  uploadsGone,
} from '#test/support/edits.ts'
import { startGateway } from '#test/support/gateway.ts'
import {
  assertImageFault,
  billedPictures,
  picturesIn,
  sha256,
  type ImagesAsked,
} from '#test/support/image-answers.ts'
import { eventually } from '#test/support/process.ts'

const capabilities = { edits: EDITS }
const gateway = await startGateway({
  images: {
    'slow-image': { on: 'slow-700', capabilities },
    'failing-image': { on: 'status-500', capabilities },
    'refused-image': { on: 'moderation', capabilities },
    'lost-image': { on: 'serves-then-resets', capabilities },
    'white-image': { on: 'mask-white', capabilities: { edits: { mask: 'white' } } },
    'polled-image': {
      on: 'polls-1',
      upstream: { base: 'bfl/v1', dialect: 'ai-sdk', provider: 'black-forest-labs' },
      upstreamModel: 'flux-pro-1.0-fill',
      capabilities: { formats: ['jpeg', 'png'], edits: { mask: 'white' } },
    },
  },
})
const { provider } = gateway
const inputs = join(dirname(gateway.configFile), 'data', 'assets', 'inputs')

const picture = await aPicture(40, 30)
const isEdited = (x: number, y: number): boolean => x * y < 200
const mask = await aMask(40, 30, isEdited)
const files = [filePart('image', picture), filePart('mask', mask)]
const respondAsync = { prefer: 'respond-async' }

interface Job {
  readonly id: string
  readonly status: string
  readonly result?: ImagesAsked['body']
  readonly error?: { readonly code: string }
}

function jobIn(answer: ImagesAsked): Job {
  assert.equal(answer.status, 202, answer.text)
  return answer.body as unknown as Job
}

function end(id: string): Promise<Job> {
  return eventually(async () => {
    const job = (await gateway.get(`/v1/images/jobs/${id}`)).body as unknown as Job
    assert.ok(!['queued', 'running'].includes(job.status), job.status)
    return job
  })
}

/** The files of a job in the blob store. */
function inputsOf(id: string): string[] {
  const folder = join(inputs, id)
  return existsSync(folder) ? readdirSync(folder) : []
}

async function assertForgotten(id: string): Promise<void> {
  await eventually(async () => assert.deepEqual(inputsOf(id), []))
  await uploadsGone(gateway)
}

test('a job has a copy of its files while it is under way, and none afterwards', async () => {
  const job = jobIn(await askForm(gateway, { model: 'slow-image' }, files, { headers: respondAsync }))
  assert.deepEqual(
    inputsOf(job.id).toSorted(),
    digestsOf(picture, mask)
      .map((digest) => `${digest}.0`)
      .toSorted(),
  )
  const { status, result } = await end(job.id)
  assert.equal(status, 'succeeded')
  const made = Buffer.from(result?.data[0]?.b64_json ?? '', 'base64')
  assert.deepEqual(billedPictures(provider, 'slow-700'), [sha256(made)])
  const { wrong, unchanged } = await fidelityOf(picture, made, isEdited)
  assert.deepEqual([wrong, unchanged], [0, 0])
  await assertForgotten(job.id)
})

test('an edit with a waiting caller is not copied, and is a job like any other', async () => {
  const answer = await askForm(gateway, { model: 'white-image' }, files)
  const id = answer.headers.get('x-torana-job') ?? ''
  await picturesIn(answer)
  assert.deepEqual((await end(id)).result, answer.body)
  assert.equal(existsSync(join(inputs, id)), false)
})

test('a polled upstream is given the files once, and paints where the mask says', async () => {
  const { id } = jobIn(
    await askForm(gateway, { model: 'polled-image', output_format: 'png' }, files, { headers: respondAsync }),
  )
  const { status, result, error } = await end(id)
  assert.equal(status, 'succeeded', JSON.stringify(error))
  const made = Buffer.from(result?.data[0]?.b64_json ?? '', 'base64')
  const { wrong, unchanged } = await fidelityOf(picture, made, isEdited)
  assert.deepEqual([wrong, unchanged], [0, 0])
  const [entry, ...more] = editsAt(provider, 'polls-1')
  assert.deepEqual([givenTo(entry)[0], more], [sha256(picture), []])
  await assertForgotten(id)
})

for (const [model, status, code] of [
  ['failing-image', 'failed', 'upstream_failed'],
  ['refused-image', 'failed', 'content_policy_violation'],
  ['lost-image', 'unknown', 'outcome_unknown'],
] as const) {
  test(`${model}: a job without pictures says why, and its files are gone as well`, async () => {
    const fields = { model, images: references(picture), mask: references(mask)[0] }
    const { id } = jobIn(await askJson(gateway, fields, { headers: respondAsync }))
    const job = await end(id)
    assert.deepEqual([job.status, job.error?.code], [status, code])
    await assertForgotten(id)
  })
}

test('an equal request gets the existing job, and leaves no files of its own', async () => {
  const headers = { ...respondAsync, 'idempotency-key': 'one-job' }
  const before = editsAt(provider, 'slow-700').length
  const jobs = await Promise.all(
    Array.from({ length: 8 }, async () =>
      jobIn(await askForm(gateway, { model: 'slow-image' }, files, { headers })),
    ),
  )
  const [{ id } = { id: '' }] = jobs
  assert.equal(new Set(jobs.map((job) => job.id)).size, 1)
  const waited = await askForm(gateway, { model: 'slow-image' }, files, {
    headers: { 'idempotency-key': 'one-job' },
  })
  assert.equal(waited.headers.get('x-torana-job'), id)
  await picturesIn(waited)
  assert.equal(editsAt(provider, 'slow-700').length, before + 1)
  await assertForgotten(id)
})

test('a refused request is no job, also in the background', async () => {
  const headers = respondAsync
  assertImageFault(await askForm(gateway, { model: 'slow-image' }, [], { headers }), 'missing_parameter')
  const wrong = [filePart('image', picture), filePart('mask', await aMask(8, 8, () => true))]
  assertImageFault(await askForm(gateway, { model: 'slow-image' }, wrong, { headers }), 'invalid_image_file')
  await uploadsGone(gateway)
})

test('a stream can not be asked for without waiting, and the files of such an edit are gone', async () => {
  const asked = { model: 'slow-image', stream: 'true' }
  const answer = await askForm(gateway, asked, files, { headers: respondAsync })
  assertImageFault(answer, 'invalid_parameter', { param: 'stream', words: /respond-async/ })
  await uploadsGone(gateway)
})

test('in the end the store holds no file of a request', () => {
  const left = existsSync(inputs) ? readdirSync(inputs).flatMap(inputsOf) : []
  assert.deepEqual(left, [])
})

test('files that are held are seen: the checks above are no empty words', async () => {
  const asked = askForm(gateway, { model: 'slow-image' }, [filePart('image', picture)])
  await eventually(async () => assert.ok(provider.counters().inFlight > 0))
  await assert.rejects(uploadsGone(gateway, 0))
  await picturesIn(await asked)
  await uploadsGone(gateway)
})
