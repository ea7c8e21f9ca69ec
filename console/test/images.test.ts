/** The images playground: what is painted arrives at an upstream bit for bit, and what comes back is shown and measured. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import sharp from 'sharp'
import { watchRequests } from './support/settled.ts'
import { assertAccessible, expect as expectWithin, nodeOfFile, test } from './support/test.ts'

/** Pictures are made, encoded and compared, on a machine that does other things too. */
const expect = expectWithin.configure({ timeout: 20_000 })

const EDITS = { maxInputs: 2, mask: 'alpha' }
const node = nodeOfFile({
  images: {
    'a-painter': { on: 'plain', capabilities: { edits: EDITS, stream: true }, price: { usdPerImage: 0.04 } },
    'b-careless': { on: 'plain+ignores-mask', capabilities: { edits: EDITS }, price: { usdPerImage: 0.04 } },
    'c-maskless': { on: 'plain+no-mask', capabilities: { edits: { maxInputs: 1, mask: 'none' } } },
    'd-writer': { on: 'plain+no-edits', capabilities: { edits: 'none' } },
  },
})

const WIDTH = 300
const HEIGHT = 200
/** Black above, and below a grey that hardly differs from its complement. */
const GREY = 127
const pixels = Buffer.from(
  Array.from({ length: WIDTH * HEIGHT * 3 }, (_, at) => (at / 3 < (WIDTH * HEIGHT) / 2 ? 0 : GREY)),
)
const picture = {
  name: 'half.png',
  mimeType: 'image/png',
  buffer: await sharp(pixels, { raw: { width: WIDTH, height: HEIGHT, channels: 3 } })
    .png()
    .toBuffer(),
}

async function choose(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Choose an image' }).waitFor()
  await page.locator('input[type=file]').first().setInputFiles(picture)
  await page.getByRole('application').waitFor()
}

/** By keyboard alone. */
async function paintRectangle(page: Page, numbers: readonly [number, number, number, number]): Promise<void> {
  await page.getByRole('button', { name: 'Rectangle by coordinates' }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog')).toBeVisible()
  for (const [index, name] of ['Left', 'Top', 'Width', 'Height'].entries()) {
    const field = page.getByRole('dialog').getByRole('textbox', { name })
    await field.focus()
    await page.keyboard.press('Control+a')
    await page.keyboard.type(String(numbers[index]))
  }
  await page.getByRole('button', { name: 'Paint', exact: true }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog')).toBeHidden()
}

async function downloaded(page: Page, name: string): Promise<Buffer> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name, exact: true }).click(),
  ])
  return readFileSync(await download.path())
}

const run = (page: Page) => page.locator('form button[type=submit]').click()

const adherence = (page: Page) => page.locator('[data-adherence]')

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')
const sentEdit = () => {
  const edit = node.provider.entries().findLast(({ operation }) => operation === 'edit')
  const part = (name: string) => edit?.parts?.find((one) => one.name.startsWith(name))?.sha256
  return { id: edit?.id, image: part('image'), mask: part('mask') }
}
const cards = (page: Page) =>
  page.getByRole('region', { name: 'History' }).getByRole('listitem').getByRole('button')

/** Edits kept in this browser, in the form of earlier versions; answers how many there are. */
async function renameKeptImages(): Promise<number> {
  const answer = <Result>(request: IDBRequest<Result>) =>
    new Promise<Result>((resolve, reject) => {
      request.addEventListener('success', () => resolve(request.result))
      request.addEventListener('error', () => reject(request.error ?? new Error('the storage is closed')))
    })
  const database = await answer(indexedDB.open('torana.playground'))
  const store = database.transaction('edits', 'readwrite').objectStore('edits')
  const keys = await answer(store.getAllKeys())
  for (const key of keys) {
    const { files, mask } = await answer(store.get(key))
    await answer(
      store.put({ files: { pictures: files.images ?? files.pictures, mask: files.mask }, mask }, key),
    )
  }
  database.close()
  return keys.length
}

test('from an empty folder the first picture is two clicks away', async ({ openConsole, startNode }) => {
  const empty = await startNode({ file: false })
  const { page, go, complaints } = await openConsole(empty)
  await go('/')
  await page.getByRole('link', { name: 'Images', exact: true }).click()
  await run(page)
  await expect(page.getByRole('img', { name: /^Image for: A lighthouse/ })).toBeVisible()
  await expect(page.getByText('1 of 1 image')).toBeVisible()
  await expect(cards(page)).toHaveCount(1)
  await assertAccessible(page, 'a picture that was made')
  assert.deepEqual(complaints, [])
})

test('an upstream receives the painted mask bit for bit, and what is outside of it comes back as it was', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node)
  await go('/playground/images?mode=edit&model=a-painter')
  await choose(page)
  await paintRectangle(page, [10, 20, 50, 30])
  const board = page.getByRole('application')
  const { x, y, width, height } = (await board.boundingBox()) ?? assert.fail()
  await page.mouse.move(x + width * 0.6, y + height * 0.5)
  await page.mouse.down()
  await page.mouse.move(x + width * 0.7, y + height * 0.6, { steps: 5 })
  await page.mouse.up()
  await assertAccessible(page, 'the painter')
  const saved = await downloaded(page, 'Save mask')
  const { data, info } = await sharp(saved).raw().toBuffer({ resolveWithObject: true })
  assert.deepEqual([info.width, info.height, info.channels], [WIDTH, HEIGHT, 4])
  const alpha = (column: number, row: number) => data[(row * WIDTH + column) * 4 + 3]
  for (let row = 0; row < 60; row += 1)
    for (let column = 0; column < 70; column += 1) {
      const isPainted = column >= 10 && column < 60 && row >= 20 && row < 50
      assert.equal(alpha(column, row), isPainted ? 0 : 255, `${column},${row}`)
    }
  assert.ok(
    data.every((value, at) => at % 4 !== 3 || value === 0 || value === 255),
    'no half tones',
  )
  assert.equal(alpha(195, 110), 0, 'the stroke is in it')

  await run(page)
  await expect(adherence(page)).toHaveText('100.00%')
  assert.equal(sentEdit().mask, sha256(saved))
  assert.equal(sentEdit().image, sha256(picture.buffer), 'the picture itself is sent untouched')
  await expect(page.getByText('$0.040000000').first()).toBeVisible()
  await assertAccessible(page, 'before and after')
  await page.getByRole('slider', { name: 'Divider between before and after' }).press('ArrowRight')
  await page.getByRole('button', { name: 'Changes' }).click()
  await assertAccessible(page, 'what changed')
  assert.deepEqual(complaints, [])
})

test('adherence counts what an upstream changed outside of the mask, and keeping leaves none of it', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go('/playground/images?mode=edit&model=b-careless')
  await choose(page)
  // The left third, over all of its height: outside is half black and half grey.
  await paintRectangle(page, [0, 0, 100, HEIGHT])
  await run(page)
  await expect(adherence(page)).toHaveText('50.00%')
  await expect(page.getByText('20,000 px')).toBeVisible()
  await expect(page.getByText('0 pixels differ there', { exact: false })).toBeVisible()
  const kept = await downloaded(page, 'Download')
  const { data, info } = await sharp(kept).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  assert.deepEqual([info.width, info.height], [WIDTH, HEIGHT])
  for (let at = 0; at < data.length; at += 1) {
    const isPainted = Math.floor(at / 3) % WIDTH < 100
    const original = pixels[at] ?? 0
    assert.equal(data[at], isPainted ? 255 - original : original)
  }

  await page.getByRole('button', { name: 'Mask', exact: true }).click()
  // What was painted is still there: only the grey half is left unpainted, and none of it counts; then only the black one.
  await paintRectangle(page, [0, HEIGHT / 2, WIDTH, HEIGHT / 2])
  await run(page)
  await expect(adherence(page)).toHaveText('0.00%')
})

test('a photo that a camera stored on its side is painted upright, and its mask is upright too', async ({
  openConsole,
}) => {
  const [storedWidth, storedHeight] = [96, 64]
  const photo = {
    name: 'photo.jpg',
    mimeType: 'image/jpeg',
    buffer: await sharp({
      create: { width: storedWidth, height: storedHeight, channels: 3, background: { r: 200, g: 40, b: 40 } },
    })
      .jpeg()
      .withMetadata({ orientation: 6 })
      .toBuffer(),
  }
  const { page, go } = await openConsole(node)
  await go('/playground/images?mode=edit&model=a-painter')
  await page.locator('input[type=file]').first().setInputFiles(photo)
  await page.getByRole('application').waitFor()
  // Upright it is as high as it was stored wide.
  await expect(page.getByText(`${storedHeight} × ${storedWidth}`)).toBeVisible()
  // It would not fit into the picture as it is stored.
  await paintRectangle(page, [8, 70, 20, 16])
  const saved = await downloaded(page, 'Save mask')
  const { data, info } = await sharp(saved).raw().toBuffer({ resolveWithObject: true })
  assert.deepEqual([info.width, info.height], [storedHeight, storedWidth])
  for (let row = 0; row < info.height; row += 1)
    for (let column = 0; column < info.width; column += 1) {
      const isPainted = column >= 8 && column < 28 && row >= 70 && row < 86
      assert.equal(data[(row * info.width + column) * 4 + 3], isPainted ? 0 : 255, `${column},${row}`)
    }
  const before = sentEdit().id
  await run(page)
  await expect(adherence(page)).toHaveText('100.00%')
  assert.notEqual(sentEdit().id, before)
  assert.equal(sentEdit().mask, sha256(saved), 'the upstream has the mask bit for bit')
  assert.equal(sentEdit().image, sha256(photo.buffer), 'the photo is sent untouched, with its note')
})

test('an edit of the history shows its mask again and runs again, and elsewhere it says why not', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node)
  await go('/playground/images?mode=edit&model=b-careless')
  await choose(page)
  await paintRectangle(page, [0, 0, 100, HEIGHT])
  await run(page)
  await expect(adherence(page)).toHaveText('50.00%')
  const first = sentEdit()
  await go('/playground/images?mode=edit&model=b-careless')
  await cards(page).first().click()
  await expect(adherence(page)).toHaveText('50.00%')
  await assertAccessible(page, 'an edit of the history')
  await page.getByRole('button', { name: 'Run again' }).click()
  await expect.poll(() => sentEdit().id).not.toBe(first.id)
  assert.equal(sentEdit().mask, first.mask)
  assert.equal(sentEdit().image, first.image)
  assert.deepEqual(complaints, [])

  const elsewhere = await openConsole(node)
  await elsewhere.go('/playground/images')
  await cards(elsewhere.page).first().click()
  const again = elsewhere.page.getByRole('button', { name: 'Run again' })
  await expect(again).toHaveAttribute('aria-disabled', 'true')
  await again.hover()
  await expect(elsewhere.page.getByText(/^Prompts aren’t stored\./)).toBeVisible()
})

test('an edit that an older version kept in this browser still opens', async ({ openConsole }) => {
  const { page, go, complaints } = await openConsole(node)
  await go('/playground/images?mode=edit&model=b-careless')
  await choose(page)
  await paintRectangle(page, [0, 0, 100, HEIGHT])
  await run(page)
  await expect(adherence(page)).toHaveText('50.00%')
  await expect.poll(() => page.evaluate(renameKeptImages)).toBe(1)
  await go('/playground/images?mode=edit&model=b-careless')
  await cards(page).first().click()
  await expect(adherence(page)).toHaveText('50.00%')
  assert.deepEqual(complaints, [])
})

test('a model without a price generates, edits and compares, and no amount is shown for it', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node)
  await go('/playground/images?model=d-writer')
  await page.getByRole('textbox', { name: 'Prompt' }).fill('a door without a price')
  await run(page)
  await expect(page.getByRole('img', { name: 'Image for: a door without a price' })).toBeVisible()
  await expect(page.getByText('so far')).toHaveCount(0)
  await go('/playground/images?mode=edit&model=c-maskless')
  await page.locator('input[type=file]').first().setInputFiles(picture)
  await page.getByRole('textbox', { name: 'Prompt' }).fill('a window without a price')
  await run(page)
  await expect(page.getByRole('slider', { name: 'Divider between before and after' })).toBeVisible()
  await expect(cards(page).nth(0)).toContainText('–')
  await expect(cards(page).nth(1)).toContainText('–')
  await page.getByRole('button', { name: 'Compare' }).click()
  await cards(page).nth(0).click()
  await cards(page).nth(1).click()
  await expect(page.getByRole('region', { name: 'Compare' }).getByRole('img')).toHaveCount(2)
  assert.deepEqual(complaints, [])
})

test('two pictures of the history are compared beside each other and with a slider', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  // The history is counted: it must have arrived.
  watchRequests(page)
  await go('/playground/images?model=a-painter')
  for (const prompt of ['a red door', 'a blue door']) {
    const before = await cards(page).count()
    await page.getByRole('textbox', { name: 'Prompt' }).fill(prompt)
    await run(page)
    await expect(page.getByRole('img', { name: `Image for: ${prompt}` })).toBeVisible()
    await expect(cards(page)).toHaveCount(before + 1)
  }
  await page.getByRole('button', { name: 'Compare' }).click()
  await expect(page.getByText('Select two images from History.')).toBeVisible()
  await cards(page).nth(0).click()
  await cards(page).nth(1).click()
  const both = page.getByRole('region', { name: 'Compare' }).getByRole('img', { name: 'a-painter' })
  await expect(both).toHaveCount(2)
  await assertAccessible(page, 'two pictures beside each other')
  await page.getByRole('button', { name: 'Slider' }).click()
  await page.getByRole('slider', { name: 'Divider between before and after' }).press('ArrowRight')
  await assertAccessible(page, 'two pictures with a slider')
})

test('on a phone the picture comes first, then the form, then the history', async ({ openConsole }) => {
  const { page, go } = await openConsole(node, { size: 'phone' })
  await go('/playground/images?mode=edit&model=a-painter')
  await page.locator('input[type=file]').first().setInputFiles(picture)
  const tops = []
  for (const part of [
    page.getByRole('application'),
    page.locator('form button[type=submit]'),
    page.getByRole('region', { name: 'History' }),
  ])
    tops.push((await part.boundingBox())?.y ?? assert.fail())
  assert.deepEqual(
    tops,
    tops.toSorted((a, b) => a - b),
  )
})

test('a model says before the call what it does not take, and which one would do', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go('/playground/images?mode=edit&model=c-maskless')
  await page.locator('input[type=file]').first().setInputFiles(picture)
  await expect(
    page.getByText(/^c-maskless doesn’t support masks: .* Try a-painter, b-careless\.$/),
  ).toBeVisible()
  await expect(page.getByRole('toolbar')).toHaveCount(0)
  await go('/playground/images?mode=edit&model=d-writer')
  await expect(page.getByText(/^d-writer can’t edit images\./)).toBeVisible()
})

test('strokes are undone and redone by keys, and the painter speaks Chinese too', async ({ openConsole }) => {
  const { page, go } = await openConsole(node, { language: 'zh', theme: 'dark' })
  await go('/playground/images?mode=edit&model=a-painter')
  await page.locator('input[type=file]').first().setInputFiles(picture)
  const board = page.getByRole('application')
  await board.focus()
  const painted = page.getByText('已涂抹').locator('strong')
  await page.keyboard.press('Space')
  const once = await painted.textContent()
  assert.notEqual(once, '0.0%')
  await page.keyboard.press('Shift+ArrowRight')
  await page.keyboard.press('Space')
  await expect(painted).not.toHaveText(once ?? '')
  await page.keyboard.press('Control+z')
  await expect(painted).toHaveText(once ?? '')
  await page.keyboard.press('Control+z')
  await expect(painted).toHaveText('0.0%')
  await page.keyboard.press('Control+Shift+z')
  await expect(painted).toHaveText(once ?? '')
  await page.keyboard.press('i')
  await page.keyboard.press('Backspace')
  await expect(painted).toHaveText('0.0%')
  await assertAccessible(page, 'the painter in Chinese and dark')
})
