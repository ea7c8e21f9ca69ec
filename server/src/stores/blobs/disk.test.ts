import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { ENDLESS_ROOM } from '#ports/disk-room.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { bytesOf, digestOf } from '#test/contract/blob-store.ts'
import { runs } from '#test/support/arbitraries.ts'
import { fillDisk, smallDisk, testFolder } from '#test/support/disk.ts'
import { fileOf, walk, type Entry } from './disk-names.ts'
import { DiskBlobs } from './disk.ts'
import { isBlobName } from './names.ts'

const NAME_LETTERS = 'abcdef0123456789./-_~\\\0 %'.split('')

test('no name, however hostile, leads out of the folder or into the drafts, and no two to one file', () => {
  const root = '/srv/blobs'
  const name = fc.oneof(
    fc.string({ unit: fc.constantFrom(...NAME_LETTERS), maxLength: 12 }),
    fc
      .array(fc.constantFrom('..', '.', 'a', 'ab', '~drafts', '', digestOf('x')), { maxLength: 5 })
      .map((parts) => parts.join('/')),
    fc.string({ maxLength: 20 }),
  )
  fc.assert(
    fc.property(name, name, (one, other) => {
      fc.pre(isBlobName(one))
      const file = resolve(fileOf(root, one))
      assert.ok(file.startsWith(root + sep), file)
      assert.ok(!file.startsWith(join(root, '~drafts')), file)
      if (isBlobName(other) && other !== one) assert.notEqual(resolve(fileOf(root, other)), file)
    }),
    runs(2000),
  )
})

test('a picture lies in a folder of its first two digits, so that none grows without end', async () => {
  const folder = testFolder()
  const store = await DiskBlobs.open(folder)
  const digest = digestOf('picture')
  await store.put(`pictures/${digest}`, Buffer.from('x'))
  assert.ok(existsSync(join(folder, 'pictures', digest.slice(0, 2), digest)))
})

test('a page is listed without reading folders that cannot contain any of it', async () => {
  const folders = Array.from({ length: 256 }, (_, index) => index.toString(16).padStart(2, '0'))
  const read: string[] = []
  const entriesOf = async (folder: string): Promise<readonly Entry[]> => {
    read.push(folder)
    if (folder === '') return ['jobs', 'pictures'].map((name) => ({ name, isFolder: true }))
    if (folder === 'pictures') return folders.map((name) => ({ name, isFolder: true }))
    return [{ name: folder.slice(-2).padEnd(64, '7'), isFolder: false }]
  }
  const found: string[] = []
  for await (const name of walk(
    { prefix: 'pictures/', after: `pictures/${'80'.padEnd(64, '7')}` },
    entriesOf,
  )) {
    found.push(name)
    if (found.length === 2) break
  }
  assert.deepEqual(found, [`pictures/${'81'.padEnd(64, '7')}`, `pictures/${'82'.padEnd(64, '7')}`])
  assert.deepEqual(read, ['', 'pictures', 'pictures/80', 'pictures/81', 'pictures/82'])
})

test('folders that were emptied do not stay behind', async () => {
  const folder = testFolder()
  const store = await DiskBlobs.open(folder)
  await store.put('jobs/1/0.json', Buffer.from('{}'))
  await store.put('jobs/2/0.json', Buffer.from('{}'))
  await store.delete('jobs/1/0.json')
  assert.deepEqual(readdirSync(join(folder, 'jobs')), ['2'])
  await store.delete('jobs/2/0.json')
  assert.deepEqual(readdirSync(folder), ['~drafts'])
})

test('at the start drafts of an hour ago are cleared away, those of others at work are not', async () => {
  const folder = testFolder()
  await DiskBlobs.open(folder)
  const names = ['0', '1'].map((digit) => digit.repeat(32)) as [string, string]
  const [old, young] = names.map((name) => join(folder, '~drafts', name)) as [string, string]
  for (const path of [old, young]) writeFileSync(path, 'half')
  const thenSeconds = Date.now() / 1000 - 3700
  utimesSync(old, thenSeconds, thenSeconds)
  await DiskBlobs.open(folder)
  assert.deepEqual(readdirSync(join(folder, '~drafts')), [names[1]])
})

test('a blob, and a draft, are as old as the clock of the node says, not that of the machine', async () => {
  const folder = testFolder()
  const clock = { nowMs: () => Date.now() + 40 * 86_400_000 }
  const store = await DiskBlobs.open(folder, ENDLESS_ROOM, clock)
  await store.put('ours', Buffer.from('x'))
  const [blob] = await store.list({ prefix: '', limit: 1 })
  assert.ok(Math.abs((blob?.modifiedMs ?? 0) - clock.nowMs()) < 3_600_000)
  writeFileSync(join(folder, '~drafts', '0'.repeat(32)), 'half')
  await DiskBlobs.open(folder)
  assert.equal(readdirSync(join(folder, '~drafts')).length, 1)
  await DiskBlobs.open(folder, ENDLESS_ROOM, clock)
  assert.deepEqual(readdirSync(join(folder, '~drafts')), [])
})

test('foreign files in the folder are neither listed nor changed', async () => {
  const folder = testFolder()
  const store = await DiskBlobs.open(folder)
  mkdirSync(join(folder, 'lost+found'))
  writeFileSync(join(folder, digestOf('where no name leads')), 'x')
  await store.put('ours', Buffer.from('x'))
  assert.deepEqual(
    (await store.list({ prefix: '', limit: 9 })).map((blob) => blob.name),
    ['ours'],
  )
})

test('a folder that is gone, as when a volume is not mounted, is away and not empty', async () => {
  const folder = join(testFolder(), 'volume')
  const store = await DiskBlobs.open(folder)
  await store.put('kept', Buffer.from('x'))
  renameSync(folder, `${folder}-elsewhere`)
  await assert.rejects(store.put('a', Buffer.from('x')), StoreUnreachable)
  await assert.rejects(store.open('kept'), StoreUnreachable)
  await assert.rejects(store.delete('kept'), StoreUnreachable)
  await assert.rejects(store.list({ prefix: '', limit: 1 }), StoreUnreachable)
  assert.ok(!existsSync(folder), 'it was made anew, and the volume would hide it')
  renameSync(`${folder}-elsewhere`, folder)
  assert.equal((await bytesOf(await store.open('kept'))).toString(), 'x')
})

test('a full disk is away, leaves what was there, and takes blobs again once there is room', async (t) => {
  const disk = smallDisk(2048)
  if (disk === undefined) return t.skip('needs the right to mount')
  const store = await DiskBlobs.open(join(disk, 'blobs'))
  await store.put('picture', Buffer.alloc(100_000, 'a'))
  const free = fillDisk(disk, 60_000)
  for (let round = 0; round < 5; round += 1)
    await assert.rejects(store.put('picture', Buffer.alloc(200_000, 'b')), StoreUnreachable)
  assert.deepEqual(readdirSync(join(disk, 'blobs/~drafts')), [], 'refusals leave no heap of drafts')
  assert.ok(Buffer.alloc(100_000, 'a').equals(await bytesOf(await store.open('picture'))))
  free()
  await store.put('picture', Buffer.alloc(200_000, 'b'))
  assert.equal((await store.open('picture'))?.size, 200_000)
})

test('a process that is killed while it writes leaves no half blob, and what it acknowledged is whole', async () => {
  const folder = testFolder()
  const script = `
    import { DiskBlobs } from '#stores/blobs/disk.ts'
    const store = await DiskBlobs.open(process.argv[1])
    for (let round = 0; ; round += 1) {
      const letter = 'abcdefgh'[round % 8]
      await store.put('jobs/same/0.json', Buffer.alloc(3_000_000, letter))
      await store.put('jobs/' + round + '/0.json', Buffer.alloc(3_000_000, letter))
      console.log(round)
    }`
  let acknowledged = 0
  for (let life = 0; life < 6; life += 1) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, folder], {
      cwd: join(import.meta.dirname, '../../..'),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    await once(child.stdout, 'data')
    await delay(life * 7)
    child.kill('SIGKILL')
    await once(child, 'close')
    const store = await DiskBlobs.open(folder)
    acknowledged = output.trim().split('\n').length
    const listed = await store.list({ prefix: 'jobs/', limit: 1000 })
    assert.ok(listed.length > acknowledged, `${listed.length} blobs, ${acknowledged} acknowledged`)
    for (const { name, size } of listed) {
      assert.equal(size, 3_000_000, name)
      const bytes = await bytesOf(await store.open(name))
      assert.ok(bytes.equals(Buffer.alloc(3_000_000, bytes[0])), `${name} is a mixture`)
      if (name !== 'jobs/same/0.json') await store.delete(name)
    }
  }
})
