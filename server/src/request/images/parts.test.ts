import { RequestTrace } from '#core/request/request-trace.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as waited } from 'node:timers/promises'
import type { ImageEdits } from '#core/catalog/catalog.ts'
import { FairShare } from '#core/schedule/fair-share.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { ImageEdit } from '#core/image/given.ts'
import { negotiateImages } from '#core/image/negotiate.ts'
import { Scheduler, type DeploymentReport } from '#core/schedule/scheduler.ts'
import { defaultLimits } from '#core/settings.ts'
import { JobLost, JOB_HOLD_MS, type ImageJobs } from '#ports/image-jobs.ts'
import type { ImageAnswer, ImageCall } from '#ports/image-upstream.ts'
import { after, systemClock } from '#runtime/clock.ts'
import { MemoryImageJobs } from '#test/support/stores/image-jobs.ts'
import { aPicture } from '#test/support/edits.ts'
import { memoryImages } from '#test/support/image-parts.ts'
import { anImageDeployment, anImageModel, anImageRequest, type ImageOverrides } from '#test/support/images.ts'
import { memoryMoney } from '#test/support/money.ts'
import { eventually } from '#test/support/process.ts'
import { admitImages } from './admit.ts'
import { Dispatch } from '../traffic/dispatch.ts'
import { EditInputs } from './edit-call.ts'
import { buy } from './parts.ts'
import type { Bought } from './run.ts'
import { NO_FILES } from './files.ts'

const picture = new Uint8Array(await aPicture(8, 8))
const key = {
  id: 'p/k',
  name: 'k',
  project: 'p',
  models: undefined,
  expiresAtMs: undefined,
  limits: [],
  budgets: [],
}

const UNTOLD = {
  textInput: undefined,
  imageInput: undefined,
  textOutput: undefined,
  imageOutput: undefined,
  cachedTextInput: undefined,
  cachedImageInput: undefined,
}

/** A call in progress until the test answers it. */
interface OutCall {
  readonly deployment: string
  readonly images: number
  answer(): void
  fail(status: 429 | 500): void
}

interface World {
  readonly bought: Promise<Bought>
  /** All sent calls, in this order. */
  readonly calls: readonly OutCall[]
  /** Frees the memory that others held. */
  freeMemory(): void
  /** Another node takes the job over. */
  loseJob(): Promise<void>
  report(deployment: string): DeploymentReport | undefined
}

interface Buying {
  readonly images: number
  readonly deployments: readonly ImageOverrides[]
  /** Answers each call at once. */
  readonly isQuick?: boolean
  readonly edit?: ImageEdit
  /** Others hold all memory that there is for files. */
  readonly isMemoryTaken?: boolean
  /** Another project holds as much memory as it may. */
  readonly isMemoryShared?: boolean
  readonly timeoutMs?: number
}

const QUEUE_WAIT_MS = 30

/** An unneeded timeout does not keep the process alive. */
const wait = (ms: number): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, ms).unref())

async function buying({ isQuick = false, ...given }: Buying): Promise<World> {
  let lateMs = 0
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + lateMs }
  const money = memoryMoney()
  const jobs: ImageJobs = new MemoryImageJobs(clock)
  const scheduler = new Scheduler({ nodes: () => 1 })
  const memory = new FairShare({ capacity: 2 ** 20, headroom: 3, maxWaiting: 10 })
  const others = given.isMemoryTaken === true ? memory.take('another', 2 ** 20) : undefined
  if (given.isMemoryShared === true) while (memory.take('another', 1000));
  const calls: OutCall[] = []
  const outside = {
    ...memoryImages(),
    jobs,
    memory,
    wait,
    clock,
    identifiers: { next: () => crypto.randomUUID() },
    observer: { callEnded: () => {}, overcounted: () => {}, undercounted: () => {}, requestEnded: () => {} },
    limits: defaultLimits,
    dispatch: new Dispatch({
      scheduler,
      clock,
      random: () => 0,
      ownWaitMs: () => 0,
      limits: { ...defaultLimits, queueWaitMs: QUEUE_WAIT_MS },
      newBudget: () => ({ begun: () => {}, mayRetry: () => true }),
      after,
    }),
    imageUpstream: {
      generate: (call: ImageCall) =>
        new Promise<ImageAnswer>((resolve, reject) => {
          const out = outCall(call, resolve, reject)
          calls.push(out)
          if (isQuick) out.answer()
        }),
    },
  }
  const model = anImageModel({
    deployments: given.deployments.map((overrides, priority) =>
      anImageDeployment({ id: `d${priority}`, priority, ...overrides }),
    ),
  })
  const request = anImageRequest({ images: given.images, edit: given.edit })
  const { offers } = negotiateImages(request, model, 'refuse')
  const requestId = crypto.randomUUID()
  const ledger = await admitImages({ requestId, key, keyNow: () => key, request, model, offers }, money)
  const begun = await jobs.begin({
    id: requestId,
    project: 'p',
    keyId: key.id,
    player: undefined,
    model: model.id,
    digest: '',
    idempotencyKey: undefined,
    isRetry: false,
    request: '',
    nodeId: 'this',
  })
  assert.ok(begun.kind === 'begun')
  const run = {
    hold: begun.hold,
    request,
    model,
    ledger,
    deadlineMs: clock.monotonicMs() + (given.timeoutMs ?? 60_000),
    trace: new RequestTrace(0),
    held: new Map(),
    onPreview: () => {},
    inputs: given.edit && new EditInputs(given.edit, NO_FILES, 'p', outside),
    isResumed: false,
    background: undefined,
  }
  const bought = buy(run, given.images, offers, outside)
  // Each test awaits it, but only after it has looked at the calls.
  bought.catch(() => {})
  return {
    bought,
    calls,
    freeMemory: () => others?.[Symbol.dispose](),
    async loseJob() {
      lateMs += JOB_HOLD_MS
      assert.equal((await jobs.takeOver('another', 1)).length, 1)
    },
    report: (id) => scheduler.states(clock.monotonicMs()).find(({ deployment }) => deployment === id),
  }
}

function outCall(
  { deployment, images }: ImageCall,
  resolve: (answer: ImageAnswer) => void,
  reject: (error: unknown) => void,
): OutCall {
  return {
    deployment: deployment.id,
    images,
    answer: () =>
      resolve({
        pictures: Array.from({ length: images }, () => ({ bytes: picture, revisedPrompt: undefined })),
        tokens: UNTOLD,
        echoes: {},
        extraFields: {},
      }),
    fail: (status) =>
      reject(
        new UpstreamFailure(status === 429 ? 'rateLimited' : 'failed', 'no', {
          deployment: deployment.id,
          status,
        }),
      ),
  }
}

const count = ({ deliveries }: Bought): number =>
  deliveries.reduce((sum, { pictures }) => sum + pictures.length, 0)

const outs = ({ calls }: World, number: number): Promise<void> =>
  eventually(async () => assert.equal(calls.length, number))

for (const order of [
  [0, 1],
  [1, 0],
] as const) {
  test(`a job that was lost ends when its last call has (answered: ${order.join()}), and nothing more is bought`, async () => {
    const world = await buying({
      images: 5,
      deployments: [{ capabilities: { maxImages: 1, maxParallelCalls: 2 } }],
    })
    await outs(world, 2)
    await world.loseJob()
    let hasEnded = false
    const ended = world.bought.finally(() => (hasEnded = true))
    ended.catch(() => {})
    const [first, second] = order
    world.calls[first]?.answer()
    // A rejection without a handler by then ends the process.
    await waited(20)
    assert.equal(hasEnded, false, 'a call is still out')
    world.calls[second]?.answer()
    await assert.rejects(ended, JobLost)
    await waited(20)
    assert.equal(world.calls.length, 2)
    assert.equal(world.report('d0')?.inFlight, 0)
  })
}

test('who has calls out waits for its own to end, however long that takes', async () => {
  const world = await buying({
    images: 4,
    deployments: [{ capabilities: { maxImages: 1, maxParallelCalls: 4 }, limits: { concurrency: 1 } }],
  })
  for (let made = 1; made <= 4; made += 1) {
    await outs(world, made)
    await waited(2 * QUEUE_WAIT_MS)
    assert.equal(world.calls.length, made, 'one at a time')
    world.calls.at(-1)?.answer()
  }
  const bought = await world.bought
  assert.deepEqual([count(bought), bought.failures], [4, []])
})

test('a limit of pictures a minute is charged once for each picture', async () => {
  const world = await buying({
    images: 10,
    isQuick: true,
    deployments: [{ capabilities: { maxImages: 1, maxParallelCalls: 4 }, limits: { imagesPerMinute: 10 } }],
  })
  const bought = await world.bought
  assert.deepEqual([count(bought), bought.failures], [10, []])
})

test('where deployments differ in how many pictures a call carries, each is charged what its call does', async () => {
  const world = await buying({
    images: 6,
    isQuick: true,
    deployments: [
      { capabilities: { maxImages: 1 }, limits: { imagesPerMinute: 6 } },
      { capabilities: { maxImages: 4 }, limits: { imagesPerMinute: 6 } },
    ],
  })
  const bought = await world.bought
  assert.deepEqual([count(bought), bought.failures], [6, []])
  assert.ok(world.calls.every(({ deployment }) => deployment === 'd0'))
  assert.equal(world.calls.length, 6)
})

test('what another deployment does not take in one call is bought in several', async () => {
  const world = await buying({
    images: 4,
    deployments: [{ capabilities: { maxImages: 4 } }, { capabilities: { maxImages: 1 } }],
  })
  await outs(world, 1)
  world.calls[0]?.fail(500)
  for (let made = 2; made <= 5; made += 1) {
    await eventually(async () => assert.ok(world.calls.length >= made))
    world.calls[made - 1]?.answer()
  }
  const bought = await world.bought
  assert.deepEqual([count(bought), bought.failures], [4, []])
  assert.deepEqual(
    world.calls.map(({ images }) => images),
    [4, 1, 1, 1, 1],
  )
})

test('a call that is made again goes before those that have not begun, and no turn lies idle', async () => {
  const world = await buying({
    images: 3,
    deployments: [
      { capabilities: { maxImages: 1, maxParallelCalls: 1 } },
      { capabilities: { maxImages: 1, maxParallelCalls: 1 } },
    ],
  })
  const inFlight = (): number => (world.report('d0')?.inFlight ?? 0) + (world.report('d1')?.inFlight ?? 0)
  await outs(world, 1)
  world.calls[0]?.fail(500)
  for (let made = 2; made <= 4; made += 1) {
    await outs(world, made)
    assert.equal(inFlight(), 1, 'as many turns as calls')
    world.calls.at(-1)?.answer()
  }
  assert.equal(count(await world.bought), 3)
  assert.deepEqual(
    world.calls.map(({ deployment }) => deployment),
    ['d0', 'd1', 'd0', 'd0'],
  )
})

const edits: ImageEdits = {
  maxInputs: 2,
  inputFormats: ['png'],
  mask: 'alpha',
  markup: false,
  fidelities: [],
  bodies: ['multipart'],
  maxFileBytes: 5000,
}
const edit: ImageEdit = {
  pictures: [
    {
      kind: 'file',
      sha256: 'a',
      bytes: 10,
      format: 'png',
      width: 8,
      height: 8,
      hasAlpha: false,
      isTurned: false,
    },
  ],
  mask: undefined,
  markup: undefined,
  fidelity: undefined,
}
/** Of the AI SDK's wires none takes files from a disk. */
const buffering: ImageOverrides = {
  upstream: { dialect: 'ai-sdk', provider: 'black-forest-labs' },
  capabilities: { edits },
}
const streaming: ImageOverrides = { capabilities: { edits } }

for (const [name, deployments] of [
  ['all buffer', [buffering]],
  ['some stream', [buffering, streaming]],
] as const) {
  test(`who waits for memory holds no turn (${name})`, async () => {
    const world = await buying({ images: 1, edit, deployments, isMemoryTaken: true })
    await waited(20)
    assert.deepEqual([world.calls.length, world.report('d0')?.inFlight ?? 0], [0, 0])
    world.freeMemory()
    await outs(world, 1)
    world.calls[0]?.answer()
    assert.equal(count(await world.bought), 1)
  })

  test(`a project that holds all the memory that it may leaves some to others (${name})`, async () => {
    const world = await buying({ images: 1, edit, deployments, isMemoryShared: true })
    await outs(world, 1)
    world.calls[0]?.answer()
    assert.equal(count(await world.bought), 1)
  })

  test(`memory that does not come in time is not the deployment's failure (${name})`, async () => {
    const world = await buying({ images: 1, edit, deployments, isMemoryTaken: true, timeoutMs: 100 })
    const [{ failures }] = await Promise.all([world.bought, waited(300)])
    assert.ok(failures[0] instanceof UpstreamFailure && failures[0].kind === 'timedOut')
    assert.deepEqual([world.calls.length, world.report('d0')?.failureShare ?? 0], [0, 0])
  })
}
