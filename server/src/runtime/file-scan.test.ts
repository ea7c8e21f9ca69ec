import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { FileUnreadable, type ScanRequest } from '#ports/file-scan.ts'
import { runs } from '#test/support/arbitraries.ts'
import { ProcessFileScanning, type ScanLimits } from './file-scan.ts'
import { RepeatedIds } from './repeated-ids.ts'

const folder = await mkdtemp(join(tmpdir(), 'torana-scan-'))
after(() => rm(folder, { recursive: true }))

test('names that stand twice are found by the line of the second one, also when they went to the disk', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(30), { minLength: 1 }), fc.nat(2000), (names, unique) => {
      const ids = new RepeatedIds(folder)
      const expected: number[] = []
      const seen = new Set<number>()
      for (const [index, name] of names.entries()) {
        if (seen.has(name)) expected.push(index + 1)
        seen.add(name)
        ids.add(`name ${name}`, index + 1)
      }
      for (let count = 0; count < unique; count += 1) ids.add(`unique ${count}`, names.length + count + 1)
      expected.push(names.length + unique + 1)
      ids.add(`name ${names[0]}`, names.length + unique + 1)
      assert.deepEqual(ids.repeated(), { lines: expected.slice(0, 100), count: expected.length })
      ids.close()
    }),
    // The last one goes to the disk.
    { ...runs(30), examples: [[[7, 8, 7], 40_000]] },
  )
  assert.deepEqual(readdirSync(folder), [])
})

const line = (id: string, body: object = { model: 'small', input: 'x' }): string =>
  `${JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/embeddings', body })}\n`

const bytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text))

/** A file that cannot be read again: it must not be lost. */
const ONCE: ScanRequest = {
  project: 'shop',
  again: () => {
    throw new Error('the file was to be read again')
  },
}

const SMALL: ScanLimits = { heapMb: 32, memoryMb: 400, maxTaskMs: 60_000, maxFileMs: 60_000, idleMs: 300 }
/** Parsed it takes more than the small heap, and is refused by no bound of a line. */
const TOO_MUCH = line('big', {
  model: 'small',
  input: Array.from({ length: 2000 }, () => Array.from({ length: 3000 }, () => 7)),
})

/** A file whose pushed bytes are stored. */
function storedFile(
  text: string,
): ScanRequest & { readonly texts: readonly string[]; readonly isReadAgain: () => number } {
  let read = 0
  const cut = Math.floor(text.length / 2)
  const again: ScanRequest['again'] = async function* (count) {
    read += 1
    const file = Buffer.from(text).subarray(0, count)
    for (let at = 0; at < count; at += 10) yield file.subarray(at, Math.min(at + 10, count))
  }
  return { project: 'shop', again, texts: [text.slice(0, cut), text.slice(cut)], isReadAgain: () => read }
}

test('files that are read side by side in the process keep to themselves, and one is given up alone', async () => {
  const scanning = await ProcessFileScanning.open(folder)
  const [one, another, left] = [scanning.begin(ONCE), scanning.begin(ONCE), scanning.begin(ONCE)]
  const texts = [line('a') + line('b'), line('a') + line('a')] as const
  const half = (text: string, part: 0 | 1): Uint8Array<ArrayBuffer> =>
    bytes(part === 0 ? text.slice(0, 30) : text.slice(30))
  await Promise.all([one.push(half(texts[0], 0)), another.push(half(texts[1], 0)), left.push(half('{', 0))])
  await left.discard()
  await left.discard()
  await Promise.all([one.push(half(texts[0], 1)), another.push(half(texts[1], 1))])
  const [first, second] = await Promise.all([one.finish(), another.finish()])
  assert.deepEqual([first.scan.lines, first.scan.errorCount, first.scan.chunks], [2, 0, 1])
  assert.deepEqual(
    second.scan.errors.map(({ code, line: number }) => [code, number]),
    [['duplicate_custom_id', 2]],
  )
  for (const algorithm of ['sha256', 'md5'] as const)
    assert.equal(first[algorithm], createHash(algorithm).update(texts[0]).digest('hex'))
  assert.equal((await scanning.begin(ONCE).finish()).scan.errors[0]?.code, 'empty_file')
  await scanning.close()
})

test('the process remembers a file that arrives slowly, and ends when there is none', async () => {
  const scanning = await ProcessFileScanning.open(folder, SMALL)
  const [quick, slow] = [scanning.begin(ONCE), scanning.begin(ONCE)]
  await Promise.all([quick.push(bytes('{}\n')), slow.push(bytes('{}\n'))])
  await quick.finish()
  // Longer than the process stays without a file.
  await wait(600)
  assert.ok(!scanning.isAsleep)
  await slow.push(bytes('{}\n'))
  assert.equal((await slow.finish()).scan.lines, 2)
  await wait(600)
  assert.ok(scanning.isAsleep)
})

test('a file that ends the process fails alone: files beside it are read to their ends, and so is the next one', async () => {
  const scanning = await ProcessFileScanning.open(folder, SMALL)
  const text = line('a') + line('b') + line('a')
  const between = storedFile(text)
  const waiting = storedFile(text)
  const finishing = storedFile(text)
  const [one, another, last] = [scanning.begin(between), scanning.begin(waiting), scanning.begin(finishing)]
  await one.push(bytes(between.texts[0] ?? ''))
  await another.push(bytes(waiting.texts[0] ?? ''))
  await last.push(bytes(text))
  const big = scanning.begin({ ...ONCE, project: 'other' })
  const failed = assert.rejects(big.push(bytes(TOO_MUCH)), (error: Error) => {
    assert.ok(error instanceof FileUnreadable)
    assert.match(error.message, /ended with SIG(ABRT|TRAP)/)
    return true
  })
  // Queued behind the segment that ends the process.
  const pushed = another.push(bytes(waiting.texts[1] ?? ''))
  await failed
  await big.discard()
  await pushed
  await one.push(bytes(between.texts[1] ?? ''))
  const expected = await scanningOf(text)
  for (const reading of [one, another, last]) assert.deepEqual(await reading.finish(), expected)
  assert.deepEqual(
    [between, waiting, finishing].map(({ isReadAgain }) => isReadAgain()),
    [1, 1, 1],
  )
  const next = scanning.begin(ONCE)
  await next.push(bytes(text))
  assert.deepEqual(await next.finish(), expected)
  await scanning.close()
})

test('a file whose process ends again and again is given up, and is not read for ever', async () => {
  const scanning = await ProcessFileScanning.open(folder, SMALL)
  let read = 0
  const text = line('a')
  const unlucky = scanning.begin({
    project: 'shop',
    async *again(count) {
      read += 1
      yield Buffer.from(text).subarray(0, count)
      await assert.rejects(
        scanning.begin({ ...ONCE, project: 'other' }).push(bytes(TOO_MUCH)),
        FileUnreadable,
      )
    },
  })
  await unlucky.push(bytes(text))
  await assert.rejects(scanning.begin({ ...ONCE, project: 'other' }).push(bytes(TOO_MUCH)), FileUnreadable)
  await assert.rejects(unlucky.finish(), { name: 'FileUnreadable', message: /ended 4 times/ })
  assert.equal(read, 3)
  await scanning.close()
})

test('the time of one file in the process is bounded, however small its pieces', async () => {
  const scanning = await ProcessFileScanning.open(folder, { ...SMALL, maxFileMs: 300 })
  const tokens = Array.from({ length: 200_000 }, () => 7)
  const long = scanning.begin(ONCE)
  const error = await (async () => {
    for (let id = 0; id < 1000; id += 1)
      await long.push(bytes(line(`${id}`, { model: 'small', input: tokens })))
  })().catch((failure: unknown) => failure)
  assert.ok(error instanceof FileUnreadable, String(error))
  assert.match(error.message, /for more than 300 ms/)
  await long.discard()
  assert.ok(!scanning.isAsleep)
  await scanning.close()
})

async function scanningOf(text: string): Promise<unknown> {
  const scanning = await ProcessFileScanning.open(folder)
  const reading = scanning.begin(ONCE)
  await reading.push(bytes(text))
  const read = await reading.finish()
  await scanning.close()
  return read
}
