/** What every `Batches` promises of results that have left their vector space. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChunkEnd } from '#ports/batches.ts'
import { aBatch, chunksOf, doneEnd, HOUR_MS, madeEnd, type BatchesWorld } from './batches-open.ts'
import { nextId } from './image-jobs-open.ts'

const MANY = 1000
const ONE = nextId()
const TWO = nextId()

export function batchSpacesSuite(name: string, open: () => Promise<BatchesWorld>): void {
  test(`${name}: results that have left their space are dropped before the batch ends, and their lines run again`, async () => {
    const { batches, left } = await open()
    const asked = aBatch({ chunks: chunksOf(3) })
    await batches.create(asked, MANY)
    const [first, second, third] = await batches.claim(ONE, 3)
    assert.ok(first && second && third)
    const failed = { completed: 8, failed: 2, faults: { empty_input: 2 } }
    await batches.finish(first.hold, {
      ...madeEnd(first, 'small/bad', 'small@8:00000009'),
      ...doneEnd(first, failed),
    })
    await batches.finish(second.hold, madeEnd(second, 'small/good'))
    const before = await batches.find(asked.id, 'shop')
    assert.deepEqual(before?.spaces, ['small@8:00000001', 'small@8:00000009'])
    left.add('small/bad')
    await batches.finish(third.hold, madeEnd(third, 'small/good'))
    const going = await batches.find(asked.id, 'shop')
    assert.deepEqual(
      [going?.state, going?.completed, going?.failed, going?.outputBytes, going?.droppedLines],
      ['in_progress', 20, 0, 160, 10],
    )
    assert.deepEqual([going?.spaces, going?.costNanoUsd], [['small@8:00000001'], 30n])
    const [again, ...more] = await batches.claim(TWO, 9)
    assert.ok(again)
    assert.deepEqual([again.firstLine, again.lines, again.hold.token, more.length], [1, 10, 1, 0])
    assert.notEqual(again.hold.chunk, first.hold.chunk)
    await batches.finish(again.hold, madeEnd(again, 'small/good'))
    const ended = await batches.find(asked.id, 'shop')
    assert.deepEqual(
      [ended?.state, ended?.completed, ended?.failed, ended?.tokens, ended?.costNanoUsd],
      ['completed', 30, 0, 120, 40n],
    )
    const parts = await batches.parts(asked.id, { limit: 9 })
    assert.deepEqual(
      parts.map(({ chunk }) => chunk),
      [second, third, again].map(({ hold }) => hold.chunk),
    )
  })

  test(`${name}: vectors without a name are listed as such, and dropped like those of their space`, async () => {
    const { batches, left } = await open()
    const asked = aBatch({ chunks: chunksOf(3) })
    await batches.create(asked, MANY)
    const [first, second, third] = await batches.claim(ONE, 3)
    assert.ok(first && second && third)
    const unnamed = (held: typeof first, deployment: string): ChunkEnd => {
      const { made = [], ...end } = madeEnd(held, deployment)
      return { ...end, made: made.map((one) => ({ ...one, isUnnamed: true })) }
    }
    await batches.finish(first.hold, unnamed(first, 'small/good'))
    assert.deepEqual((await batches.find(asked.id, 'shop'))?.spaces, [''])
    await batches.finish(second.hold, unnamed(second, 'small/bad'))
    left.add('small/bad')
    await batches.finish(third.hold, madeEnd(third, 'small/good'))
    const going = await batches.find(asked.id, 'shop')
    assert.deepEqual([going?.spaces, going?.droppedLines], [['', 'small@8:00000001'], 10])
  })

  test(`${name}: results that leave their space again and again are made again after ever longer pauses`, async () => {
    const { batches, left, passes } = await open()
    const asked = aBatch({ chunks: chunksOf(1) })
    await batches.create(asked, MANY)
    left.add('small/bad')
    const pauses: number[] = []
    for (let round = 0; round < 4; round += 1) {
      const [held] = await batches.claim(ONE, 1)
      assert.ok(held)
      await batches.finish(held.hold, madeEnd(held, 'small/bad'))
      const batch = await batches.find(asked.id, 'shop')
      assert.ok(batch)
      assert.equal(batch.droppedLines, (round + 1) * 10)
      assert.equal(batch.pause?.code, round === 0 ? undefined : 'space_left')
      if (batch.pause === undefined) continue
      const sinceMs = batch.createdAtMs + (round - 1) * HOUR_MS
      pauses.push(Math.round((batch.pause.untilMs - sinceMs) / 60_000))
      assert.deepEqual(await batches.claim(ONE, 1), [])
      await passes(HOUR_MS)
    }
    assert.deepEqual(pauses, [30, 60, 120])
  })

  test(`${name}: a cancelled batch ends without the results that have left their space`, async () => {
    const { batches, left } = await open()
    const asked = aBatch({ chunks: chunksOf(4) })
    await batches.create(asked, MANY)
    const [first, second] = await batches.claim(ONE, 2)
    assert.ok(first && second)
    await batches.finish(first.hold, madeEnd(first, 'small/bad'))
    await batches.finish(second.hold, madeEnd(second, 'small/good'))
    left.add('small/bad')
    const cancelled = await batches.cancel(asked.id, 'shop')
    assert.deepEqual([cancelled?.state, cancelled?.completed, cancelled?.droppedLines], ['cancelled', 10, 10])
    assert.equal((await batches.parts(asked.id, { limit: 9 })).length, 1)
  })

  test(`${name}: a batch whose vectors no good probe has confirmed does not end before one has`, async () => {
    const { batches, elsewhere, unconfirmed } = await open()
    const asked = aBatch({ chunks: chunksOf(2) })
    await batches.create(asked, MANY)
    unconfirmed.add('small/new')
    for (const [index, held] of (await batches.claim(ONE, 2)).entries()) {
      const { made = [], ...end } = madeEnd(held, 'small/new')
      const largest = { inputs: 10 * (index + 1), tokens: 900 - 100 * index }
      await batches.finish(held.hold, { ...end, made: made.map((one) => ({ ...one, largest })) })
    }
    const waits = await batches.find(asked.id, 'shop')
    assert.deepEqual([waits?.state, waits?.completed, waits?.endedAtMs], ['in_progress', 20, undefined])
    assert.deepEqual(await batches.claim(TWO, 9), [])
    const made = [{ deployment: 'small/new', largest: { inputs: 20, tokens: 900 } }]
    assert.deepEqual(await batches.endDone(), [{ id: asked.id, chunks: 2, made }])
    const confirmedBy = (deployment: string, chunks: number) =>
      new Map([[asked.id, { chunks, deployments: new Set([deployment]) }]])
    for (const not of [confirmedBy('small/other', 2), confirmedBy('small/new', 1)])
      assert.equal((await elsewhere.endDone(not)).length, 1)
    assert.deepEqual(await elsewhere.endDone(confirmedBy('small/new', 2)), [])
    const ended = await batches.find(asked.id, 'shop')
    assert.deepEqual([ended?.state, ended?.completed, ended?.droppedLines], ['completed', 20, 0])
    assert.deepEqual(await batches.endDone(), [])
  })

  test(`${name}: a chunk that was made before a bad probe runs again, also if the probe comes when all lines are done`, async () => {
    const { batches, left, unconfirmed } = await open()
    const asked = aBatch({ chunks: chunksOf(2) })
    await batches.create(asked, MANY)
    const [first, second] = await batches.claim(ONE, 2)
    assert.ok(first && second)
    unconfirmed.add('small/bad')
    await batches.finish(first.hold, madeEnd(first, 'small/bad'))
    await batches.finish(second.hold, madeEnd(second, 'small/good'))
    assert.equal((await batches.endDone()).length, 1)
    left.add('small/bad')
    const confirmed = new Map([[asked.id, { chunks: 2, deployments: new Set(['small/bad']) }]])
    assert.deepEqual(await batches.endDone(confirmed), [])
    const going = await batches.find(asked.id, 'shop')
    assert.deepEqual([going?.state, going?.completed, going?.droppedLines], ['in_progress', 10, 10])
    const [again] = await batches.claim(TWO, 9)
    assert.ok(again)
    assert.deepEqual([again.firstLine, again.lines], [first.firstLine, first.lines])
    await batches.finish(again.hold, madeEnd(again, 'small/good'))
    assert.equal((await batches.find(asked.id, 'shop'))?.state, 'completed')
  })

  test(`${name}: where no probe is possible for a quarter of an hour, the lines run again; a cancelled batch ends without them`, async () => {
    const { batches, unconfirmed, passes } = await open()
    const [asked, dropped] = [aBatch({ chunks: chunksOf(1) }), aBatch({ chunks: chunksOf(2) })]
    unconfirmed.add('small/away')
    for (const one of [asked, dropped]) {
      await batches.create(one, MANY)
      const [held] = await batches.claim(ONE, 1)
      assert.ok(held)
      await batches.finish(held.hold, madeEnd(held, 'small/away'))
    }
    await batches.cancel(dropped.id, 'shop')
    assert.equal((await batches.endDone()).length, 2)
    await passes(60_000)
    assert.equal((await batches.endDone()).length, 1)
    const cancelled = await batches.find(dropped.id, 'shop')
    assert.deepEqual([cancelled?.state, cancelled?.completed], ['cancelled', 0])
    await passes(14 * 60_000)
    assert.deepEqual(await batches.endDone(), [])
    const going = await batches.find(asked.id, 'shop')
    assert.deepEqual([going?.state, going?.completed, going?.droppedLines], ['in_progress', 0, 10])
    assert.equal((await batches.claim(TWO, 9)).length, 1)
  })
}
