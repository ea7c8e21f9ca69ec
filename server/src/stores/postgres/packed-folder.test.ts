import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '#test/support/process.ts'
import { packFolder, unpackFolder } from './packed-folder.ts'

test('a folder comes out as it went in, empty folders and files too, and only for its user', async () => {
  const [from, to] = [join(temporaryFolder(), 'from'), join(temporaryFolder(), 'to')]
  mkdirSync(join(from, 'a/empty'), { recursive: true })
  writeFileSync(
    join(from, 'a/bytes'),
    Uint8Array.from({ length: 300 }, (_, index) => index % 256),
  )
  writeFileSync(join(from, 'a-b'), '')
  writeFileSync(join(from, 'z'), 'z'.repeat(100_000))
  const packed = packFolder(from)
  assert.ok(packed.length < 1000)
  const file = join(temporaryFolder(), 'packed')
  writeFileSync(file, packed)
  await unpackFolder(file, to)
  const names = (folder: string): string[] => (readdirSync(folder, { recursive: true }) as string[]).sort()
  assert.deepEqual(names(to), names(from))
  for (const name of ['a/bytes', 'a-b', 'z'])
    assert.deepEqual(readFileSync(join(to, name)), readFileSync(join(from, name)), name)
  assert.equal(statSync(join(to, 'a')).mode & 0o777, 0o700)
  assert.equal(statSync(join(to, 'z')).mode & 0o777, 0o600)
})

test('a file that was cut makes no folder that looks whole', async () => {
  const from = join(temporaryFolder(), 'from')
  mkdirSync(from)
  writeFileSync(join(from, 'bytes'), randomBytes(10_000))
  const file = join(temporaryFolder(), 'packed')
  writeFileSync(file, packFolder(from).subarray(0, 5000))
  await assert.rejects(unpackFolder(file, join(temporaryFolder(), 'to')))
})
