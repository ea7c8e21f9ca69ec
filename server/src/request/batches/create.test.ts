import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BatchRequest } from '#core/batch/request.ts'
import { chunksBlobName } from '#core/files/blob-names.ts'
import { chunkListText } from '#core/files/chunk-list.ts'
import type { FileScan } from '#core/files/scan-result.ts'
import type { Files } from '#ports/files.ts'
import { hashing } from '#runtime/hashing.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import { anImageModel } from '#test/support/images.ts'
import { aModel } from '#test/support/models.ts'
import { aKey } from '#test/support/sharing.ts'
import { MemoryBatches } from '#test/support/stores/batches.ts'
import { MemoryFiles } from '#test/support/stores/files.ts'
import { createBatch, type CreateOptions } from './create.ts'

const HOUR_MS = 3_600_000
const NOW_MS = Date.UTC(2026, 10, 17)
const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0 }
const models = [aModel({ id: 'm' }), aModel({ id: 'n' }), anImageModel({ id: 'image' })]
const SCAN: FileScan = {
  lines: 3,
  inputs: 3,
  chunks: 1,
  url: '/v1/embeddings',
  models: [{ model: 'm', firstLine: 1, lines: 3 }],
  errors: [],
  errorCount: 0,
}
const CHUNK = { firstByte: 0, bytes: 90, firstLine: 1, lines: 3, inputs: 3 }
const key = aKey('ads', { models: new Set(['m', 'image']) })
const OPTIONS: CreateOptions = { key, idempotencyKey: undefined, isRetry: false }
const ASKED: BatchRequest = {
  inputFileId: 'file-1',
  endpoint: '/v1/embeddings',
  windowMs: 24 * HOUR_MS,
  metadata: { note: 'x' },
  tags: { team: 'red' },
  resultsKeptMs: HOUR_MS,
}

/** A project with one uploaded file, and what was held and released of it. */
async function world(scan: Partial<FileScan> = {}) {
  const files = new MemoryFiles(clock)
  const batches = new MemoryBatches(clock, undefined, files)
  const blobs = new MemoryBlobs(clock)
  await files.begin(
    { id: 'file-1', project: 'ads', keyId: 'ads/k', announcedBytes: 90 },
    { maxFiles: 9, maxBytes: 999 },
  )
  await files.arrived('file-1', {
    purpose: 'batch',
    filename: 'a.jsonl',
    bytes: 90,
    sha256: '',
    scan: { ...SCAN, ...scan },
    segments: [],
    keptBytes: 90,
    expiresAfterMs: undefined,
  })
  await blobs.put(chunksBlobName('file-1'), new TextEncoder().encode(chunkListText([CHUNK])))
  const held: unknown[] = []
  const released: string[] = []
  const watched = new Proxy<Files>(files, {
    get: (of, name: keyof Files) =>
      ((...given: [string, string, { holder: string; untilMs: number }]) => {
        if (name === 'hold') held.push(given[2])
        if (name === 'release') released.push(given[1])
        return (of[name] as (...all: unknown[]) => unknown).apply(of, given)
      }) as Files[keyof Files],
  })
  const catalog = {
    models: new Map(models.map((model) => [model.id, model])),
    retired: new Map(),
    projects: [],
  }
  const identifiers = uuidv7Identifiers(clock)
  const all = { batches, files: watched, blobs, catalog: () => catalog, clock, identifiers, hashing }
  const create = (asked: Partial<BatchRequest> = {}, options: Partial<CreateOptions> = {}) =>
    createBatch({ ...ASKED, ...asked }, { ...OPTIONS, ...options }, all)
  return { create, batches, files, held, released, all }
}

test('a batch has the chunks, the model and the terms of its file and key, and holds the file for its window and a day', async () => {
  const { create, batches, held, released } = await world()
  const batch = await create()
  assert.partialDeepStrictEqual(batch, {
    project: 'ads',
    keyId: key.id,
    endpoint: '/v1/embeddings',
    inputFileId: 'file-1',
    model: 'm',
    metadata: { note: 'x' },
    tags: { team: 'red' },
    resultsKeptMs: HOUR_MS,
    state: 'in_progress',
    lines: 3,
    errors: [],
  })
  assert.match(batch.id, /^batch_[0-9a-f]{32}$/)
  assert.notEqual(batch.outputFileId, batch.errorFileId)
  assert.deepEqual(held, [{ holder: batch.id, untilMs: NOW_MS + 48 * HOUR_MS }])
  assert.deepEqual(released, [])
  const [chunk] = await batches.claim('node', 1)
  assert.deepEqual([chunk?.firstByte, chunk?.bytes, chunk?.firstLine, chunk?.lines], [0, 90, 1, 3])
})

test('a batch of several models, or of none, names none', async () => {
  for (const names of [[], ['m', 'image']]) {
    const { create } = await world({ models: names.map((model) => ({ model, firstLine: 1, lines: 1 })) })
    assert.equal((await create()).model, undefined)
  }
})

const error = { code: 'invalid_json_line', message: 'no JSON', param: null, line: 2 } as const
const ofFile = { ...error, param: 'body', line: null }
const FAILURES: readonly (readonly [
  scan: Partial<FileScan>,
  endpoint: string,
  errors: readonly (readonly [code: string, param: string | undefined, line: number | undefined])[],
])[] = [
  [{ errors: [error] }, '/v1/embeddings', [['invalid_json_line', undefined, 2]]],
  [{ errors: [ofFile] }, '/v1/embeddings', [['invalid_json_line', 'body', undefined]]],
  // The lines say enough: what else is wrong is not looked for.
  [{ errors: [error], url: '/v1/other' }, '/v1/embeddings', [['invalid_json_line', undefined, 2]]],
  [{}, '/v1/images/generations', [['url_mismatch', 'url', 1]]],
  [
    { models: [{ model: 'missing', firstLine: 4, lines: 1 }] },
    '/v1/embeddings',
    [['model_not_found', 'body.model', 4]],
  ],
  [
    { models: ['n', 'image'].map((model, index) => ({ model, firstLine: index + 1, lines: 1 })) },
    '/v1/embeddings',
    [
      ['model_not_found', 'body.model', 1],
      ['model_not_found', 'body.model', 2],
    ],
  ],
  [{ url: '/v1/images/edits' }, '/v1/images/edits', [['model_not_found', 'body.model', 1]]],
]

test('a file that can’t be run makes a failed batch without chunks, and is not held', async () => {
  for (const [scan, endpoint, errors] of FAILURES) {
    const { create, released } = await world(scan)
    const batch = await create({ endpoint })
    assert.deepEqual(
      batch.errors.map(({ code, param, line }) => [code, param, line]),
      errors,
    )
    assert.deepEqual([batch.state, batch.lines, released], ['failed', 0, [batch.id]])
  }
})

test('a file without an url, and lines for images, run at their own endpoint', async () => {
  for (const [scan, endpoint] of [
    [{ url: undefined }, '/v1/embeddings'],
    [
      { url: '/v1/images/generations', models: [{ model: 'image', firstLine: 1, lines: 3 }] },
      '/v1/images/generations',
    ],
  ] as const) {
    const { create } = await world(scan)
    assert.equal((await create({ endpoint })).state, 'in_progress')
  }
})

test('only an uploaded file of the project makes a batch', async () => {
  const { create, files, held, released, all } = await world()
  const param = 'input_file_id'
  await assert.rejects(create({ inputFileId: `file-${'x'.repeat(100)}` }), {
    code: 'not_found',
    param,
    message: `There is no file 'file-${'x'.repeat(75)}' in project 'ads'.`,
  })
  await assert.rejects(create({}, { key: aKey('other') }), { code: 'not_found' })
  const source = { kind: 'batch', batchId: 'b', half: 'output' } as const
  const output = { id: 'file-2', project: 'ads', keyId: 'k', purpose: 'batch_output', filename: 'o' } as const
  files.addOutput({ ...output, bytes: 1, createdAtMs: NOW_MS, expiresAtMs: undefined, source })
  await assert.rejects(create({ inputFileId: 'file-2' }), {
    code: 'invalid_parameter',
    param,
    message: /^File 'file-2' has the purpose 'batch_output'/,
  })
  assert.equal(released.length, 1)
  // Deleted since it was found.
  const unread = {
    ...all,
    files: Object.create(all.files, { scan: { value: async () => undefined } }) as Files,
  }
  await assert.rejects(createBatch(ASKED, OPTIONS, unread), {
    code: 'not_found',
    param,
    message: /^There is no file 'file-1'/,
  })
  assert.equal(released.length, 2)
  assert.equal(released[1], (held.at(-1) as { holder: string }).holder)
})

test('a key of idempotency makes one batch, and is refused for another', async () => {
  const { create, released } = await world()
  const first = await create({}, { idempotencyKey: 'i' })
  const again = await create({}, { idempotencyKey: 'i' })
  assert.equal(again.id, first.id)
  assert.equal(released.length, 1)
  assert.notEqual(released[0], first.id)
  await assert.rejects(create({ windowMs: HOUR_MS }, { idempotencyKey: 'i' }), {
    code: 'idempotency_key_reused',
  })
  assert.equal(released.length, 2)
  assert.equal((await create({}, { isRetry: true })).state, 'in_progress')
})

test('a project has at most a thousand open batches, and a caller retries in a minute', async () => {
  const { create, released } = await world()
  for (let count = 0; count < 1000; count += 1) await create()
  await assert.rejects(create(), {
    code: 'too_many_batches',
    retryAfterMs: 60_000,
    message: "Project 'ads' has 1000 batches that have not ended, which is as many as it may have.",
  })
  assert.equal(released.length, 1)
})
