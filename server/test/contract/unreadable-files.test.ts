/** A file that ends the process which reads files fails with its own fault and leaves nothing; one beside it arrives. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '#core/fault/fault.ts'
import { defaultLimits } from '#core/settings.ts'
import type { Key } from '#ports/keys.ts'
import { ArrivingFile } from '#request/files/arriving-file.ts'
import { systemClock, wait } from '#runtime/clock.ts'
import { ProcessFileScanning } from '#runtime/file-scan.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { embeddingLines } from '#test/support/batches.ts'
import { memoryFileParts } from '#test/support/files.ts'
import { temporaryFolder } from '#test/support/process.ts'

const KEY: Key = {
  id: 'shop/ci',
  name: 'ci',
  project: 'shop',
  models: undefined,
  expiresAtMs: undefined,
  limits: [],
  budgets: [],
}
const WISH = { purpose: 'batch', expiresAfterMs: 3_600_000 } as const
/** Parsed it takes more than a heap of 32 MB. */
const TOO_MUCH = JSON.stringify({
  custom_id: 'a',
  method: 'POST',
  url: '/v1/embeddings',
  body: { model: 'small', input: Array.from({ length: 2000 }, () => Array.from({ length: 3000 }, () => 7)) },
})

test('a file that ends the process that reads it is refused alone, and nothing of it is kept', async () => {
  const scanning = await ProcessFileScanning.open(temporaryFolder(), {
    heapMb: 32,
    memoryMb: 600,
    maxTaskMs: 120_000,
    maxFileMs: 120_000,
    idleMs: 1000,
  })
  const parts = memoryFileParts(scanning)
  const outside = { ...parts, limits: defaultLimits, identifiers: uuidv7Identifiers(systemClock), wait }
  const beside = await ArrivingFile.begin(KEY, 0, outside)
  const text = embeddingLines('small', ['a', 'b'.repeat(5_000_000)])
  // More than one part: the process knows the beginning when it ends.
  await beside.write(Buffer.from(text).subarray(0, 4_500_000))
  const big = await ArrivingFile.begin(KEY, 0, outside)
  await assert.rejects(
    (async () => {
      await big.write(Buffer.from(TOO_MUCH))
      await big.complete('big.jsonl', WISH)
    })(),
    (error) => error instanceof Fault && error.code === 'file_unreadable' && error.cause !== undefined,
  )
  await big.discard()
  await beside.write(Buffer.from(text).subarray(4_500_000))
  const file = await beside.complete('beside.jsonl', WISH)
  assert.deepEqual([file.bytes, (await parts.files.scan(file.id))?.lines], [Buffer.byteLength(text), 2])
  const listed = await parts.fileBlobs.list({ prefix: '', limit: 100 })
  assert.ok(listed.length > 0)
  assert.deepEqual(
    listed.filter(({ name }) => !name.includes(file.id)),
    [],
  )
  await scanning.close()
})
