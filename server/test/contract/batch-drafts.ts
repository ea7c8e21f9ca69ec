/** What every `BatchDrafts` promises, whichever engine keeps it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileBlobName, fileIdOf } from '#core/files/blob-names.ts'
import { DRAFT_MS, type NewBatchDraft } from '#ports/batch-drafts.ts'
import { ARRIVAL_MS } from '#ports/files.ts'
import { anArrival } from './files.ts'
import type { FilesWorld } from './files-open.ts'
import { nextId } from './image-jobs-open.ts'

const BOUNDS = { maxFiles: 100, maxBytes: 1000 }
const ADA = 'ada@example.com'

async function arrived({ files }: FilesWorld, bytes = 100): Promise<NewBatchDraft> {
  const id = fileIdOf(nextId())
  await files.begin({ id, project: 'shop', keyId: 'shop/console.ada', announcedBytes: bytes }, BOUNDS)
  await files.receive(id, bytes, BOUNDS)
  const segments = [{ blob: fileBlobName(id, '0'), firstByte: 0, bytes }]
  return { id, project: 'shop', actor: ADA, name: 'articles.csv', bytes, segments }
}

export function batchDraftsSuite(name: string, open: () => Promise<FilesWorld>): void {
  test(`${name}: a draft is found by the person who sent it, for a day, and is then due with its bytes`, async () => {
    const world = await open()
    const { drafts, files, nowMs, passes } = world
    const draft = await arrived(world)
    const kept = await drafts.keep(draft)
    const { segments, ...rest } = draft
    const expected = { ...rest, createdAtMs: nowMs(), expiresAtMs: nowMs() + DRAFT_MS }
    assert.deepEqual(kept, expected)
    assert.deepEqual(await drafts.keep(draft), expected, 'a lost answer changes nothing')
    assert.deepEqual(await drafts.find(draft.id, ADA), expected)
    assert.equal(await drafts.find(draft.id, 'bob@example.com'), undefined)
    assert.deepEqual(await drafts.segments(draft.id), segments)
    passes(ARRIVAL_MS + 1)
    assert.ok(await drafts.find(draft.id, ADA), 'it outlives files that never arrive')
    assert.deepEqual(await files.due(10), [])
    passes(DRAFT_MS)
    assert.equal(await drafts.find(draft.id, ADA), undefined)
    assert.deepEqual(
      (await files.due(10)).map(({ id }) => id),
      [draft.id],
    )
    await files.forgotten(draft.id)
    assert.deepEqual(await drafts.segments(draft.id), [])
  })

  test(`${name}: the bytes of drafts count, and callers never see their files`, async () => {
    const world = await open()
    const { drafts, files } = world
    const draft = await arrived(world, 900)
    await drafts.keep(draft)
    assert.equal((await files.kept('shop')).bytes, 900)
    const another = { id: fileIdOf(nextId()), project: 'shop', keyId: 'shop/ci', announcedBytes: 200 }
    assert.equal(await files.begin(another, BOUNDS), 'too-many-bytes')
    assert.equal(await files.find(draft.id, 'shop'), undefined)
    assert.deepEqual((await files.list({ project: 'shop', order: 'asc', limit: 10 }))?.files, [])
    assert.equal(await files.hold(draft.id, 'shop', { holder: 'batch_1', untilMs: 9e12 }), undefined)
    assert.equal(await drafts.delete(draft.id, 'bob@example.com'), false)
    assert.equal(await drafts.delete(draft.id, ADA), true)
    assert.equal(await drafts.find(draft.id, ADA), undefined)
    assert.equal((await files.kept('shop')).bytes, 0)
  })

  test(`${name}: a file that was given up while it arrived becomes no draft`, async () => {
    const world = await open()
    const draft = await arrived(world)
    await world.files.giveUp(draft.id)
    assert.equal(await world.drafts.keep(draft), undefined)
    assert.equal(await world.drafts.find(draft.id, ADA), undefined)
  })

  test(`${name}: of many runs with the same options one file counts, as long as it is there`, async () => {
    const world = await open()
    const { drafts, files } = world
    const draft = await arrived(world)
    await drafts.keep(draft)
    assert.equal(await drafts.madeFile(draft.id, 'options'), undefined)
    const fileOf = async (): Promise<string> => {
      const id = fileIdOf(nextId())
      await files.begin({ id, project: 'shop', keyId: 'shop/ci', announcedBytes: 0 }, BOUNDS)
      await files.arrived(id, anArrival(id))
      return id
    }
    const ids = [await fileOf(), await fileOf(), await fileOf()]
    const made = await Promise.all(ids.map((id) => drafts.keepMade(draft.id, 'options', id)))
    const [first = ''] = made
    assert.deepEqual(new Set(made), new Set([first]))
    assert.equal(await drafts.madeFile(draft.id, 'options'), first)
    assert.equal(await drafts.keepMade(draft.id, 'others', ids[1] ?? ''), ids[1])
    await files.delete(first, 'shop')
    const next = await fileOf()
    assert.equal(await drafts.keepMade(draft.id, 'options', next), next)
  })
}
