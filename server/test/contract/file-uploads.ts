/** What every `FileUploads` promises, whichever engine keeps it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileBlobName, fileIdOf } from '#core/files/blob-names.ts'
import type { FileUpload, UploadPart } from '#ports/file-uploads.ts'
import { allEnded } from '#test/support/reused-database.ts'
import type { FilesWorld } from './files-open.ts'
import { nextId } from './image-jobs-open.ts'

const BOUNDS = { maxParts: 3, maxBytes: 200 }

async function begun({ files, uploads, nowMs }: FilesWorld): Promise<FileUpload> {
  const fileId = fileIdOf(nextId())
  const begun = { id: fileId, project: 'shop', keyId: 'shop/ci', announcedBytes: 0 }
  await files.begin(begun, { maxFiles: 100, maxBytes: 100 })
  const upload: FileUpload = {
    id: `upload_${nextId()}`,
    project: 'shop',
    keyId: 'shop/ci',
    player: undefined,
    fileId,
    filename: 'texts.jsonl',
    bytes: 8_000_000_000,
    expiresAfterMs: 3_600_000,
    createdAtMs: nowMs(),
    expiresAtMs: nowMs() + 3_600_000,
    state: 'pending',
  }
  await uploads.begin(upload)
  return upload
}

function aPart({ id: uploadId, fileId }: FileUpload, bytes = 10): UploadPart {
  const id = `part_${nextId()}`
  const segments = [{ blob: fileBlobName(fileId, `${id}-0`), firstByte: 0, bytes }]
  return { id, uploadId, bytes, segments, createdAtMs: Date.UTC(2026, 10, 20) }
}

const sorted = (parts: readonly UploadPart[]): UploadPart[] =>
  parts.toSorted((one, another) => (one.id < another.id ? -1 : 1))

export function fileUploadsSuite(name: string, open: () => Promise<FilesWorld>): void {
  test(`${name}: an upload and its parts are found by their own project, and ends once`, async () => {
    const world = await open()
    const { uploads } = world
    const upload = await begun(world)
    await uploads.begin(upload)
    assert.deepEqual(await uploads.find(upload.id, 'shop'), upload)
    const isPending = async () => (await uploads.pending(1000)).some(({ id }) => id === upload.id)
    assert.equal(await isPending(), true)
    assert.equal(await uploads.find(upload.id, 'other'), undefined)
    const parts = [aPart(upload), aPart(upload)] as const
    for (const part of [...parts, parts[0]]) assert.equal(await uploads.addPart(part, BOUNDS), 'added')
    assert.deepEqual(sorted(await uploads.parts(upload.id)), sorted(parts))
    const completed = { ...upload, state: 'completed' }
    assert.deepEqual(await uploads.end(upload.id, 'completed'), completed)
    assert.deepEqual(await uploads.end(upload.id, 'cancelled'), completed)
    assert.equal(await isPending(), false)
    assert.equal(await uploads.addPart(aPart(upload), BOUNDS), 'over')
    assert.equal(await uploads.end('upload_none', 'cancelled'), undefined)
  })

  test(`${name}: an upload takes no more parts and bytes than it may, however many come at once`, async () => {
    const world = await open()
    const { uploads } = world
    const upload = await begun(world)
    const added = await allEnded(Array.from({ length: 9 }, () => uploads.addPart(aPart(upload), BOUNDS)))
    assert.equal(added.filter((one) => one === 'added').length, 3)
    const large = await begun(world)
    assert.equal(await uploads.addPart(aPart(large, 150), BOUNDS), 'added')
    assert.equal(await uploads.addPart(aPart(large, 51), BOUNDS), 'too-much')
    assert.equal(await uploads.addPart(aPart(large, 50), BOUNDS), 'added')
  })

  test(`${name}: a file that is given up is due, unless it has arrived`, async () => {
    const world = await open()
    const { files } = world
    const { fileId } = await begun(world)
    await files.giveUp(fileId)
    assert.deepEqual(
      (await files.due(9)).map(({ id }) => id),
      [fileId],
    )
  })
}
