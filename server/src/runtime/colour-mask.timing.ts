/** Measures the memory of the whole process, so nothing else may run beside it. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sharp from 'sharp'
import { WorkerImageCodec } from './image-codec.ts'

const ASKER = { project: 'project', timeoutMs: 60_000 }
const codec = new WorkerImageCodec()
after(() => codec.close())

test('memory does not grow with the number of masks', async () => {
  const side = 4096
  const picture = sharp(Buffer.alloc(side * side * 4), { raw: { width: side, height: side, channels: 4 } })
  const mask = new Uint8Array(await picture.png({ compressionLevel: 1 }).toBuffer())
  const make = async (count: number): Promise<void> => {
    for (let made = 0; made < count; made += 1) await codec.colourMask(mask, 'white', ASKER)
  }
  await make(4)
  const before = process.memoryUsage.rss()
  await make(6)
  const grownMb = (process.memoryUsage.rss() - before) / 1024 ** 2
  // One mask takes 48 MB while it is made, and leaked masks would add up to 200.
  assert.ok(grownMb < 120, `${grownMb} MB`)
})
