/** What every `Files` promises, whichever engine keeps it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileBlobName, fileIdOf } from '#core/files/blob-names.ts'
import { MAX_SCAN_BYTES } from '#core/files/scan-result.ts'
import {
  ARRIVAL_MS,
  MAX_ARRIVAL_MS,
  type ArrivedFile,
  type BegunFile,
  type Files,
  type OutputFile,
  type StoredFile,
} from '#ports/files.ts'
import { allEnded } from '#test/support/reused-database.ts'
import type { FilesWorld } from './files-open.ts'
import { nextId } from './image-jobs-open.ts'

const BOUNDS = { maxFiles: 1000, maxBytes: 1_000_000 }
const HOUR_MS = 3_600_000

function nextFileId(): string {
  return fileIdOf(nextId())
}

function aBegun(id: string, project: string, announcedBytes = 0): BegunFile {
  return { id, project, keyId: `${project}/ci`, announcedBytes }
}

export function anArrival(id: string, overrides: Partial<ArrivedFile> = {}): ArrivedFile {
  return {
    purpose: 'batch',
    filename: 'texts "ä".jsonl',
    bytes: 12,
    sha256: 'ab'.repeat(32),
    segments: [
      { blob: fileBlobName(id, '0'), firstByte: 0, bytes: 8 },
      { blob: fileBlobName(id, '1'), firstByte: 0, bytes: 4 },
    ],
    scan: {
      lines: 2,
      inputs: 3,
      chunks: 1,
      url: '/v1/embeddings',
      models: [{ model: 'small \0 \ud800', firstLine: 1, lines: 2 }],
      errors: [{ code: 'invalid_json_line', message: 'Not JSON.', param: null, line: 2 }],
      errorCount: 1,
    },
    expiresAfterMs: undefined,
    keptBytes: overrides.bytes ?? 12,
    ...overrides,
  }
}

async function kept(
  files: Files,
  project: string,
  overrides: Partial<ArrivedFile> = {},
): Promise<StoredFile> {
  const id = nextFileId()
  assert.equal(await files.begin(aBegun(id, project), BOUNDS), 'begun')
  const file = await files.arrived(id, anArrival(id, overrides))
  assert.ok(file)
  return file
}

export function filesSuite(name: string, open: () => Promise<FilesWorld>): void {
  test(`${name}: a file is found by its own project alone, and only once it has arrived`, async () => {
    const { files, elsewhere, nowMs } = await open()
    const id = nextFileId()
    assert.equal(await files.begin(aBegun(id, 'shop'), BOUNDS), 'begun')
    assert.equal(await files.begin(aBegun(id, 'shop'), BOUNDS), 'begun')
    assert.equal(await files.find(id, 'shop'), undefined)
    assert.deepEqual(await files.list({ project: 'shop', order: 'asc', limit: 9 }), {
      files: [],
      hasMore: false,
    })
    const arrival = anArrival(id, { expiresAfterMs: HOUR_MS })
    const { purpose, filename, bytes, sha256, scan, segments } = arrival
    const expected: StoredFile = {
      id,
      project: 'shop',
      keyId: 'shop/ci',
      purpose,
      filename,
      bytes,
      expiresAtMs: nowMs() + HOUR_MS,
      createdAtMs: nowMs(),
      source: { kind: 'uploaded', sha256 },
    }
    assert.deepEqual(await files.arrived(id, arrival), expected)
    assert.deepEqual(await files.arrived(id, arrival), expected)
    assert.deepEqual(await elsewhere.find(id, 'shop'), expected)
    assert.deepEqual(await elsewhere.segments(id), segments)
    assert.deepEqual(await elsewhere.scan(id), scan)
    assert.equal(await elsewhere.scan(nextFileId()), undefined)
    assert.equal(await files.find(id, 'other'), undefined)
    assert.equal(await files.delete(id, 'other'), false)
    assert.equal(await files.hold(id, 'other', { holder: 'batch_1', untilMs: nowMs() + HOUR_MS }), undefined)
    assert.equal(await files.list({ project: 'other', order: 'asc', limit: 9, after: id }), undefined)
    assert.deepEqual(await files.find(id, 'shop'), expected)
    const { source: _, ...listed } = expected
    assert.deepEqual(await files.list({ project: 'shop', order: 'asc', limit: 9 }), {
      files: [listed],
      hasMore: false,
    })
  })

  test(`${name}: a scan that is larger than a scan may be is not stored`, async () => {
    const { files } = await open()
    const id = nextFileId()
    await files.begin({ id, project: 'shop', keyId: 'shop/ci', announcedBytes: 0 }, BOUNDS)
    const arrival = anArrival(id)
    const models = [{ model: 'm'.repeat(MAX_SCAN_BYTES), firstLine: 1, lines: 1 }]
    await assert.rejects(files.arrived(id, { ...arrival, scan: { ...arrival.scan, models } }), RangeError)
    assert.equal(await files.find(id, 'shop'), undefined)
    assert.ok(await files.arrived(id, arrival))
  })

  test(`${name}: pages hold each file once, in either order`, async () => {
    const { files } = await open()
    const ids: string[] = []
    for (let count = 0; count < 7; count += 1) ids.push((await kept(files, 'shop')).id)
    await kept(files, 'other')
    const sorted = ids.toSorted()
    for (const order of ['asc', 'desc'] as const) {
      const seen: string[] = []
      for (let after: string | undefined; ; after = seen.at(-1)) {
        const page = await files.list({ project: 'shop', order, limit: 3, after, purpose: 'batch' })
        assert.ok(page)
        seen.push(...page.files.map(({ id }) => id))
        if (!page.hasMore) break
        assert.equal(page.files.length, 3)
      }
      assert.deepEqual(seen, order === 'asc' ? sorted : sorted.toReversed())
    }
    const outputs = await files.list({ project: 'shop', order: 'asc', limit: 9, purpose: 'batch_output' })
    assert.deepEqual(outputs?.files, [])
    assert.equal(
      await files.list({ project: 'shop', order: 'asc', limit: 9, after: nextFileId() }),
      undefined,
    )
  })

  test(`${name}: a deleted or expired file is not found, and is due until its bytes are gone`, async () => {
    const { files, passes } = await open()
    const deleted = await kept(files, 'shop')
    const expiring = await kept(files, 'shop', { expiresAfterMs: HOUR_MS })
    const staying = await kept(files, 'shop')
    assert.deepEqual(await files.due(9), [])
    assert.equal(await files.delete(deleted.id, 'shop'), true)
    assert.equal(await files.delete(deleted.id, 'shop'), false)
    assert.equal(await files.find(deleted.id, 'shop'), undefined)
    const dueNow = async (): Promise<string[]> => (await files.due(9)).map(({ id }) => id).toSorted()
    assert.deepEqual(await dueNow(), [deleted.id])
    passes(HOUR_MS)
    assert.equal(await files.find(expiring.id, 'shop'), undefined)
    assert.deepEqual(await dueNow(), [deleted.id, expiring.id].toSorted())
    assert.deepEqual(await dueNow(), [deleted.id, expiring.id].toSorted())
    await files.forgotten(deleted.id)
    await files.forgotten(expiring.id)
    assert.deepEqual(await dueNow(), [])
    assert.ok(await files.find(staying.id, 'shop'))
  })

  test(`${name}: bytes that a batch holds stay, whatever becomes of the file, until the last holder is done`, async () => {
    const { files, nowMs, passes } = await open()
    const file = await kept(files, 'shop')
    const untilMs = nowMs() + 2 * HOUR_MS
    assert.deepEqual(await files.hold(file.id, 'shop', { holder: 'batch_1', untilMs }), file)
    assert.deepEqual(await files.hold(file.id, 'shop', { holder: 'batch_2', untilMs }), file)
    await files.delete(file.id, 'shop')
    assert.equal(await files.hold(file.id, 'shop', { holder: 'batch_3', untilMs }), undefined)
    await files.release(file.id, 'batch_1')
    assert.deepEqual(await files.due(9), [])
    assert.equal((await files.segments(file.id)).length, 2)
    passes(2 * HOUR_MS)
    assert.deepEqual(await files.due(9), [
      { id: file.id, project: 'shop', batchId: undefined, endsResults: false },
    ])
  })

  test(`${name}: a file that never arrives is due, and can not arrive after that`, async () => {
    const { files, passes } = await open()
    const id = nextFileId()
    await files.begin(aBegun(id, 'shop'), BOUNDS)
    passes(ARRIVAL_MS - 1)
    assert.deepEqual(await files.due(9), [])
    assert.equal(await files.receive(id, 5, BOUNDS), 'received')
    passes(ARRIVAL_MS - 1)
    assert.deepEqual(await files.due(9), [])
    passes(1)
    assert.deepEqual(
      (await files.due(9)).map((due) => due.id),
      [id],
    )
    assert.equal(await files.arrived(id, anArrival(id)), undefined)
    assert.equal(await files.arrived(nextFileId(), anArrival(id)), undefined)
  })

  test(`${name}: a project keeps no more files than it may, however many come at once`, async () => {
    const { files, elsewhere } = await open()
    const bounds = { maxFiles: 3, maxBytes: 100 }
    const begin = (store: Files, project: string): ReturnType<Files['begin']> =>
      store.begin(aBegun(nextFileId(), project), bounds)
    const begun = await allEnded(
      Array.from({ length: 12 }, (_, index) => begin(index % 2 === 0 ? files : elsewhere, 'shop')),
    )
    assert.equal(begun.filter((one) => one === 'begun').length, 3)
    assert.equal(begun.filter((one) => one === 'too-many-files').length, 9)
    assert.equal(await begin(files, 'other'), 'begun')
    const large = await kept(files, 'large', { bytes: 100 })
    assert.equal(await begin(files, 'large'), 'too-many-bytes')
    await files.delete(large.id, 'large')
    assert.equal(await begin(files, 'large'), 'begun')
  })

  test(`${name}: announced and received bytes count from the beginning, and come back when a file does not arrive`, async () => {
    const { files, passes } = await open()
    const bounds = { maxFiles: 100, maxBytes: 100 }
    const keptBytes = async (): Promise<number> => (await files.kept('shop')).bytes
    const [announced, unknown, late] = [nextFileId(), nextFileId(), nextFileId()] as const
    assert.equal(await files.begin(aBegun(announced, 'shop', 60), bounds), 'begun')
    assert.equal(await files.begin(aBegun(nextFileId(), 'shop', 41), bounds), 'too-many-bytes')
    assert.equal(await files.begin(aBegun(unknown, 'shop'), bounds), 'begun')
    assert.equal(await files.receive(unknown, 40, bounds), 'received')
    assert.equal(await files.receive(unknown, 1, bounds), 'too-many-bytes')
    assert.equal(await files.receive(announced, 60, bounds), 'received')
    assert.equal(await files.receive(announced, 1, bounds), 'too-many-bytes')
    assert.equal(await keptBytes(), 100)
    assert.equal(await files.begin(aBegun(nextFileId(), 'other', 100), bounds), 'begun')
    await files.giveBack(unknown, 30)
    assert.equal(await files.receive(announced, 30, bounds), 'received')
    assert.equal(await keptBytes(), 100)
    await files.giveBack(announced, 80)
    assert.equal(await keptBytes(), 70)
    assert.ok(await files.arrived(announced, anArrival(announced, { bytes: 45, keptBytes: 50 })))
    assert.equal(await keptBytes(), 60)
    assert.equal(await files.receive(announced, 1, bounds), 'over')
    await files.giveUp(unknown)
    assert.equal(await keptBytes(), 50)
    assert.equal(await files.receive(unknown, 1, bounds), 'over')
    assert.equal(await files.begin(aBegun(late, 'shop', 50), bounds), 'begun')
    passes(ARRIVAL_MS)
    assert.equal(await keptBytes(), 50)
    assert.equal(await files.receive(late, 1, bounds), 'over')
    await files.delete(announced, 'shop')
    assert.equal(await keptBytes(), 0)
  })

  test(`${name}: a file that arrives for ever is due after a day`, async () => {
    const { files, passes } = await open()
    const id = nextFileId()
    await files.begin(aBegun(id, 'shop'), BOUNDS)
    const steps = MAX_ARRIVAL_MS / HOUR_MS
    for (let hour = 1; hour < steps; hour += 1) {
      passes(HOUR_MS)
      assert.equal(await files.receive(id, 1, BOUNDS), 'received')
    }
    passes(HOUR_MS)
    assert.equal(await files.receive(id, 1, BOUNDS), 'over')
  })

  test(`${name}: of many that ask at once, none gets the byte beyond the last`, async () => {
    const { files, elsewhere } = await open()
    const bounds = { maxFiles: 100, maxBytes: 100 }
    const stores = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? files : elsewhere))
    const begun = await allEnded(stores.map((store) => store.begin(aBegun(nextFileId(), 'shop', 30), bounds)))
    assert.equal(begun.filter((one) => one === 'begun').length, 3)
    const ids = stores.map(() => nextFileId())
    for (const id of ids) assert.equal(await files.begin(aBegun(id, 'large'), bounds), 'begun')
    const received = await allEnded(
      stores.flatMap((store, index) => [store, files].map((one) => one.receive(ids[index] ?? '', 7, bounds))),
    )
    assert.equal(received.filter((one) => one === 'received').length, 14)
    assert.equal((await files.kept('large')).bytes, 98)
    // Parts of one upload, of which only some were announced.
    const [upload] = [nextFileId()]
    assert.equal(await files.begin(aBegun(upload, 'parts', 50), bounds), 'begun')
    const parts = await allEnded(stores.map((store) => store.receive(upload, 15, bounds)))
    assert.equal(parts.filter((one) => one === 'received').length, 6)
    assert.equal((await files.kept('parts')).bytes, 90)
    // A large part that exceeds the announced size, beside small ones that do not.
    for (let round = 0; round < 20; round += 1) {
      const [id, project] = [nextFileId(), `round ${round}`]
      assert.equal(await files.begin(aBegun(id, project, 50), { maxFiles: 1, maxBytes: 60 }), 'begun')
      assert.equal(await files.receive(id, 20, { maxBytes: 60 }), 'received')
      const sizes = [5, 5, 40, 5, 5, 5, 5]
      await Promise.all(
        sizes.map((bytes, index) =>
          (index % 2 === 0 ? files : elsewhere).receive(id, bytes, { maxBytes: 60 }),
        ),
      )
      assert.ok((await files.kept(project)).bytes <= 60)
    }
  })

  test(`${name}: a deleted file counts as long as a batch holds its bytes`, async () => {
    const { files, nowMs, passes } = await open()
    const file = await kept(files, 'shop', { bytes: 70 })
    await files.hold(file.id, 'shop', { holder: 'batch_1', untilMs: nowMs() + HOUR_MS })
    await files.delete(file.id, 'shop')
    assert.deepEqual(await files.kept('shop'), { files: 0, bytes: 70 })
    passes(HOUR_MS)
    assert.deepEqual(await files.kept('shop'), { files: 0, bytes: 0 })
  })

  test(`${name}: a file that a batch makes is found like any other, grows, and is not counted among the files`, async () => {
    const { files, addOutput, nowMs } = await open()
    const output: OutputFile = {
      id: nextFileId(),
      project: 'shop',
      keyId: 'shop/ci',
      purpose: 'batch_output',
      filename: 'batch_1_output.jsonl',
      bytes: 10,
      createdAtMs: nowMs(),
      expiresAtMs: nowMs() + HOUR_MS,
      source: { kind: 'batch', batchId: 'batch_1', half: 'output' },
    }
    await addOutput(output)
    await addOutput({ ...output, bytes: 30 })
    assert.deepEqual(await files.find(output.id, 'shop'), { ...output, bytes: 30 })
    const { source: _, ...listed } = output
    const page = await files.list({ project: 'shop', order: 'desc', limit: 9, purpose: 'batch_output' })
    assert.deepEqual(page, { files: [{ ...listed, bytes: 30 }], hasMore: false })
    const bounds = { maxFiles: 1, maxBytes: 10 }
    assert.equal(await files.begin(aBegun(nextFileId(), 'shop'), bounds), 'begun')
    assert.equal(await files.delete(output.id, 'shop'), true)
    await addOutput({ ...output, bytes: 40 })
    assert.equal(await files.find(output.id, 'shop'), undefined)
    assert.deepEqual(await files.due(9), [
      { id: output.id, project: 'shop', batchId: 'batch_1', endsResults: true },
    ])
  })
}
