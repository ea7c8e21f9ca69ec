/** The playground of vectors: from an empty folder to a first vector, every way to look, nothing that leaves the browser. */
import { readFileSync } from 'node:fs'
import assert from 'node:assert/strict'
import type { Page } from '@playwright/test'
import { vectorOf } from '../../lab/fake-provider/vectors.ts'
import { assertAccessible, expect as expectWithin, nodeOfFile, test } from './support/test.ts'

/** On a machine that does other things too, a page may take its time to come back. */
const expect = expectWithin.configure({ timeout: 20_000 })

const node = nodeOfFile({
  models: {
    'plain-w96': { on: 'plain' },
    'plain-w64': { on: 'plain' },
    'cut-w256': { on: 'plain', embedding: { matryoshka: true } },
  },
})
/** As from an empty folder: only the demo models. */
const empty = nodeOfFile({ file: false })

const ANSWERED_MS = 30_000

async function embedded(page: Page): Promise<void> {
  await expect(page.getByRole('link', { name: 'View request' })).toBeVisible({ timeout: ANSWERED_MS })
  await expect(page.getByRole('figure', { name: /Map of/ })).toBeVisible({ timeout: ANSWERED_MS })
}

test('from an empty folder, the first vectors are two clicks after sign-in', async ({ openConsole }) => {
  const { page, go, complaints } = await openConsole(empty)
  await go('/')
  let clicks = 0
  const click = async (role: 'link' | 'button', name: RegExp): Promise<void> => {
    clicks += 1
    await page.getByRole(role, { name }).click()
  }
  await click('link', /^Embeddings$/)
  await click('button', /^Embed /)
  await embedded(page)
  assert.ok(clicks <= 5, `${clicks} clicks`)
  await expect(page.getByText('served by')).toBeVisible()
  await expect(page.getByText(/^PC 1, \d+\.\d% of variance$/)).toBeVisible()
  assert.deepEqual(complaints, [])
})

test('texts, groups and CSV are counted, and what is typed stays in this browser alone', async ({
  openConsole,
}) => {
  const { page, go, asked } = await openConsole(node)
  await go('/playground/embeddings?model=plain-w96')
  const field = page.getByLabel('Texts (one per line)')
  await field.fill('#fruit\napple\npear\n#tools\nhammer')
  await expect(page.getByText('3 texts in 2 groups.')).toBeVisible()
  await page.getByRole('button', { name: 'Paste CSV' }).click()
  await page.getByLabel('CSV rows').fill('text,label\n"sea, deep",water\nlake,water\nhill,land')
  await page.getByRole('button', { name: 'Use these rows' }).click()
  await expect(field).toHaveValue('#water\nsea, deep\nlake\n#land\nhill')
  await page.waitForTimeout(800)
  await page.reload()
  await expect(field).toHaveValue('#water\nsea, deep\nlake\n#land\nhill')
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await page.reload()
  await expect(field).toHaveValue(/^#billing/)
  assert.ok(asked.every((url) => !/sea|lake/.test(url)))
})

test('the map, the search and the raw view tell what the upstream answered', async ({ openConsole }) => {
  const { page, go, complaints, asked } = await openConsole(node)
  await go('/playground/embeddings?model=plain-w96')
  const texts = Array.from({ length: 14 }, (_, index) => `text number ${index}`)
  await page.getByLabel('Texts (one per line)').fill(texts.join('\n'))
  await page.keyboard.press('Control+Enter')
  await embedded(page)
  // The query is word for word one of the texts: with it, the cosine is one.
  await page.getByLabel('Query').fill('text number 3')
  await page.keyboard.press('Enter')
  const first = page.locator('aside ol li').first()
  await expect(first).toContainText('text number 3')
  await expect(first).toContainText(/0\.999|1\.000/)
  const [a, b] = [vectorOf('text number 3', 96), vectorOf('text number 5', 96)]
  const cosine = a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
  await page.getByRole('link', { name: 'Search', exact: true }).click()
  await expect(page.getByRole('listitem').filter({ hasText: 'text number 5' })).toContainText(
    (Math.trunc(cosine * 1000) / 1000).toFixed(3).replace('-', '−'),
  )
  await page.getByRole('link', { name: 'Raw', exact: true }).click()
  const shown = Array.from(vectorOf('text number 0', 96).subarray(0, 8), (value) => value.toFixed(6)).join(
    ', ',
  )
  await expect(page.getByText(shown)).toBeVisible()
  await expect(page.getByText('plain-w96@96:')).toBeVisible()
  assert.deepEqual(complaints, [])
  assert.ok(asked.every((url) => !url.includes('number')))
})

test('the slider cuts in the browser: no call is made, and full width keeps everything', async ({
  openConsole,
}) => {
  const { page, go, asked } = await openConsole(node)
  await go('/playground/embeddings?model=plain-w96')
  await page
    .getByLabel('Texts (one per line)')
    .fill(Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n'))
  await page.keyboard.press('Control+Enter')
  await embedded(page)
  const calls = (): number =>
    asked.filter((url) => url.includes('/playground/embeddings') && url.includes('/api/')).length
  const before = calls()
  await expect(page.getByText('keeps 100.0% of top-10 neighbours')).toBeVisible()
  const slider = page.getByLabel('Vector dimensions')
  await slider.focus()
  await page.keyboard.press('Home')
  await expect(page.getByText(/^keeps (?!100)\d+\.\d% of top-10/)).toBeVisible()
  await expect(page).toHaveURL(/width=2\b/)
  await page.keyboard.press('End')
  await expect(page.getByText('keeps 100.0% of top-10 neighbours')).toBeVisible()
  await expect(page).not.toHaveURL(/width=/)
  assert.equal(calls(), before)
})

test('the types tab measures in the browser which smaller vector is enough, and writes it into the code', async ({
  openConsole,
}) => {
  const { page, go, asked, complaints } = await openConsole(node)
  await go('/playground/embeddings?model=cut-w256&view=types&sdk=curl')
  const field = page.getByLabel('Texts (one per line)')
  await field.fill(Array.from({ length: 18 }, (_, index) => `line ${index}`).join('\n'))
  await page.keyboard.press('Control+Enter')
  await expect(page.getByText(/^With 18 inputs, the ten nearest are too large a part of all/)).toBeVisible({
    timeout: ANSWERED_MS,
  })
  await field.fill(Array.from({ length: 60 }, (_, index) => `line ${index}`).join('\n'))
  await page.keyboard.press('Control+Enter')
  // Numbers as if by chance have no narrower width and no coarser type that is nearly as good.
  const finding = 'Nothing smaller than float16 keeps 95%. float16 at 256 halves the bytes and keeps 100.0%.'
  const chart = page.getByRole('figure', { name: finding })
  await expect(chart).toBeVisible({ timeout: ANSWERED_MS })
  const calls = (): number =>
    asked.filter((url) => url.includes('/playground/embeddings') && url.includes('/api/')).length
  const before = calls()
  const table = page.getByRole('region', { name: /Bytes per vector/ }).getByRole('table')
  await expect(table.getByRole('columnheader')).toHaveText([
    'Type',
    '256',
    '128',
    '64',
    '32',
    '16',
    'Made by',
    'Stored as',
  ])
  await expect(table.getByRole('row', { name: /^float 100/ })).toContainText('1.0 KB')
  await chart.focus()
  await page.keyboard.press('ArrowRight')
  await expect(chart.locator('[aria-live]')).toHaveText(/^float at 16: 64 B, \d+\.\d% kept$/)
  await page.keyboard.press('t')
  await expect(chart.getByRole('row')).toHaveCount(21)
  await page.keyboard.press('t')
  await page.getByRole('button', { name: '99%' }).click()
  await expect(page).toHaveURL(/keep=99/)
  await expect(page.getByText('99% and more')).toBeVisible()
  await page.getByRole('button', { name: 'Use in code' }).click()
  const code = page.locator('pre').filter({ hasText: 'curl' })
  await expect(code).toContainText('"output_dtype": "float16", "input"')
  await page.getByRole('button', { name: 'int8' }).click()
  await expect(code).toContainText('"output_dtype": "int8", "input"')
  await expect(page.getByText('whose upstream makes it')).toBeVisible()
  await expect(page).toHaveURL(/type=int8/)
  assert.equal(calls(), before)
  assert.deepEqual(complaints, [])
})

test('two models are compared side by side, as two spaces', async ({ openConsole }) => {
  const { page, go, complaints } = await openConsole(node)
  await go('/playground/embeddings?model=plain-w96&view=compare&against=plain-w64')
  await page.getByRole('button', { name: /^Embed / }).click()
  await expect(page.getByText('Vectors from different models aren’t comparable')).toBeVisible({
    timeout: ANSWERED_MS,
  })
  await page.getByRole('button', { name: 'Run comparison' }).click()
  await expect(page.getByRole('figure', { name: 'Map of plain-w96.' })).toBeVisible({
    timeout: ANSWERED_MS,
  })
  await expect(page.getByRole('figure', { name: 'Map of plain-w64.' })).toBeVisible()
  await expect(page.getByText('same neighbours')).toBeVisible()
  assert.deepEqual(complaints, [])
})

test('vectors are saved as a file, and the code names the texts as typed', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/playground/embeddings?model=plain-w64&view=code&sdk=curl')
  await page.getByLabel('Texts (one per line)').fill('it’s "one"\nit is two')
  await page.keyboard.press('Control+Enter')
  await expect(page.locator('pre').filter({ hasText: 'curl' })).toContainText(
    String.raw`"input": ["it’s \"one\"", "it is two"]`,
    { timeout: ANSWERED_MS },
  )
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Vectors', exact: true }).click(),
  ])
  assert.equal(download.suggestedFilename(), 'plain-w64.jsonl')
  const lines = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\n')
  const [one] = lines.map((line) => JSON.parse(line) as { text: string; embedding: number[] })
  assert.equal(lines.length, 2)
  assert.equal(one?.text, 'it’s "one"')
  assert.deepEqual(Float32Array.from(one.embedding), vectorOf('it’s "one"', 64))
})

test('everything works by keyboard, and each picture has a table', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/')
  await page.keyboard.press('g')
  await page.keyboard.press('e')
  await expect(page.locator('h1')).toHaveText('Embeddings')
  await page.getByLabel('Texts (one per line)').focus()
  await page.keyboard.press('Control+Enter')
  await embedded(page)
  const map = page.getByRole('figure', { name: /Map of/ })
  await map.focus()
  await page.keyboard.press('ArrowRight')
  await expect(map.locator('[aria-live]')).toHaveText(/^I was charged twice this month, billing\. Nearest:/)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('t')
  await expect(map.getByRole('table')).toBeVisible()
  await expect(map.getByRole('row')).toHaveCount(34)
  await page.keyboard.press('t')
  // The chart is drawn again, not only its frame.
  await expect
    .poll(() => map.locator('canvas').evaluate((canvas) => (canvas as HTMLCanvasElement).width))
    .toBeGreaterThan(300)
  await page.getByRole('link', { name: 'Similarity', exact: true }).focus()
  await page.keyboard.press('Enter')
  const heat = page.getByRole('figure', { name: /Similarity of 33 texts/ })
  await heat.focus()
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown', 'Enter']) await page.keyboard.press(key)
  await expect(heat.locator('[aria-live]')).toHaveText(/ and .+: −?[01]\.\d+$/)
  await page.keyboard.press('t')
  await expect(heat.getByRole('row')).toHaveCount(34)
})

for (const [theme, language] of [
  ['light', 'en'],
  ['dark', 'zh'],
] as const)
  test(`no view has a grave problem of accessibility: ${theme}, ${language}`, async ({ openConsole }) => {
    const { page, go } = await openConsole(node, { theme, language })
    await go('/playground/embeddings?model=plain-w96')
    await assertAccessible(page, 'before anything is embedded')
    await page.keyboard.press('Control+Enter')
    await expect(page.locator('figure').first()).toBeVisible({ timeout: ANSWERED_MS })
    await assertAccessible(page, 'map')
    for (const view of [1, 2, 3, 4, 5, 6]) {
      await page.locator('main nav').last().getByRole('link').nth(view).click()
      await page.waitForTimeout(300)
      await assertAccessible(page, `view ${view}`)
    }
  })

test('a refusal is shown beside the form, and nothing that was typed is lost', async ({ openConsole }) => {
  const { page, go } = await openConsole(node, { role: 'developer', projects: ['default'] })
  await page.route('**/api/v1/playground/embeddings', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'content-type': 'application/json', 'retry-after': '7' },
      json: { error: { code: 'budget_exceeded', message: 'The budget of the project is used up.' } },
    }),
  )
  await go('/playground/embeddings?model=plain-w96')
  await page.getByLabel('Texts (one per line)').fill('kept')
  await page.keyboard.press('Control+Enter')
  await expect(page.getByRole('alert')).toContainText('The budget of the project is used up.')
  await expect(page.getByLabel('Texts (one per line)')).toHaveValue('kept')
})
