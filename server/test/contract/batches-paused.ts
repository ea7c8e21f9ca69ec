/** Pauses of batches by a person, whichever engine keeps them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aBatch, chunksOf, doneEnd, HOUR_MS, type BatchesWorld } from './batches-open.ts'
import { nextId } from './image-jobs-open.ts'

const MANY = 1000
const ONE = nextId()
const TWO = nextId()
const by = { kind: 'member', name: 'ada@example.com' } as const

export function pausedBatchesSuite(name: string, open: () => Promise<BatchesWorld>): void {
  test(`${name}: no node begins a chunk of a batch that a person paused, until a person resumes it`, async () => {
    const { batches, elsewhere, passes } = await open()
    const asked = aBatch({ chunks: chunksOf(3) })
    await batches.create(asked, MANY)
    const [held] = await batches.claim(ONE, 1)
    assert.ok(held)
    const paused = await elsewhere.pauseBy(asked.id, asked.project, by, 'the index is rebuilt')
    assert.deepEqual([paused?.pausedBy?.name, paused?.pausedBy?.reason], [by.name, 'the index is rebuilt'])
    assert.deepEqual(await batches.claim(ONE, 5), [])
    assert.deepEqual(await elsewhere.claim(TWO, 5), [])
    assert.deepEqual(
      await batches.renew([held.hold]),
      [held.hold],
      'the chunk in progress ends with what it has',
    )
    await batches.giveBack(held.hold, 0)
    await passes(HOUR_MS)
    assert.deepEqual(await elsewhere.claim(TWO, 5), [])
    const resumed = await batches.resumeBy(asked.id, asked.project, by)
    assert.equal(resumed?.pausedBy, undefined)
    assert.equal((await elsewhere.claim(TWO, 5)).length > 0, true)
  })

  test(`${name}: what Torana pauses and resumes by itself leaves the pause of a person alone`, async () => {
    const { batches } = await open()
    const asked = aBatch({ chunks: chunksOf(2) })
    await batches.create(asked, MANY)
    await batches.pause(asked.id, 'budget_exhausted', HOUR_MS)
    const paused = await batches.pauseBy(asked.id, asked.project, by)
    assert.deepEqual([paused?.pausedBy?.name, paused?.pause], [by.name, undefined])
    const again = await batches.pauseBy(asked.id, asked.project, { kind: 'member', name: 'bob@example.com' })
    assert.equal(again?.pausedBy?.name, by.name, 'the first pause counts')
    await batches.pause(asked.id, 'upstream_failed', 0)
    await batches.resume(asked.id)
    await batches.continue(asked.id, asked.project, by)
    const found = await batches.find(asked.id, asked.project)
    assert.deepEqual([found?.pausedBy?.name, found?.pause], [by.name, undefined])
    assert.deepEqual(await batches.claim(ONE, 5), [])
  })

  test(`${name}: a person also ends a pause that Torana made`, async () => {
    const { batches } = await open()
    const asked = aBatch()
    await batches.create(asked, MANY)
    await batches.pause(asked.id, 'budget_exhausted', HOUR_MS)
    assert.deepEqual(await batches.claim(ONE, 5), [])
    assert.equal((await batches.resumeBy(asked.id, asked.project, by))?.pause, undefined)
    assert.equal((await batches.claim(ONE, 5)).length, 2)
  })

  test(`${name}: the lines of a paused batch expire with its window, and a cancelled one is not paused`, async () => {
    const { batches, passes } = await open()
    const late = aBatch({ windowMs: HOUR_MS, chunks: chunksOf(1) })
    const cancelled = aBatch({ chunks: chunksOf(1) })
    for (const asked of [late, cancelled]) {
      await batches.create(asked, MANY)
      await batches.pauseBy(asked.id, asked.project, by)
    }
    const ended = await batches.cancel(cancelled.id, cancelled.project, by)
    assert.deepEqual([ended?.state, ended?.pausedBy], ['cancelled', undefined])
    assert.equal((await batches.pauseBy(cancelled.id, cancelled.project, by))?.pausedBy, undefined)
    await passes(HOUR_MS + 1)
    const [held] = await batches.claim(ONE, 1)
    assert.deepEqual([held?.batch.id, held?.isLate], [late.id, true])
    assert.ok(held)
    assert.deepEqual(await batches.renew([held.hold]), [], 'it has to write what expired')
    await batches.finish(held.hold, doneEnd(held, { completed: 0, failed: 10, expired: 10 }))
    const found = await batches.find(late.id, late.project)
    assert.deepEqual([found?.state, found?.pausedBy], ['expired', undefined])
  })

  test(`${name}: a batch of another project is not paused`, async () => {
    const { batches } = await open()
    const asked = aBatch()
    await batches.create(asked, MANY)
    assert.equal(await batches.pauseBy(asked.id, 'another', by), undefined)
    assert.equal(await batches.resumeBy(asked.id, 'another', by), undefined)
    assert.equal((await batches.find(asked.id, asked.project))?.pausedBy, undefined)
  })
}
