import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { DiskLow } from '#ports/disk-room.ts'
import { fillDisk, smallDisk, testFolder } from '#test/support/disk.ts'
import { diskSpace, MeasuredDisk } from './disk-room.ts'

const RESERVE = 400_000

test('what arrives leaves the reserve free, and what is paid for half of it', async (context) => {
  const disk = smallDisk(4096)
  if (disk === undefined) return context.skip('this user may not mount a disk')
  const room = new MeasuredDisk(disk, RESERVE)
  await room.admit(2_000_000)
  fillDisk(disk, 600_000)
  const free = (await diskSpace(disk))?.freeBytes ?? 0
  await room.admit(free - RESERVE)
  await assert.rejects(room.admit(free - RESERVE + 1), DiskLow)
  using _ = await room.take(free - RESERVE / 2)
  await assert.rejects(room.take(1), DiskLow)
  await assert.rejects(room.admit(0), DiskLow, 'bytes that are being written count')
})

test('writes at once share the space, and give it back when they have ended', async (context) => {
  const disk = smallDisk(4096)
  if (disk === undefined) return context.skip('this user may not mount a disk')
  const room = new MeasuredDisk(disk, 2_000_000)
  const taken = await Promise.allSettled(Array.from({ length: 8 }, () => room.take(900_000)))
  const fitting = taken.filter((one) => one.status === 'fulfilled')
  assert.equal(fitting.length, 3)
  for (const { value } of fitting) value[Symbol.dispose]()
  ;(await room.take(2_700_000))[Symbol.dispose]()
})

test('a disk of which the system says nothing, and a reserve of 0, refuse nothing', async () => {
  const missing = join(testFolder(), 'none')
  assert.equal(await diskSpace(missing), undefined)
  await new MeasuredDisk(missing, RESERVE).admit(2 ** 60)
  await new MeasuredDisk(testFolder(), 0).admit(2 ** 60)
})
