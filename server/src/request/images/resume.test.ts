import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { defaultLimits } from '#core/settings.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { RequestTrace } from '#core/request/request-trace.ts'
import { ENDLESS_ROOM } from '#ports/disk-room.ts'
import type { TakenJob } from '#ports/image-jobs.ts'
import type { ImageAnswer, ImageCall, ImageUpstream } from '#ports/image-upstream.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { aDispatch } from '#test/support/dispatch.ts'
import { aPicture } from '#test/support/edits.ts'
import { memoryImages } from '#test/support/image-parts.ts'
import { anImageModel, anImageRequest } from '#test/support/images.ts'
import { memoryMoney } from '#test/support/money.ts'
import { eventually } from '#test/support/process.ts'
import { NO_FILES } from './files.ts'
import { generateImages } from './image.ts'
import { resumeJob, type ResumeDependencies } from './resume.ts'

const png = new Uint8Array(await aPicture(8, 8))
const jpeg = new Uint8Array(await sharp(png).jpeg().toBuffer())
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
const NONE = undefined
const tokens = {
  textInput: NONE,
  imageInput: NONE,
  textOutput: NONE,
  imageOutput: NONE,
  cachedTextInput: NONE,
  cachedImageInput: NONE,
}

const ANSWER: ImageAnswer = {
  pictures: [{ bytes: png, revisedPrompt: undefined }],
  tokens,
  echoes: {},
  extraFields: {},
}

/** What nodes share: stores, and an upstream that counts its calls. */
function shared(answer: ImageUpstream['generate'] = async () => ANSWER) {
  const images = memoryImages()
  const calls: ImageCall[] = []
  const node: ResumeDependencies = {
    ...memoryMoney(),
    ...images,
    clock: systemClock,
    identifiers,
    observer: { callEnded: () => {}, overcounted: () => {}, undercounted: () => {}, requestEnded: () => {} },
    limits: defaultLimits,
    diskRoom: ENDLESS_ROOM,
    dispatch: aDispatch(),
    catalog: () => ({ models: new Map([[model.id, model]]), retired: new Map(), projects: [] }),
    imageUpstream: {
      generate: async (call, events) => {
        calls.push(call)
        return answer(call, events)
      },
    },
    appendLate: async () => {},
  }
  return { images, calls, node }
}

/** A request to a node that dies before it answers: it never ends. */
function ask(node: ResumeDependencies, format?: 'jpeg'): void {
  void generateImages(
    anImageRequest({ model: model.id, format }),
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
      files: NO_FILES,
    },
    node,
  )
}

async function takeOver({ jobs, nodeId }: ReturnType<typeof memoryImages>): Promise<TakenJob> {
  await jobs.release(nodeId)
  const [taken] = await jobs.takeOver(crypto.randomUUID(), 1)
  assert.ok(taken)
  return taken
}

const never = (): Promise<never> => new Promise(() => {})

test('a node that takes a job over converts an image that came in another format than the upstream was asked for', async () => {
  const { images, calls, node } = shared()
  const conversions: string[] = []
  const converting = (work: () => Promise<Uint8Array<ArrayBuffer>>): ResumeDependencies => ({
    ...node,
    codec: {
      ...images.codec,
      convert: (_, { format }) => {
        conversions.push(format)
        return work()
      },
    },
  })
  // The node dies while it converts.
  ask(converting(never), 'jpeg')
  await eventually(async () => assert.deepEqual(conversions, ['jpeg']))
  const outcome = await resumeJob(
    await takeOver(images),
    converting(async () => jpeg),
  )
  assert.ok(outcome.kind === 'made')
  const [made] = outcome.result.pictures
  assert.deepEqual([made?.format, made?.converted?.format], ['png', 'jpeg'])
  assert.deepEqual([outcome.result.emulated, outcome.result.differs], [['output_format'], undefined])
  assert.equal(calls.length, 1)
})

test('once the last image of a call is stored, a node that takes its job over hands it out', async () => {
  const { images, calls, node } = shared()
  const { blobs } = images
  const put = blobs.put.bind(blobs)
  const { promise: died, resolve: dies } = Promise.withResolvers<void>()
  blobs.put = async (name, bytes) => {
    await put(name, bytes)
    if (!Buffer.from(bytes).equals(png)) return
    dies()
    await never()
  }
  ask(node)
  await died
  blobs.put = put
  const outcome = await resumeJob(await takeOver(images), node)
  assert.deepEqual([outcome.kind, calls.length], ['made', 1])
})

/** A node that dies at the end of its job, before it can say so. */
async function dieAtEnd({ images, node }: ReturnType<typeof shared>, own: Partial<ResumeDependencies> = {}) {
  const { jobs } = images
  const end = jobs.end.bind(jobs)
  const { promise: died, resolve: dies } = Promise.withResolvers<void>()
  jobs.end = () => (dies(), never())
  ask({ ...node, ...own })
  await died
  jobs.end = end
}

for (const [what, submitted] of [
  ['made', undefined],
  ['polled', 'task-1'],
] as const)
  test(`a call that ended and may have been charged is not ${what} again by a node that takes its job over`, async () => {
    const world = shared(async ({ deployment: { id: deployment } }, events) => {
      if (submitted !== undefined) await events.submitted(submitted)
      throw new UpstreamFailure('timedOut', 'no answer in time', { deployment, charge: 'unknown' })
    })
    await dieAtEnd(world)
    const outcome = await resumeJob(await takeOver(world.images), world.node)
    assert.ok(outcome.kind === 'fault')
    assert.deepEqual(
      [outcome.fault.code, outcome.isUnknown, world.calls.length],
      ['outcome_unknown', true, 1],
    )
  })

test('a call that could not be noted on disk was not sent: a node that takes its job over makes it', async () => {
  const world = shared()
  const { ledger } = world.node
  const begin = () => Promise.reject(new Fault('ledger_unavailable', 'no space left on device'))
  await dieAtEnd(world, { ledger: { begin, forget: () => {}, write: (entries) => ledger.write(entries) } })
  const outcome = await resumeJob(await takeOver(world.images), world.node)
  assert.deepEqual([outcome.kind, world.calls.length], ['made', 1])
})
