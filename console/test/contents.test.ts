/** Images in the playground of vectors: how they come in, what is refused before anything is sent, what is sent, and what is shown. */
import assert from 'node:assert/strict'
import type { Locator, Page } from '@playwright/test'
import sharp from 'sharp'
import { contentVector } from '../../lab/fake-provider/contents.ts'
import { assertAccessible, expect as expectWithin, nodeOfFile, test } from './support/test.ts'

const expect = expectWithin.configure({ timeout: 20_000 })

const node = nodeOfFile({
  models: {
    'sight-w64': {
      on: 'plain',
      upstream: { base: 'openrouter/api/v1' },
      capabilities: {
        contents: {
          wire: 'openrouter',
          inputs: ['text', 'image'],
          fuses: true,
          maxParts: 3,
          formats: ['png', 'jpeg'],
        },
      },
    },
    'plain-w64': { on: 'plain' },
  },
})

interface File {
  readonly name: string
  readonly mimeType: string
  readonly buffer: Buffer
}

async function png(name: string, background: string): Promise<File> {
  const image = sharp({ create: { width: 60, height: 40, channels: 3, background } })
  return { name, mimeType: 'image/png', buffer: await image.png().toBuffer() }
}

const HEIC: File = {
  name: 'phone.heic',
  mimeType: 'image/heic',
  buffer: Buffer.from('\0\0\0\u0018ftypheic\0\0\0\0mif1heic', 'latin1'),
}

/** As if a file of this computer were dropped. */
async function drop(page: Page, on: Locator, { name, mimeType, buffer }: File): Promise<void> {
  const dataTransfer = await page.evaluateHandle(
    ([fileName, type, base64]) => {
      const transfer = new DataTransfer()
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.codePointAt(0) ?? 0)
      transfer.items.add(new File([bytes], fileName, { type }))
      return transfer
    },
    [name, mimeType, buffer.toString('base64')] as const,
  )
  await on.dispatchEvent('drop', { dataTransfer })
}

function firstEight(vector: Float32Array): string {
  return Array.from(vector.subarray(0, 8), (value) => value.toFixed(6)).join(', ')
}

const choose = (page: Page): Locator => page.locator('main input[type=file][multiple]')
const line = (page: Page, number: number): Locator => page.locator(`[data-line="${number - 1}"]`)

async function startEmpty(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await expect(page.locator('[data-line]')).toHaveCount(1)
}

test('images are chosen, dropped on a line, split and joined again, and each input is sent as one content', async ({
  openConsole,
}) => {
  const { page, go, complaints, asked } = await openConsole(node)
  await go('/playground/embeddings?model=sight-w64')
  await expect(page.getByRole('list', { name: 'What this model takes' })).toHaveText('textimage')
  await startEmpty(page)
  await line(page, 1).getByRole('textbox').fill('#sea')
  await page.keyboard.press('Enter')
  await page.keyboard.type('a blue deckchair')
  const [red, blue] = [await png('red.png', '#c00'), await png('blue.png', '#00c')]
  await choose(page).setInputFiles([red])
  await expect(line(page, 3)).toContainText('60 × 40')
  await drop(page, line(page, 2), blue)
  await expect(page.getByText('2 inputs in 1 group: 1 image, 1 joined.')).toBeVisible()
  // By keyboard: out of the input, and back to the line above.
  await page.getByRole('group', { name: 'blue.png' }).focus()
  await page.keyboard.press('Alt+ArrowUp')
  await expect(page.getByText('3 inputs in 1 group: 2 images, 1 text.')).toBeVisible()
  await line(page, 3).getByRole('button', { name: 'Join to the line above' }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByText('2 inputs in 1 group: 1 image, 1 joined.')).toBeVisible()
  await page.keyboard.press('Control+Enter')
  await expect(page.getByText(/^\d+ text, \d+ image$/)).toBeVisible()
  await expect(page.getByText('Line 2: 2 parts, one vector')).toBeVisible()
  await expect(page.getByText('takes no images')).toBeVisible()
  // The vector of exactly these bytes: the upstream got them unchanged, and with the text as one content.
  await page.getByRole('link', { name: 'Raw', exact: true }).click()
  await expect(page.getByText(firstEight(contentVector(['a blue deckchair', blue.buffer], 64)))).toBeVisible()
  await page.getByRole('button', { name: 'Next text' }).click()
  await expect(page.getByText(firstEight(contentVector([red.buffer], 64)))).toBeVisible()
  await page.getByRole('link', { name: 'Code', exact: true }).click()
  await expect(page.locator('pre')).toContainText('"url":"data:image/png;base64,…"')
  assert.deepEqual(complaints, [])
  assert.ok(asked.every((address) => !address.includes('.png')))
})

test('what a model does not take is said at its line, and nothing is sent', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/playground/embeddings?model=sight-w64')
  await startEmpty(page)
  await choose(page).setInputFiles([HEIC, await png('red.png', '#c00')])
  await expect(line(page, 1)).toContainText('HEIC: this model takes PNG and JPEG')
  const { calls } = node.provider.counters()
  await page.keyboard.press('Control+Enter')
  const embed = page.getByRole('button', { name: /^Embed/ })
  await expect(embed).toBeDisabled()
  await embed.hover()
  await expect(page.getByText('1 input can’t be sent to this model.').first()).toBeVisible()
  assert.equal(node.provider.counters().calls, calls)
  await page.getByRole('group', { name: 'phone.heic' }).focus()
  await line(page, 1).getByRole('button', { name: 'Remove phone.heic' }).click()
  await expect(page.getByText('HEIC')).toBeHidden()
  // The same images with a model of texts.
  await page.getByRole('combobox', { name: 'Model' }).click()
  await page.getByRole('option', { name: /plain-w64/ }).click()
  await expect(line(page, 1)).toContainText('this model takes no images')
})

test('images stay in this browser until they are cleared', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/playground/embeddings?model=sight-w64')
  await startEmpty(page)
  await choose(page).setInputFiles([await png('kept.png', '#0a0')])
  await expect(line(page, 1)).toContainText('60 × 40')
  await page.getByRole('button', { name: 'Add a URL' }).click()
  await page.getByLabel('URL of an image').fill('https://example.com/pier.jpg')
  await page.keyboard.press('Enter')
  await expect(line(page, 2)).toContainText('pier.jpg')
  await page.waitForTimeout(800)
  await page.reload()
  await expect(line(page, 1)).toContainText('60 × 40')
  await expect(line(page, 2)).toContainText('pier.jpg')
  await startEmpty(page)
  const kept = (): Promise<number> =>
    page.evaluate(async () => {
      const { promise, resolve } = Promise.withResolvers<number>()
      const opened = indexedDB.open('torana.playground')
      opened.onsuccess = () => {
        const counted = opened.result.transaction('media').objectStore('media').count()
        counted.onsuccess = () => resolve(counted.result)
      }
      return promise
    })
  await expect.poll(kept).toBe(0)
})

test('a search goes by words or by an image, and the nearest are shown by kind', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/playground/embeddings?model=sight-w64')
  await startEmpty(page)
  await line(page, 1).getByRole('textbox').fill('waves at dusk')
  const red = await png('red.png', '#c00')
  await choose(page).setInputFiles([red, await png('blue.png', '#00c')])
  await expect(page.locator('[data-line]')).toHaveCount(3)
  await page.keyboard.press('Control+Enter')
  await expect(page.getByRole('figure', { name: /Map of 3/ })).toBeVisible()
  await page.getByRole('button', { name: 'Search by an image' }).waitFor()
  await page.locator('form input[type=file]').setInputFiles([red])
  const nearest = page.locator('aside ol li')
  await expect(nearest.first()).toContainText('red.png')
  await expect(nearest.first()).toContainText(/0\.999|1\.000/)
  await expect(page.getByText('Compare within a kind.')).toBeVisible()
  await page.getByRole('button', { name: 'Images 2' }).click()
  await expect(nearest).toHaveCount(2)
  await page.getByRole('button', { name: 'Texts 1' }).click()
  await expect(nearest).toHaveText([/waves at dusk/])
})

for (const [theme, size] of [
  ['light', 'desktop'],
  ['dark', 'desktop'],
  ['light', 'phone'],
] as const)
  test(`no part has a grave problem of accessibility: ${theme}, ${size}`, async ({ openConsole }) => {
    const { page, go } = await openConsole(node, { theme, size })
    await go('/playground/embeddings?model=sight-w64')
    await startEmpty(page)
    await line(page, 1).getByRole('textbox').fill('a red square')
    await drop(page, line(page, 1), await png('red.png', '#c00'))
    await choose(page).setInputFiles([HEIC])
    await expect(line(page, 2)).toContainText('HEIC')
    await assertAccessible(page, 'before anything is embedded')
    await line(page, 2).getByRole('group').focus()
    await page.keyboard.press('Delete')
    await page.keyboard.press('Control+Enter')
    await expect(page.getByRole('figure', { name: /Map of/ })).toBeVisible()
    await assertAccessible(page, 'map')
    if (size === 'desktop') return
    // The result comes first; the form opens in a sheet.
    await expect(page.locator('[data-line]')).toHaveCount(0)
    await page.getByRole('button', { name: 'Inputs' }).click()
    await expect(line(page, 1)).toContainText('red.png')
    await assertAccessible(page, 'form')
  })
