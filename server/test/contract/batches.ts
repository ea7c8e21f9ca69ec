/** What every `Batches` promises, whichever engine keeps them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CHUNK_HOLD_MS,
  ChunkLost,
  type Batches,
  type ChunkKind,
  type CreatedBatch,
  type HeldChunk,
  type NewBatch,
} from '#ports/batches.ts'
import { IDEMPOTENCY_MS, RETRY_JOIN_MS } from '#ports/image-jobs.ts'
import { allEnded } from '#test/support/reused-database.ts'
import { aBatch, chunksOf, doneEnd, HOUR_MS, madeEnd, type BatchesWorld } from './batches-open.ts'
import { nextId } from './image-jobs-open.ts'

const MANY = 1000
const ONE = nextId()
const TWO = nextId()

function idOf(created: CreatedBatch): string {
  return 'batch' in created ? created.batch.id : created.kind
}

async function claimedOne(batches: Batches, nodeId = ONE): Promise<HeldChunk> {
  const [held] = await batches.claim(nodeId, 1)
  assert.ok(held)
  return held
}

async function stateOf(batches: Batches, { id, project }: NewBatch): Promise<string | undefined> {
  return (await batches.find(id, project))?.state
}

export function batchesSuite(name: string, open: () => Promise<BatchesWorld>): void {
  test(`${name}: of fifty retries of one creation at once one creates, and the others join it`, async () => {
    const { batches, elsewhere } = await open()
    const asked = Array.from({ length: 50 }, () => aBatch({ digest: 'same', isRetry: true }))
    const created = await allEnded(
      asked.map((batch, index) => (index % 2 ? batches : elsewhere).create(batch, MANY)),
    )
    assert.equal(created.filter(({ kind }) => kind === 'created').length, 1)
    assert.equal(new Set(created.map(idOf)).size, 1)
  })

  test(`${name}: a creation that is no retry is a batch of its own, and so is a retry of another key or too late`, async () => {
    const { batches, passes } = await open()
    const first = aBatch({ digest: 'same' })
    await batches.create(first, MANY)
    const own = [aBatch({ digest: 'same' }), aBatch({ digest: 'same', isRetry: true, keyId: 'shop/other' })]
    for (const batch of own) assert.equal(idOf(await batches.create(batch, MANY)), batch.id)
    await passes(RETRY_JOIN_MS)
    const late = aBatch({ digest: 'same', isRetry: true })
    assert.equal(idOf(await batches.create(late, MANY)), late.id)
  })

  test(`${name}: an idempotency key means one batch for a day, and refuses another request`, async () => {
    const { batches, elsewhere, passes } = await open()
    const first = aBatch({ idempotencyKey: 'night', digest: 'one' })
    const again = aBatch({ idempotencyKey: 'night', digest: 'one' })
    const made = await Promise.all([batches.create(first, MANY), elsewhere.create(again, MANY)])
    assert.equal(new Set(made.map(idOf)).size, 1)
    assert.equal(idOf(await batches.create(aBatch({ idempotencyKey: 'night' }), MANY)), 'conflict')
    const foreign = aBatch({ idempotencyKey: 'night', project: 'other' })
    assert.equal(idOf(await batches.create(foreign, MANY)), foreign.id)
    await passes(IDEMPOTENCY_MS)
    const next = aBatch({ idempotencyKey: 'night' })
    assert.equal(idOf(await batches.create(next, MANY)), next.id)
  })

  test(`${name}: what was created is found with all it was created with, only in its own project`, async () => {
    const { batches, elsewhere } = await open()
    const asked = aBatch()
    await batches.create(asked, MANY)
    const found = await elsewhere.find(asked.id, 'shop')
    const {
      digest: _digest,
      idempotencyKey: _key,
      isRetry: _retry,
      windowMs,
      chunks: _chunks,
      ...kept
    } = asked
    assert.ok(found)
    for (const [field, value] of Object.entries(kept))
      assert.deepEqual(found[field as keyof typeof found], value, field)
    assert.deepEqual(
      [found.state, found.lines, found.completed, found.costNanoUsd],
      ['in_progress', 20, 0, 0n],
    )
    assert.equal(found.expiresAtMs - found.createdAtMs, windowMs)
    assert.equal(await elsewhere.find(asked.id, 'other'), undefined)
    assert.equal(await batches.cancel(asked.id, 'other'), undefined)
    assert.equal(await batches.list('other', { after: asked.id, limit: 9 }), undefined)
  })

  test(`${name}: a project has no more open batches than it may, however many of another there are`, async () => {
    const { batches } = await open()
    const first = aBatch()
    await batches.create(first, 1)
    await batches.create(aBatch({ project: 'other' }), 1)
    assert.equal((await batches.create(aBatch(), 1)).kind, 'too-many')
    await batches.cancel(first.id, first.project)
    assert.equal((await batches.create(aBatch(), 1)).kind, 'created')
  })

  test(`${name}: a list goes from the newest to the oldest, page by page, of one project`, async () => {
    const { batches } = await open()
    const made = Array.from({ length: 5 }, () => aBatch())
    for (const batch of [...made, aBatch({ project: 'other' })]) await batches.create(batch, MANY)
    // Within a millisecond their order is chance.
    const ids = made
      .map(({ id }) => id)
      .sort()
      .reverse()
    const first = await batches.list('shop', { limit: 3 })
    assert.deepEqual(
      first?.map(({ id }) => id),
      ids.slice(0, 3),
    )
    const rest = await batches.list('shop', { after: ids[2], limit: 3 })
    assert.deepEqual(
      rest?.map(({ id }) => id),
      ids.slice(3),
    )
  })

  test(`${name}: a file that can't be run is a batch that has failed, reported once, with nothing to claim`, async () => {
    const { batches, outbox } = await open()
    const error = { code: 'invalid_json_line', message: 'No JSON.', param: undefined, line: 7 }
    const asked = aBatch({ project: 'shop+hooks', errors: [error], chunks: [] })
    await batches.create(asked, MANY)
    await batches.create(asked, MANY)
    const found = await batches.find(asked.id, 'shop+hooks')
    assert.equal(found?.state, 'failed')
    assert.equal(found?.errors[0]?.line, 7)
    assert.ok(found?.endedAtMs)
    assert.deepEqual(await batches.claim(ONE, 9), [])
    const events = await outbox.due(ONE, 9)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['batch.failed', 'batch.failed'],
    )
  })

  test(`${name}: nodes that claim at once get every chunk once, in order`, async () => {
    const { batches, elsewhere } = await open()
    await batches.create(aBatch({ chunks: chunksOf(40) }), MANY)
    const seen: number[] = []
    while (seen.length < 40) {
      const claims = await Promise.all([batches.claim(ONE, 3), elsewhere.claim(TWO, 3)])
      seen.push(...claims.flat().map(({ hold }) => hold.chunk))
    }
    assert.deepEqual(
      seen.sort((a, b) => a - b),
      [...Array.from({ length: 40 }).keys()],
    )
    assert.deepEqual(await batches.claim(ONE, 3), [])
  })

  test(`${name}: projects take turns, and within one the batch whose window ends first and the one that has waited longest`, async () => {
    const { batches } = await open()
    const large = aBatch({ project: 'large', chunks: chunksOf(50) })
    const soon = aBatch({ project: 'large', windowMs: HOUR_MS })
    const small = aBatch({ project: 'small' })
    for (const batch of [large, soon, small]) await batches.create(batch, MANY)
    const claimed: string[] = []
    for (let turn = 0; turn < 6; turn += 1) claimed.push((await claimedOne(batches)).batch.id)
    assert.notEqual(claimed[0], claimed[1])
    assert.equal(claimed.slice(0, 4).filter((id) => id === small.id).length, 2)
    assert.deepEqual(
      claimed.filter((id) => id !== small.id),
      [soon.id, large.id, soon.id, large.id],
    )
  })

  test(`${name}: a node that has enough of a project gets chunks of others, new ones and those whose holder is gone`, async () => {
    const { batches, passes } = await open()
    for (const project of ['shop', 'other']) await batches.create(aBatch({ project }), MANY)
    const projects = async (...notOf: string[]): Promise<string[]> =>
      (await batches.claim(ONE, 9, { notOf })).map(({ batch }) => batch.project)
    assert.deepEqual(await projects('shop'), ['other', 'other'])
    assert.deepEqual(await projects('shop'), [])
    assert.deepEqual(await projects(), ['shop', 'shop'])
    await passes(CHUNK_HOLD_MS)
    assert.deepEqual(await projects('other'), ['shop', 'shop'])
    assert.deepEqual(await projects('shop', 'other'), [])
  })

  test(`${name}: a node that has enough of a batch gets chunks of others of the project, new ones and those whose holder is gone`, async () => {
    const { batches, passes } = await open()
    const [one, two] = [aBatch(), aBatch()]
    for (const batch of [one, two]) await batches.create(batch, MANY)
    const claimed = async (...notOfBatches: string[]): Promise<string[]> =>
      (await batches.claim(ONE, 9, { notOfBatches })).map(({ batch }) => batch.id)
    assert.deepEqual(await claimed(one.id), [two.id, two.id])
    assert.deepEqual(await claimed(one.id), [])
    await passes(CHUNK_HOLD_MS)
    assert.deepEqual(await claimed(one.id), [two.id, two.id])
    assert.deepEqual(await claimed(one.id, two.id), [])
  })

  test(`${name}: texts and pictures are claimed apart, new chunks and those whose holder is gone`, async () => {
    const { batches, elsewhere, passes } = await open()
    const pictures = aBatch({ endpoint: '/v1/images/generations', chunks: chunksOf(1) })
    const texts = aBatch({ chunks: chunksOf(1) })
    for (const batch of [pictures, texts]) await batches.create(batch, MANY)
    const claimed = async (from: Batches, of: ChunkKind): Promise<readonly string[]> =>
      (await from.claim(TWO, 9, { of })).map(({ hold }) => `${hold.batchId} ${hold.token}`)
    assert.deepEqual(await claimed(batches, 'pictures'), [`${pictures.id} 1`])
    assert.deepEqual(await claimed(batches, 'texts'), [`${texts.id} 1`])
    await passes(CHUNK_HOLD_MS)
    assert.deepEqual(await claimed(elsewhere, 'pictures'), [`${pictures.id} 2`])
    assert.deepEqual(await claimed(elsewhere, 'texts'), [`${texts.id} 2`])
  })

  test(`${name}: a batch ends with its last chunk, once, with the sums of its chunks`, async () => {
    const { batches, outbox } = await open()
    const asked = aBatch({ project: 'shop+hooks' })
    await batches.create(asked, MANY)
    const [first, second] = await batches.claim(ONE, 2)
    assert.ok(first && second)
    await batches.finish(second.hold, doneEnd(second, { completed: 9, failed: 1 }))
    assert.equal((await batches.find(asked.id, asked.project))?.completed, 9)
    assert.equal(await stateOf(batches, asked), 'in_progress')
    await batches.finish(first.hold, doneEnd(first))
    // Again, since the answer may have been lost.
    await batches.finish(first.hold, doneEnd(first))
    const ended = await batches.find(asked.id, asked.project)
    assert.ok(ended?.endedAtMs)
    assert.deepEqual(
      [ended.state, ended.completed, ended.failed, ended.tokens, ended.outputTokens, ended.costNanoUsd],
      ['completed', 19, 1, 60, 20, 20n],
    )
    assert.equal(ended.outputBytes, 160)
    const [event, other] = await outbox.due(ONE, 9)
    assert.equal(event?.type, 'batch.completed')
    assert.deepEqual((JSON.parse(event?.payload ?? '') as { data: unknown }).data, { id: asked.id })
    assert.equal(other?.id, event?.id)
    assert.deepEqual(
      (await batches.parts(asked.id, { limit: 9 })).map(({ chunk, token }) => [chunk, token]),
      // As they ended.
      [
        [1, 1],
        [0, 1],
      ],
    )
    assert.equal((await batches.parts(asked.id, { after: 1, limit: 9 }))[0]?.chunk, 0)
  })

  test(`${name}: a chunk whose holder is gone is taken over, and the holder before can change nothing`, async () => {
    const { batches, elsewhere, passes } = await open()
    const asked = aBatch({ chunks: chunksOf(1) })
    await batches.create(asked, MANY)
    const first = await claimedOne(batches)
    await passes(CHUNK_HOLD_MS - 1000)
    assert.deepEqual(await batches.renew([first.hold]), [])
    await passes(CHUNK_HOLD_MS - 1000)
    assert.deepEqual(await elsewhere.claim(TWO, 1), [])
    await passes(1000)
    const second = await claimedOne(elsewhere, TWO)
    assert.deepEqual([second.hold.chunk, second.hold.token], [0, 2])
    assert.deepEqual(await batches.renew([first.hold]), [first.hold])
    await batches.giveBack(first.hold, 0)
    await assert.rejects(batches.finish(first.hold, doneEnd(first)), ChunkLost)
    await elsewhere.finish(second.hold, doneEnd(second))
    await assert.rejects(batches.finish(first.hold, doneEnd(first)), ChunkLost)
    const ended = await batches.find(asked.id, asked.project)
    assert.deepEqual([ended?.state, ended?.completed], ['completed', 10])
  })

  test(`${name}: a chunk that was given back rests for its time, then any node may take it`, async () => {
    const { batches, elsewhere, passes } = await open()
    await batches.create(aBatch({ chunks: chunksOf(1) }), MANY)
    const { hold } = await claimedOne(batches)
    await batches.giveBack(hold, 5000)
    assert.deepEqual(await elsewhere.claim(TWO, 1), [])
    await passes(5000)
    assert.equal((await claimedOne(elsewhere, TWO)).hold.token, 2)
  })

  test(`${name}: lines that did not run become a chunk of their own, and the batch waits for it`, async () => {
    const { batches } = await open()
    const asked = aBatch({ chunks: chunksOf(1) })
    await batches.create(asked, MANY)
    const held = await claimedOne(batches)
    const rest = { firstByte: 400, bytes: 600, firstLine: 5, lines: 6 }
    const end = { ...doneEnd(held, { completed: 4 }), rest }
    await batches.finish(held.hold, end)
    await batches.finish(held.hold, end)
    assert.equal(await stateOf(batches, asked), 'in_progress')
    const next = await claimedOne(batches)
    const { firstByte, bytes, firstLine, lines } = next
    assert.deepEqual({ firstByte, bytes, firstLine, lines }, rest)
    await batches.finish(next.hold, doneEnd(next))
    const ended = await batches.find(asked.id, asked.project)
    assert.deepEqual([ended?.state, ended?.completed, ended?.lines], ['completed', 10, 10])
  })

  test(`${name}: a cancelled batch begins no chunk and ends when those under way have`, async () => {
    const { batches, outbox } = await open()
    const asked = aBatch({ project: 'shop+hooks', chunks: chunksOf(5) })
    await batches.create(asked, MANY)
    const held = await claimedOne(batches)
    const cancelling = await batches.cancel(asked.id, asked.project)
    assert.equal(cancelling?.state, 'cancelling')
    assert.ok(cancelling.cancellingAtMs)
    assert.deepEqual(await batches.claim(TWO, 9), [])
    assert.deepEqual(await batches.renew([held.hold]), [held.hold])
    const rest = { firstByte: 400, bytes: 600, firstLine: 5, lines: 6 }
    await batches.finish(held.hold, { ...doneEnd(held, { completed: 4 }), rest })
    const ended = await batches.cancel(asked.id, asked.project)
    assert.deepEqual([ended?.state, ended?.completed], ['cancelled', 4])
    assert.equal((await outbox.due(ONE, 9))[0]?.type, 'batch.cancelled')
  })

  test(`${name}: a batch that is cancelled before anything began has ended at once`, async () => {
    const { batches } = await open()
    const asked = aBatch()
    await batches.create(asked, MANY)
    assert.equal((await batches.cancel(asked.id, asked.project))?.state, 'cancelled')
  })

  for (const [when, isGivenBackFirst] of [
    ['before', true],
    ['after', false],
  ] as const)
    test(`${name}: a cancelled batch does not wait for a chunk that was given back ${when} it was cancelled`, async () => {
      const { batches } = await open()
      const asked = aBatch({ chunks: chunksOf(1) })
      await batches.create(asked, MANY)
      const { hold } = await claimedOne(batches)
      if (isGivenBackFirst) await batches.giveBack(hold, HOUR_MS)
      await batches.cancel(asked.id, asked.project)
      if (!isGivenBackFirst) await batches.giveBack(hold, HOUR_MS)
      const held = await claimedOne(batches)
      await batches.finish(held.hold, { counts: doneEnd(held, { completed: 0 }).counts, part: undefined })
      assert.equal(await stateOf(batches, asked), 'cancelled')
    })

  test(`${name}: chunks that are claimed after the window are late, and the batch has expired with them`, async () => {
    const { batches, passes } = await open()
    const asked = aBatch({ windowMs: HOUR_MS })
    await batches.create(asked, MANY)
    const first = await claimedOne(batches)
    assert.equal(first.isLate, false)
    await batches.finish(first.hold, doneEnd(first))
    await passes(HOUR_MS)
    const late = await claimedOne(batches)
    assert.equal(late.isLate, true)
    await batches.finish(late.hold, doneEnd(late, { completed: 0, failed: 10, expired: 10 }))
    assert.equal(await stateOf(batches, asked), 'expired')
  })

  test(`${name}: a paused batch says why and begins nothing until its time has come`, async () => {
    const { batches, passes } = await open()
    const asked = aBatch()
    await batches.create(asked, MANY)
    await batches.pause(asked.id, 'budget_exhausted', 60_000)
    const paused = await batches.find(asked.id, asked.project)
    assert.equal(paused?.pause?.code, 'budget_exhausted')
    assert.deepEqual(await batches.claim(ONE, 1), [])
    await passes(60_000)
    assert.equal((await claimedOne(batches)).batch.pause?.code, 'budget_exhausted')
    await batches.resume(asked.id)
    assert.equal((await batches.find(asked.id, asked.project))?.pause, undefined)
  })

  test(`${name}: after its pause a batch is tried with one chunk at a time until lines of it succeed, then all may begin`, async () => {
    const { batches, passes } = await open()
    const asked = aBatch({ chunks: chunksOf(6) })
    await batches.create(asked, MANY)
    const before = await batches.claim(ONE, 4)
    await batches.pause(asked.id, 'upstream_failed', 60_000)
    for (const { hold } of before) await batches.giveBack(hold, 60_000)
    assert.deepEqual(await batches.claim(ONE, 9), [])
    for (let pause = 0; pause < 3; pause += 1) {
      await passes(60_000)
      const held = await claimedOne(batches)
      assert.deepEqual(await batches.claim(TWO, 9), [])
      await batches.pause(asked.id, 'upstream_failed', 60_000)
      await batches.giveBack(held.hold, 60_000)
      assert.deepEqual(await batches.claim(ONE, 9), [])
    }
    await passes(60_000)
    await claimedOne(batches)
    await batches.resume(asked.id)
    const after = [...(await batches.claim(ONE, 9)), ...(await batches.claim(ONE, 9))]
    assert.equal(after.length, 5)
    assert.equal(after[0]?.batch.pause, undefined)
  })

  test(`${name}: a batch whose window has ended is not kept waiting by its pause`, async () => {
    const { batches, passes } = await open()
    await batches.create(aBatch({ windowMs: HOUR_MS, chunks: chunksOf(2) }), MANY)
    const { hold } = await claimedOne(batches)
    await batches.pause(hold.batchId, 'budget_exhausted', 5 * HOUR_MS)
    await batches.giveBack(hold, 0)
    assert.deepEqual(await batches.claim(ONE, 9), [])
    await passes(HOUR_MS)
    const late = [...(await batches.claim(ONE, 9)), ...(await batches.claim(ONE, 9))]
    assert.deepEqual(
      late.map(({ isLate }) => isLate),
      [true, true],
    )
  })

  test(`${name}: of a chunk that ends with gaps, the lines with an end and the others are claimed and dropped apart`, async () => {
    const { batches, left } = await open()
    const asked = aBatch({ chunks: chunksOf(1) })
    await batches.create(asked, MANY)
    const held = await claimedOne(batches)
    const done = { firstByte: 0, bytes: 900, firstLine: 1, lines: 5, without: 'Qg==' }
    const rest = { firstByte: 100, bytes: 900, firstLine: 2, lines: 5, without: 'IQE=' }
    await batches.finish(held.hold, { ...madeEnd({ ...held, lines: 5 }, 'gone'), done, rest })
    const next = await claimedOne(batches)
    const { firstByte, bytes, firstLine, lines, without } = next
    assert.deepEqual({ firstByte, bytes, firstLine, lines, without }, rest)
    left.add('gone')
    await batches.finish(next.hold, madeEnd(next, 'fine'))
    const again = await claimedOne(batches)
    assert.deepEqual([again.firstByte, again.lines, again.without], [0, 5, 'Qg=='])
    const found = await batches.find(asked.id, asked.project)
    assert.deepEqual([found?.completed, found?.droppedLines], [5, 5])
  })

  test(`${name}: a batch that is continued begins at once, chunks that were given back too, and stays so`, async () => {
    const { batches } = await open()
    const asked = aBatch({ chunks: chunksOf(2) })
    await batches.create(asked, MANY)
    const { hold, batch } = await claimedOne(batches)
    assert.equal(batch.isContinued, false)
    await batches.pause(asked.id, 'key_revoked', HOUR_MS)
    await batches.giveBack(hold, HOUR_MS)
    assert.deepEqual(await batches.claim(ONE, 9), [])
    const by = { kind: 'member', name: 'ada' } as const
    assert.equal(await batches.continue(asked.id, 'another project', by), undefined)
    const continued = await batches.continue(asked.id, asked.project, by)
    assert.deepEqual([continued?.isContinued, continued?.pause], [true, undefined])
    // A chunk that was given back may come alone.
    const claimed = [...(await batches.claim(ONE, 9)), ...(await batches.claim(ONE, 9))]
    assert.deepEqual(
      claimed.map((held) => [held.hold.chunk, held.batch.isContinued]),
      [
        [0, true],
        [1, true],
      ],
    )
    assert.equal((await batches.continue(asked.id, asked.project, by))?.isContinued, true)
    await batches.cancel(asked.id, asked.project, { kind: 'member', name: 'system' }, 'project_deleted')
    const ended = await batches.continue(asked.id, asked.project, by)
    assert.deepEqual([ended?.state, ended?.cancelCode], ['cancelling', 'project_deleted'])
  })

  test(`${name}: open batches are listed by their keys, without those that were cancelled or have ended`, async () => {
    const { batches } = await open()
    const mine = { project: 'open-p', keyId: 'open-p/a' }
    const made = [
      aBatch(mine),
      aBatch(mine),
      aBatch({ ...mine, keyId: 'open-p/b' }),
      aBatch(mine),
      aBatch(mine),
    ]
    for (const one of made) await batches.create({ ...one, digest: one.id }, MANY)
    const [first, second, other, cancelled, continued] = made.map(({ id }) => id)
    await batches.cancel(cancelled ?? '', mine.project)
    await batches.continue(continued ?? '', mine.project, { kind: 'member', name: 'ada' })
    const own = (await batches.open()).filter(({ project }) => project === mine.project)
    assert.deepEqual(
      new Set(own.map(({ keyId, isContinued, ids }) => [keyId, isContinued, new Set(ids)])),
      new Set([
        ['open-p/a', false, new Set([first, second])],
        ['open-p/a', true, new Set([continued])],
        ['open-p/b', false, new Set([other])],
      ]),
    )
  })

  test(`${name}: a batch is due when its results were kept for their time, and is then forgotten`, async () => {
    const { batches, passes } = await open()
    const asked = aBatch({ resultsKeptMs: HOUR_MS })
    await batches.create(asked, MANY)
    await batches.forget(asked.id)
    await batches.cancel(asked.id, asked.project)
    assert.deepEqual(await batches.due(9), [])
    await passes(HOUR_MS + 1)
    assert.deepEqual(await batches.due(9), [asked.id])
    await batches.forget(asked.id)
    assert.equal(await batches.find(asked.id, asked.project), undefined)
  })
}
