import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import type { Clock } from '#ports/clock.ts'
import { Circuits } from '#core/batch/circuits.ts'
import { decodeBase64 } from '#core/embedding/vector.ts'
import type { Batch, HeldChunk } from '#ports/batches.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { SetTerms } from '#test/support/terms.ts'
import { storedKey } from '../access/stored-key.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { MemoryBatches } from '#test/support/stores/batches.ts'
import { ENDLESS_ROOM } from '#ports/disk-room.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { fetchedMedia, readEmbeddingLine } from '#http/gateway/embeddings/read-line.ts'
import { FairShare } from '#core/schedule/fair-share.ts'
import { defaultLimits } from '#core/settings.ts'
import { DiskUploads } from '#stores/uploads/disk.ts'
import { GuardedPictureFetcher } from '#upstreams/connect/picture-fetch.ts'
import { systemClock } from '#runtime/clock.ts'
import { WorkerJson } from '#runtime/json.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { bitsOf } from '#test/support/arbitraries.ts'
import type { Observer, RequestRecord } from '#ports/observer.ts'
import { memoryMoney } from '#test/support/money.ts'
import { embedDependencies, MemoryUpstream, type MemoryUpstreamOptions } from '#test/support/embedding.ts'
import { aModel } from '#test/support/models.ts'
import { aKey } from '#test/support/sharing.ts'
import { vectorOf } from '../../../../lab/fake-provider/vectors.ts'
import { StopSignal } from './stop-signal.ts'
import { runChunk, type ChunkDependencies } from './run-chunk.ts'
import { Suspects, type ChunkOrders } from './run-lines.ts'

interface ResultLine {
  readonly id: string
  readonly custom_id: string
  readonly response: {
    readonly status_code: number
    readonly request_id: string
    readonly body: {
      readonly data: readonly { readonly embedding: string }[]
      readonly usage: { readonly total_tokens: number }
      readonly error?: { readonly code: string }
    }
  } | null
  readonly error: { readonly code: string } | null
}

const HOUR_MS = 3_600_000
const json = new WorkerJson()
after(() => json.close())
const folder = mkdtempSync(join(tmpdir(), 'torana-lines-'))
after(() => rmSync(folder, { recursive: true }))
const forLines = {
  json,
  limits: defaultLimits,
  uploads: await DiskUploads.open(folder, { maxBytes: 1024 ** 2 }),
  fetcher: new GuardedPictureFetcher({ connectTimeoutMs: 1000 }),
  memory: new FairShare({ capacity: 64 * 1024 ** 2, headroom: 3, maxWaiting: 10 }),
  wait: sleep,
  yieldOnArrival: async () => {},
}
/** Duration of a call. */
const CALL_MS = 20
const identifiers = uuidv7Identifiers(systemClock)
const price = { kind: 'perToken', nanoUsdPerMillionTokens: 1_000_000n } as const
const capabilities = { user: false }
const model = aModel({ deployments: [aDeployment({ price, capabilities })] })
const other = aModel({ id: 'other', deployments: [aDeployment({ id: 'other/b', price, capabilities })] })
const third = aModel({ id: 'third', deployments: [aDeployment({ id: 'third/c', price, capabilities })] })
const NO_OBSERVER: Observer = {
  callEnded() {},
  overcounted() {},
  undercounted() {},
  requestEnded() {},
}

function linesOf(texts: readonly string[], bodyOf: (index: number) => object): string {
  const lines = texts.map((input, index) =>
    JSON.stringify({
      custom_id: `r${index}`,
      method: 'POST',
      url: '/v1/embeddings',
      body: { model: model.id, input, encoding_format: 'base64', ...bodyOf(index) },
    }),
  )
  return `${lines.join('\n')}\n`
}

/** A batch of one chunk, with an upstream in memory and a clock that the test moves. */
async function world(
  texts: readonly string[],
  options: MemoryUpstreamOptions = {},
  bodyOf: (index: number) => object = () => ({}),
) {
  let nowMs = Date.UTC(2026, 10, 20)
  let ticks = 0
  const monotonicMs = (): number => nowMs + (ticks += 0.001)
  const clock: Clock = { nowMs: () => nowMs, monotonicMs }
  const money = memoryMoney()
  const batches = new MemoryBatches(clock, undefined, undefined, undefined, (id) => money.memory.usedBy(id))
  const records: RequestRecord[] = []
  const blobs = new MemoryBlobs(clock)
  const upstream = new MemoryUpstream({
    ...options,
    plan(call, number) {
      nowMs += CALL_MS
      return options.plan?.(call, number)
    },
  })
  const terms = new SetTerms()
  const input = new TextEncoder().encode(linesOf(texts, bodyOf))
  const id = `batch_${identifiers.next().replaceAll('-', '')}`
  await batches.create(
    {
      id,
      project: 'p',
      keyId: 'p/k',
      player: undefined,
      terms: JSON.stringify(storedKey(aKey('p'))),
      endpoint: '/v1/embeddings',
      inputFileId: 'file-in',
      outputFileId: 'file-out',
      errorFileId: 'file-err',
      model: undefined,
      digest: 'd',
      idempotencyKey: undefined,
      isRetry: false,
      windowMs: HOUR_MS,
      metadata: undefined,
      resultsKeptMs: HOUR_MS,
      chunks: [{ firstByte: 0, bytes: input.length, firstLine: 1, lines: texts.length }],
      errors: [],
    },
    1,
  )
  const dependencies: ChunkDependencies = {
    ...embedDependencies(model, upstream, { monotonicMs, money }),
    catalog: () => ({
      models: new Map([model, other, third].map((one) => [one.id, one])),
      retired: new Map(),
      projects: [],
    }),
    observer: { ...NO_OBSERVER, requestEnded: (record) => void records.push(record) },
    clock,
    identifiers,
    batches,
    blobs,
    readInput: async (_file, { firstByte, bytes }) => input.subarray(firstByte, firstByte + bytes),
    diskRoom: ENDLESS_ROOM,
    readLine: (line, project) => readEmbeddingLine(line, project, forLines),
    fetchedMedia: (project) => fetchedMedia(project, forLines),
    callInputs: () => 64,
    docsUrl: () => 'http://docs',
    terms,
    wait: async (ms) => void (nowMs += ms),
  }
  const stop = new StopSignal()
  const orders: ChunkOrders = {
    stop,
    circuits: new Circuits(),
    suspects: new Suspects(),
    place: () => ({ [Symbol.dispose]() {} }),
    answered: () => {},
  }
  const claimed = async (): Promise<HeldChunk> => {
    const [held] = await batches.claim('node', 1)
    assert.ok(held)
    return held
  }
  const half = async (which: 'output' | 'error'): Promise<readonly ResultLine[]> => {
    const lines: ResultLine[] = []
    for (const { chunk, token, headBytes, outputBytes, errorBytes } of await batches.parts(id, {
      limit: 99,
    })) {
      const blob = await blobs.open(`batches/${id}/${chunk}-${token}`)
      const pieces: Uint8Array[] = []
      for await (const piece of blob?.bytes ?? []) pieces.push(piece)
      const bytes = Buffer.concat(pieces)
      assert.equal(bytes.length, headBytes + outputBytes + errorBytes)
      const first = which === 'output' ? headBytes : headBytes + outputBytes
      const text = bytes.toString('utf8', first, first + (which === 'output' ? outputBytes : errorBytes))
      lines.push(
        ...text
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as ResultLine),
      )
    }
    return lines
  }
  return {
    id,
    batches,
    records,
    upstream,
    terms,
    dependencies,
    orders,
    claimed,
    output: () => half('output'),
    errors: () => half('error'),
    batch: async () => (await batches.find(id, 'p')) as Batch,
    passes: (ms: number) => void (nowMs += ms),
    run: async () => runChunk(await claimed(), orders, dependencies),
  }
}

type World = Awaited<ReturnType<typeof world>>

const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `text ${index}`)

test('every line gets its own vector bit for bit under its own id, and its share of the tokens', async () => {
  const { run, output, errors, batch, upstream } = await world(texts(150))
  await run()
  const lines = await output()
  assert.deepEqual(
    lines.map(({ custom_id }) => custom_id),
    texts(150).map((_, index) => `r${index}`),
  )
  for (const [index, { response }] of lines.entries())
    assert.deepEqual(
      bitsOf(decodeBase64(response?.body.data[0]?.embedding ?? '')),
      bitsOf(vectorOf(`text ${index}`, 8)),
    )
  assert.equal(new Set(lines.map(({ id }) => id)).size, 150)
  assert.deepEqual(await errors(), [])
  const { state, completed, failed, tokens } = await batch()
  const counted = lines.reduce((sum, { response }) => sum + (response?.body.usage.total_tokens ?? 0), 0)
  assert.deepEqual([state, completed, failed, tokens], ['completed', 150, 0, counted])
  assert.equal(upstream.calls.length, 3)
})

test('of many texts one that is refused fails only its own line, and few calls find it', async () => {
  const bad = 'text 37'
  const { run, output, errors, upstream } = await world(texts(64), {
    plan: ({ inputs }) =>
      inputs.kind === 'texts' && inputs.texts.includes(bad) ? 'contentRefused' : undefined,
  })
  await run()
  assert.equal((await output()).length, 63)
  const [line] = await errors()
  assert.deepEqual(
    [line?.custom_id, line?.response?.status_code, line?.response?.body.error?.code, line?.error],
    ['r37', 400, 'content_policy_violation', null],
  )
  assert.ok(upstream.calls.length <= 1 + 2 * Math.log2(64), `${upstream.calls.length} calls`)
})

test('a holder that died after its part was kept leaves nothing to buy again', async () => {
  const { claimed, dependencies, orders, batches, batch, upstream, passes, output } = await world(texts(10))
  const first = await claimed()
  const dying: ChunkDependencies = {
    ...dependencies,
    batches: Object.assign(Object.create(batches) as typeof batches, {
      takeRoom: batches.takeRoom.bind(batches),
      finish: () => Promise.reject(new Error('killed')),
    }),
  }
  await assert.rejects(runChunk(first, orders, dying), /killed/)
  passes(20_000)
  const second = await claimed()
  assert.equal(second.hold.token, 2)
  await runChunk(second, orders, dependencies)
  assert.equal(upstream.calls.length, 1)
  assert.deepEqual([(await batch()).state, (await output()).length], ['completed', 10])
})

test('lines whose time was up are told so, each once, and the batch has expired', async () => {
  const { run, output, errors, batch, passes, upstream } = await world(texts(5))
  passes(HOUR_MS)
  await run()
  assert.deepEqual([upstream.calls.length, (await output()).length], [0, 0])
  const lines = await errors()
  assert.deepEqual(
    lines.map(({ custom_id, response, error }) => [custom_id, response, error?.code]),
    texts(5).map((_, index) => [`r${index}`, null, 'batch_expired']),
  )
  assert.deepEqual([(await batch()).state, (await batch()).failed], ['expired', 5])
})

test('a chunk that must stop ends with what it has, and the rest is run as a chunk of its own', async () => {
  const { claimed, dependencies, orders, run, batch, output, upstream } = await world(texts(100))
  const stop = new StopSignal()
  await runChunk(await claimed(), { ...orders, stop, answered: () => stop.raise() }, dependencies)
  assert.deepEqual([(await batch()).state, (await batch()).completed], ['in_progress', 64])
  await run()
  const ids = (await output()).map(({ custom_id }) => custom_id)
  assert.deepEqual([ids.length, new Set(ids).size, upstream.calls.length], [100, 100, 2])
  const lineIds = new Set((await output()).map(({ id }) => id))
  assert.equal(lineIds.size, 100)
  assert.equal((await batch()).state, 'completed')
})

test('while an upstream is down no line fails: the batch waits and says why', async () => {
  let isDown = true
  const { run, batch, passes, output, errors } = await world(texts(3), {
    plan: () => (isDown ? 'unreachable' : undefined),
  })
  await run()
  const { state, pause, completed, failed } = await batch()
  assert.deepEqual([state, pause?.code, completed, failed], ['in_progress', 'upstream_unreachable', 0, 0])
  isDown = false
  passes(60_000)
  await run()
  assert.deepEqual([(await output()).length, (await errors()).length], [3, 0])
})

/** Holds the chunks of a batch one after another, as a worker does, until it has ended or this time has passed. */
async function runFor({ batches, batch, dependencies, orders, passes }: World, ms: number): Promise<void> {
  const untilMs = dependencies.clock.nowMs() + ms
  while ((await batch()).state === 'in_progress' && dependencies.clock.nowMs() < untilMs) {
    for (const held of await batches.claim('node', 1)) await runChunk(held, orders, dependencies)
    passes(1000)
  }
}

test('an upstream that fails on one text, while others get their answers, fails one line', async () => {
  const all = await world(texts(8), {
    plan: ({ inputs }) => (inputs.kind === 'texts' && inputs.texts.includes('text 5') ? 'failed' : undefined),
  })
  await runFor(all, 10 * 60_000)
  assert.equal((await all.output()).length, 7)
  assert.deepEqual(
    (await all.errors()).map(({ custom_id }) => custom_id),
    ['r5'],
  )
  // The sixth line of the file.
  assert.equal(all.orders.suspects.get(`${all.id} 6`)?.beside, 3)
  assert.equal(all.orders.suspects.get(`${all.id} 5`), undefined)
})

for (const [what, begins] of [
  ['is down from the beginning', () => true],
  ['goes down after a while', (call: number) => call > 2],
  ['goes down while every second call still succeeds', (call: number) => call > 4 || call % 2 === 1],
] as const)
  test(`an upstream that ${what}, for half an hour, fails no line, and each pause costs one request`, async () => {
    let isDown = true
    const all = await world(texts(500), {
      plan: (_, number) => (isDown && begins(number) ? 'failed' : undefined),
    })
    await runFor(all, 30 * 60_000)
    const { state, pause, failed } = await all.batch()
    assert.deepEqual([state, pause?.code, failed], ['in_progress', 'upstream_failed', 0])
    // Pauses of 15, 30 and then 60 seconds.
    assert.ok(all.upstream.calls.length <= 45, `${all.upstream.calls.length} calls`)
    isDown = false
    await runFor(all, 5 * 60_000)
    const ids = (await all.output()).map(({ custom_id }) => custom_id)
    assert.deepEqual([ids.length, new Set(ids).size, (await all.errors()).length], [500, 500, 0])
  })

test('a line that fails with nothing beside it that succeeds waits until its window ends', async () => {
  const all = await world(['text'], { plan: () => 'failed' })
  await runFor(all, 2 * HOUR_MS)
  assert.deepEqual(
    [(await all.batch()).state, (await all.errors()).map(({ error }) => error?.code)],
    ['expired', ['batch_expired']],
  )
})

test('lines of two models by turns fill calls, each gets its own vector, and encodings and users share a call', async () => {
  const all = await world(texts(120), {}, (index) => ({
    model: index % 2 === 0 ? model.id : other.id,
    encoding_format: index % 4 < 2 ? 'base64' : 'float',
    user: `u${index}`,
  }))
  await all.run()
  const lines = await all.output()
  assert.deepEqual([lines.length, all.upstream.calls.length], [120, 2])
  for (const { custom_id, response } of lines) {
    const given: unknown = response?.body.data[0]?.embedding
    const values = typeof given === 'string' ? decodeBase64(given) : Float32Array.from(given as number[])
    assert.equal(typeof given === 'string', Number(custom_id.slice(1)) % 4 < 2)
    assert.deepEqual(bitsOf(values), bitsOf(vectorOf(`text ${custom_id.slice(1)}`, 8)))
  }
})

test('while two of three models are down, lines of the other are done, and none is bought again when they come back one by one', async () => {
  const down = new Set(['other/b', 'third/c'])
  const ids = [model.id, other.id, third.id]
  const all = await world(
    texts(90),
    { plan: ({ deployment }) => (down.has(deployment.id) ? 'failed' : undefined) },
    (index) => ({ model: ids[index % ids.length] }),
  )
  const resumed: string[] = []
  const { batches } = all
  const resume = batches.resume.bind(batches)
  batches.resume = async (id) => {
    resumed.push(id)
    await resume(id)
  }
  await runFor(all, 10 * 60_000)
  const { state, completed, pause } = await all.batch()
  assert.deepEqual([state, completed, pause?.code], ['in_progress', 30, 'upstream_failed'])
  assert.deepEqual(resumed, [], 'nothing succeeded after the pause')
  down.delete('other/b')
  await runFor(all, 10 * 60_000)
  assert.deepEqual([(await all.batch()).completed, resumed.length > 0], [60, true])
  down.clear()
  await runFor(all, 5 * 60_000)
  const bought = all.upstream.served.flatMap(({ call: { inputs } }) =>
    inputs.kind === 'texts' ? inputs.texts : [],
  )
  assert.deepEqual([bought.length, new Set(bought).size], [90, 90])
  const lines = (await all.output()).map(({ id }) => id)
  assert.deepEqual([(await all.batch()).state, new Set(lines).size, lines.length], ['completed', 90, 90])
})

test('a budget that is used up costs one request a pause, which names its model and its batch', async () => {
  const all = await world(texts(64))
  all.terms.key = { budgets: [HARD] }
  await runFor(all, 30 * 60_000)
  const { state, pause, failed } = await all.batch()
  assert.deepEqual([state, pause?.code, failed], ['in_progress', 'budget_exhausted', 0])
  assert.ok(all.records.length <= 8, `${all.records.length} requests in half an hour`)
  for (const record of all.records)
    assert.deepEqual(
      [record.model, record.fault, record.clientRequestId, record.route],
      [model.id, 'budget_exhausted', all.id, 'batch-lines'],
    )
})

test('a model that is gone is each line its own refusal, without a call', async () => {
  const { claimed, dependencies, orders, errors, upstream } = await world(texts(4))
  const catalog = () => ({ models: new Map(), retired: new Map(), projects: [] })
  await runChunk(await claimed(), orders, { ...dependencies, catalog })
  assert.deepEqual(
    (await errors()).map(({ response }) => response?.body.error?.code),
    Array.from({ length: 4 }, () => 'model_not_found'),
  )
  assert.equal(upstream.calls.length, 0)
})

test('a store that is away for a moment gets the same part afterwards, error lines included', async () => {
  const { claimed, orders, dependencies, output, errors } = await world(['good', 'bad', 'fine'], {
    plan: ({ inputs }) =>
      inputs.kind === 'texts' && inputs.texts.includes('bad') ? 'contentRefused' : undefined,
  })
  let tries = 0
  const blobs: typeof dependencies.blobs = {
    put: async (name, bytes) => {
      tries += 1
      if (tries < 3) throw new StoreUnreachable('away')
      await dependencies.blobs.put(name, bytes)
    },
    open: (name, range) => dependencies.blobs.open(name, range),
    delete: (name) => dependencies.blobs.delete(name),
    list: (options) => dependencies.blobs.list(options),
  }
  await runChunk(await claimed(), orders, { ...dependencies, blobs })
  assert.deepEqual((await output()).map(({ custom_id }) => custom_id).toSorted(), ['r0', 'r2'])
  assert.deepEqual(
    (await errors()).map(({ custom_id }) => custom_id),
    ['r1'],
  )
})

test('lines whose deployment left the vector space meanwhile are made again', async () => {
  const { claimed, orders, dependencies, output, upstream } = await world(texts(3))
  let looks = 0
  const isQuarantined = (): boolean => (looks += 1) === 1
  await runChunk(await claimed(), orders, { ...dependencies, isQuarantined })
  assert.equal(upstream.calls.length, 2)
  assert.equal((await output()).length, 3)
})

const HARD = { id: 'project:p', limitNanoUsd: 0n, per: 'day', hard: true } as const
const ENDED = { isProjectDeleted: false } as const

/** What a change means for a half-done chunk. Undefined when the chunk continues. */
const CHANGES: readonly (readonly [
  what: string,
  change: (terms: SetTerms) => void,
  paused: string | undefined,
])[] = [
  ['nothing changes', () => {}, undefined],
  ['its key is revoked', (terms) => (terms.now = { standing: 'revoked', ...ENDED }), 'key_revoked'],
  ['its key expires', (terms) => (terms.now = { standing: 'expired', ...ENDED }), 'key_expired'],
  ['its key leaks', (terms) => (terms.now = { standing: 'leaked', ...ENDED }), 'key_revoked'],
  [
    'its project is deleted',
    (terms) => (terms.now = { standing: 'revoked', isProjectDeleted: true }),
    'project_deleted',
  ],
  [
    'its key can no longer be looked up',
    (terms) => (terms.now = { standing: 'unreachable', ...ENDED }),
    'key_store_unreachable',
  ],
  ['a hard budget is set', (terms) => (terms.key = { budgets: [HARD] }), 'budget_exhausted'],
  ['a soft budget is set', (terms) => (terms.key = { budgets: [{ ...HARD, hard: false }] }), undefined],
  [
    'a rate limit is set',
    (terms) => {
      const limit = { id: 'key:p/k:requests', project: 'p', unit: 'requests', perMinute: 1 } as const
      terms.key = { limits: [limit] }
    },
    undefined,
  ],
]

for (const [what, change, paused] of CHANGES)
  test(`between two calls of a chunk, ${what}: it ${paused === undefined ? 'goes on' : `pauses for ${paused}`}`, async () => {
    const all = await world(['a', 'b', 'c', 'd'])
    const { batches, dependencies, orders, terms, upstream } = all
    const answered = (): void => change(terms)
    await runChunk(await all.claimed(), { ...orders, answered }, { ...dependencies, callInputs: () => 1 })
    const batch = await batches.find(all.id, 'p')
    assert.equal(batch?.pause?.code, paused)
    assert.equal(upstream.calls.length, paused === undefined ? 4 : 1)
    assert.deepEqual([batch?.completed, batch?.failed], [paused === undefined ? 4 : 1, 0])
  })

test('a batch that was continued runs under its project alone, whatever becomes of its key', async () => {
  const all = await world(['a', 'b'])
  const { batches, dependencies, orders, terms } = all
  terms.now = { standing: 'revoked', ...ENDED }
  terms.key = { models: new Set(['another']) }
  await batches.continue(all.id, 'p')
  await runChunk(await all.claimed(), orders, dependencies)
  assert.equal((await batches.find(all.id, 'p'))?.completed, 2)
})

test('a batch that was continued is bound by the budget of its project', async () => {
  const all = await world(['a', 'b'])
  const { batches, dependencies, orders, terms, upstream } = all
  terms.now = { standing: 'revoked', ...ENDED }
  terms.projectBudget = HARD
  await batches.continue(all.id, 'p')
  await runChunk(await all.claimed(), orders, dependencies)
  assert.equal((await batches.find(all.id, 'p'))?.pause?.code, 'budget_exhausted')
  assert.equal(upstream.calls.length, 0)
})

test('a line that can not be read fails alone', async () => {
  const { run, output, errors } = await world(texts(3), {}, (index) => (index === 1 ? { input: [] } : {}))
  await run()
  assert.deepEqual(
    [await output(), await errors()].map((lines) => lines.map(({ custom_id }) => custom_id)),
    [['r0', 'r2'], ['r1']],
  )
})

test('lines whose file is gone fail, and none is bought', async () => {
  const { claimed, orders, dependencies, batch, upstream } = await world(texts(3))
  await runChunk(await claimed(), orders, { ...dependencies, readInput: async () => undefined })
  assert.deepEqual(
    [(await batch()).failed, (await batch()).state, upstream.calls.length],
    [3, 'completed', 0],
  )
})

for (const { puts, isReleased } of [
  { puts: 1, isReleased: true },
  { puts: 2, isReleased: false },
])
  test(`results that the store took at try ${puts} are ${isReleased ? 'given up at once' : 'left to a try that may still send them'}`, async () => {
    const { claimed, orders, dependencies } = await world(texts(3))
    const sent: Uint8Array[] = []
    const { blobs } = dependencies
    const counting = Object.assign(Object.create(blobs) as typeof blobs, {
      put: async (name: string, bytes: Uint8Array) => {
        if (sent.push(bytes) < puts) throw new StoreUnreachable('unreachable')
        await blobs.put(name, Uint8Array.from(bytes))
      },
      list: blobs.list.bind(blobs),
      open: blobs.open.bind(blobs),
    })
    await runChunk(await claimed(), orders, { ...dependencies, blobs: counting })
    assert.deepEqual([sent.length, sent.at(-1)?.length === 0], [puts, isReleased])
  })

for (const [what, users, user] of [
  ['for one user', ['a', 'a', 'a'], 'a'],
  ['for several users', ['a', 'b', 'b'], undefined],
] as const)
  test(`the record of a request that carries lines ${what} names ${user ?? 'none'}`, async () => {
    const { run, records } = await world(texts(3), {}, (index) => ({ user: users[index] }))
    await run()
    assert.deepEqual(
      records.map((record) => record.user),
      [user],
    )
  })

test('where an upstream learns the user, each of its users has requests of their own, eight groups at once', async () => {
  const takesUser = aModel({ deployments: [aDeployment({ price })] })
  const { claimed, orders, dependencies, upstream, output } = await world(texts(40), {}, (index) => ({
    user: `u${index % 20}`,
  }))
  let [beside, most] = [0, 0]
  const place = (): Disposable => {
    most = Math.max(most, (beside += 1))
    return { [Symbol.dispose]: () => void (beside -= 1) }
  }
  const catalog = () => ({ models: new Map([[takesUser.id, takesUser]]), retired: new Map(), projects: [] })
  await runChunk(await claimed(), { ...orders, place }, { ...dependencies, catalog })
  assert.deepEqual([upstream.calls.length, (await output()).length], [20, 40])
  // The first of them has a place already.
  assert.deepEqual([most, beside], [7, 0])
})
