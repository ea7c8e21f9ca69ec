import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { ThreadFileScanning } from './file-scan.ts'
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
    { numRuns: 30, examples: [[[7, 8, 7], 40_000]] },
  )
  assert.deepEqual(readdirSync(folder), [])
})

test('files that are read side by side in the thread keep to themselves, and one is given up alone', async () => {
  const scanning = await ThreadFileScanning.open(folder)
  const line = (id: string): string =>
    `${JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/embeddings', body: { model: 'small', input: 'x' } })}\n`
  const [one, another, left] = [scanning.begin(), scanning.begin(), scanning.begin()]
  const texts = [line('a') + line('b'), line('a') + line('a')] as const
  const half = (text: string, part: 0 | 1): Uint8Array<ArrayBuffer> =>
    new Uint8Array(Buffer.from(part === 0 ? text.slice(0, 30) : text.slice(30)))
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
  assert.equal((await scanning.begin().finish()).scan.errors[0]?.code, 'empty_file')
  await scanning.close()
})

test('the thread remembers a file that arrives slowly, and ends when there is none', async () => {
  const scanning = await ThreadFileScanning.open(folder)
  const bytes = (): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from('{}\n'))
  const [quick, slow] = [scanning.begin(), scanning.begin()]
  await Promise.all([quick.push(bytes()), slow.push(bytes())])
  await quick.finish()
  // Longer than it stays without a file.
  await wait(2500)
  assert.ok(!scanning.isAsleep)
  await slow.push(bytes())
  assert.equal((await slow.finish()).scan.lines, 2)
  await wait(2500)
  assert.ok(scanning.isAsleep)
})
