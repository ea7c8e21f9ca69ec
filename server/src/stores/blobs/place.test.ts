import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENDLESS_ROOM } from '#ports/disk-room.ts'
import { testFolder } from '#test/support/disk.ts'
import { DiskBlobs } from './disk.ts'
import { placeOnce } from './place.ts'

const someHash = 'a'.repeat(64)

for (const [name, files, owner] of [
  ['an empty folder', [], 'own'],
  ['a folder with images of others', [`pictures/${someHash}`], 'shared'],
] as const)
  test(`${name} is ${owner}, and stays so whatever comes later`, async () => {
    const blobs = await DiskBlobs.open(testFolder(), ENDLESS_ROOM)
    for (const file of files) await blobs.put(file, Buffer.from('bytes'))
    let warnings = 0
    const place = placeOnce(blobs, () => void (warnings += 1))
    assert.deepEqual([await place(), await place()], [owner, owner])
    assert.equal(warnings, owner === 'shared' ? 1 : 0)
    await blobs.put('pictures/another', Buffer.from('bytes'))
    assert.equal(await placeOnce(blobs, () => {})(), owner)
  })

test('a store that fails is asked again', async () => {
  const blobs = await DiskBlobs.open(testFolder(), ENDLESS_ROOM)
  let isBroken = true
  const place = placeOnce(
    new Proxy(blobs, {
      get(target, name, receiver) {
        if (isBroken) throw new Error('unreachable')
        const value: unknown = Reflect.get(target, name, receiver)
        return typeof value === 'function' ? value.bind(target) : value
      },
    }),
    () => {},
  )
  await assert.rejects(place())
  isBroken = false
  assert.equal(await place(), 'own')
})
