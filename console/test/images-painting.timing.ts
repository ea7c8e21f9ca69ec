/** Painting on a picture of 24 megapixels: frames come as they should in the middle of a stroke, and undo stays within the tab. */
import assert from 'node:assert/strict'
import sharp from 'sharp'
import { nodeOfFile, test } from './support/test.ts'

const WIDTH = 6000
const HEIGHT = 4000
const LEAST_FRAMES_PER_SECOND = 50
const STROKES = 50
const MAX_HEAP_MB = 300

const node = nodeOfFile({ file: false })

test('a stroke over 24 megapixels keeps 50 frames a second, and 50 strokes are undone within 300 MB', async ({
  openConsole,
}) => {
  const { page, go, context } = await openConsole(node)
  await go('/playground/images?mode=edit')
  const buffer = await sharp({
    create: { width: WIDTH, height: HEIGHT, channels: 3, background: { r: 90, g: 140, b: 190 } },
  })
    .jpeg()
    .toBuffer()
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'large.jpg', mimeType: 'image/jpeg', buffer })
  const board = page.getByRole('application')
  await board.waitFor({ timeout: 60_000 })
  const { x, y, width, height } = (await board.boundingBox()) ?? assert.fail()
  // The events are made in the page, one a frame, as a mouse would: what is measured is the page, not the way to it.
  const frames = await board.evaluate(
    async (element, { left, top, across, down }) => {
      const at = (part: number, kind: string) =>
        element.dispatchEvent(
          new PointerEvent(kind, {
            bubbles: true,
            pointerId: 1,
            button: 0,
            pointerType: 'mouse',
            clientX: left + across * (0.2 + 0.6 * part),
            clientY: top + down * (0.5 + 0.2 * Math.sin(part * 12)),
          }),
        )
      element.setPointerCapture = () => {}
      const next = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve))
      at(0, 'pointerdown')
      const times: number[] = []
      for (let step = 1; step <= 120; step += 1) {
        times.push(await next())
        at(step / 120, 'pointermove')
      }
      at(1, 'pointerup')
      return times.slice(20, 100)
    },
    { left: x, top: y, across: width, down: height },
  )
  const spentMs = (frames.at(-1) ?? 0) - (frames[0] ?? 0)
  const perSecond = ((frames.length - 1) / spentMs) * 1000
  console.log(`${perSecond.toFixed(1)} frames a second in the middle of a stroke`)
  for (let stroke = 0; stroke < STROKES; stroke += 1) {
    const row = y + height * (0.2 + (0.6 * stroke) / STROKES)
    await page.mouse.move(x + width * 0.2, row)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.8, row, { steps: 3 })
    await page.mouse.up()
  }
  const session = await context.newCDPSession(page)
  const { usedSize, backingStorageSize = 0 } = (await session.send('Runtime.getHeapUsage')) as {
    usedSize: number
    backingStorageSize?: number
  }
  // A decoded picture stands beside the heap: four bytes a pixel.
  const heapMb = (usedSize + backingStorageSize + WIDTH * HEIGHT * 4) / 1024 / 1024
  console.log(`${heapMb.toFixed(0)} MB with ${STROKES} strokes to undo`)
  for (let stroke = 0; stroke < STROKES + 1; stroke += 1) await page.keyboard.press('Control+z')
  assert.equal(await page.getByText('painted').locator('strong').textContent(), '0.0%')
  assert.ok(heapMb <= MAX_HEAP_MB, `${heapMb} MB`)
  assert.ok(perSecond >= LEAST_FRAMES_PER_SECOND, `${perSecond} frames a second`)
})
