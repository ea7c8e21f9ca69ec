/**
 * A batch from a file that the browser reads: chosen, dropped or pasted, its column and model chosen, its cost seen, run to its end and
 * downloaded; paused and resumed; refused by a budget.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { openCorpus } from 'torana-bulk/open-corpus'
import { BatchCaller, embeddingLines } from '../../server/test/support/batches.ts'
import { NODE_TOKEN } from '../../server/test/support/console-node.ts'
import { runTorana, temporaryFolder } from '../../server/test/support/process.ts'
import { assertAccessible, expect, nodeOfFile, test, type Fixtures } from './support/test.ts'

const KEY = 'console-test-key-indexer-0001'
const SMALL_KEY = 'console-test-key-small-0001'
const node = nodeOfFile({
  models: {
    'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 10 } },
    'slow-w16': { on: 'slow-3000', price: { usdPerMillionTokens: 10 }, deploymentLimits: { concurrency: 1 } },
  },
  known: { 'text-embedding-3-small': {} },
  projects: {
    search: {
      budget: { usd: 400, per: 'month', hard: true },
      keys: [{ name: 'indexer', secret: KEY }],
    },
    small: { budget: { usd: 0.000_02, per: 'month', hard: true }, keys: [{ name: 'k', secret: SMALL_KEY }] },
  },
})

const ARTICLES = [
  'id,title,body,lang',
  'KB-1,Cancel an order,"You can cancel an order, until it leaves our warehouse.",en',
  'KB-2,Refunds,Refunds go to the card you paid with.,en',
  'KB-3,Größentabelle,Unsere Größen entsprechen der EU-Norm.,de',
  'KB-4,Empty,,en',
  'KB-5,Gift receipts,Add a gift receipt at checkout.,en',
].join('\n')

/** A person with a session: the browser itself loads what is downloaded, with its cookie. */
const MARIA = {
  member: { role: 'operator', name: 'Maria Keller', email: 'maria.keller@example.com' },
} as const

type Open = Fixtures['openConsole']

async function openNewBatch(openConsole: Open, project = 'search', options = {}) {
  const opened = await openConsole(node, { ...MARIA, ...options })
  await opened.go(`/batches/new?project=${project}`)
  return opened
}

async function choose(page: Page, text = ARTICLES, name = 'support-articles.csv'): Promise<void> {
  const file = { name, mimeType: 'text/csv', buffer: Buffer.from(text) }
  await page.locator('input[type=file]').first().setInputFiles(file)
}

async function pick(page: Page, field: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: field, exact: true }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

const runButton = (page: Page) => page.getByRole('button', { name: /^Run batch/ })

async function vectorsOf(page: Page, item: string): Promise<Buffer> {
  await page.getByRole('button', { name: 'Download', exact: true }).click()
  const downloading = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: item }).click()
  return readFileSync(await (await downloading).path())
}

test('a CSV file is read, estimated, run as a key, and its vectors are downloaded in three formats', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node, MARIA)
  await go('/batches?project=search')
  await page.getByRole('link', { name: 'New batch' }).first().click()
  await expect(page).toHaveURL(/\/batches\/new/)
  await choose(page)
  await expect(page.getByText('Read', { exact: true })).toBeVisible()
  await expect(page.getByText(/5 rows, UTF-8, comma-separated, header row/)).toBeVisible()
  // The head of a column chooses the text.
  await page.getByRole('button', { name: 'Use title as text column' }).click()
  await expect(page.getByRole('combobox', { name: 'Text column' })).toContainText('title')
  await page.getByRole('button', { name: 'Use body as text column' }).click()
  await expect(page.getByRole('combobox', { name: 'ID column' })).toContainText('id')
  await expect(page.getByText('All unique.')).toBeVisible()
  await pick(page, 'Model', 'plain-w16')
  await pick(page, 'Run as', 'search/indexer')
  const estimate = page.getByRole('complementary')
  await expect(estimate).toContainText('1 skipped')
  await expect(page.getByText('1 empty')).toBeVisible()
  await expect(estimate).toContainText('of $400.00 left')
  await expect(page.getByText(/torana batch run support-articles.csv/)).toBeVisible()
  await runButton(page).click()
  await expect(page).toHaveURL(/\/batches\/batch_/)
  await expect(page.getByText('4 of 4', { exact: true })).toBeVisible({ timeout: 30_000 })
  await expect(page.getByText('Completed')).toBeVisible({ timeout: 30_000 })
  await expect(page.getByRole('complementary')).toContainText('search/indexer')
  const lines = (await vectorsOf(page, 'Vectors as JSONL')).toString('utf8').trim().split('\n')
  const rows = lines.map((line) => JSON.parse(line) as { id: string; vector: number[] })
  assert.deepEqual(
    rows.map(({ id, vector }) => [id, vector.length]),
    ['KB-1', 'KB-2', 'KB-3', 'KB-5'].map((id) => [id, 16]),
  )
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'support-articles.csv'), ARTICLES)
  const columns = ['--model', 'plain-w16', '--text', 'body', '--id', 'id']
  const run = runTorana({
    folder,
    args: ['batch', 'run', 'support-articles.csv', ...columns, '--out', 'vectors.npy'],
    env: { TORANA_BASE_URL: `${node.url}/v1`, TORANA_KEY: KEY },
  })
  assert.equal(await run.exit, 3, run.stderr())
  const byCommand = readFileSync(join(folder, 'vectors.npy'))
  assert.deepEqual(await vectorsOf(page, 'Vectors as NPY'), byCommand, 'bit for bit')
  const parquet = join(folder, 'vectors.parquet')
  writeFileSync(parquet, await vectorsOf(page, 'Vectors as Parquet'))
  const table: object[] = []
  for await (const { id, vector } of (await openCorpus(parquet)).rows(0))
    table.push({ id, vector: [...(vector as Iterable<number>)] })
  assert.deepEqual(table, rows)
  assert.deepEqual(complaints, [])
})

test('a hundred thousand rows are read and sent piece by piece, and the page says how far it is', async ({
  openConsole,
}) => {
  const { page, asked } = await openNewBatch(openConsole)
  const file = join(temporaryFolder(), 'large.csv')
  const row = (index: number): string => `doc ${index},"${'some words of a text '.repeat(9)}${index}"\n`
  writeFileSync(file, `id,text\n${Array.from({ length: 100_000 }, (_, index) => row(index)).join('')}`)
  await page.evaluate(() => {
    const shown = new Set<string>()
    Object.assign(globalThis, { toranaProgress: shown })
    new MutationObserver(() => {
      for (const [said] of document.body.innerText.matchAll(/(?:Read|Sent) [\d.]+ \w+ of/g)) shown.add(said)
    }).observe(document.body, { characterData: true, subtree: true, childList: true })
  })
  await page.locator('input[type=file]').first().setInputFiles(file)
  await expect(page.getByText(/^19\.7 MB, 100,000 rows/)).toBeVisible()
  await pick(page, 'Model', 'plain-w16')
  await expect(page.getByRole('complementary')).toContainText('100,000')
  await runButton(page).click()
  await expect(page).toHaveURL(/\/batches\/batch_/, { timeout: 60_000 })
  await expect(page.getByText(/ of 100,000$/).first()).toBeVisible()
  const shown = await page.evaluate(() => [
    ...(globalThis as unknown as { toranaProgress: Set<string> }).toranaProgress,
  ])
  for (const what of ['Read', 'Sent'])
    assert.ok(shown.filter((said) => said.startsWith(what)).length >= 3, shown.join(', '))
  assert.ok(asked.filter((url) => /\/uploads\/[^/]+\/parts$/.test(url)).length >= 3)
})

test('a Parquet file and a JSONL file are read as a CSV file is', async ({ openConsole }) => {
  const { page } = await openNewBatch(openConsole)
  const columnData = [
    { name: 'sku', data: [1n, 2n], type: 'INT64' as const },
    { name: 'text', data: ['a red chair', 'a blue lamp'], type: 'STRING' as const },
  ]
  const buffer = Buffer.from(parquetWriteBuffer({ columnData }))
  const input = page.locator('input[type=file]').first()
  await input.setInputFiles({ name: 'products.parquet', mimeType: 'application/octet-stream', buffer })
  await expect(page.getByText(/2 rows, Parquet/)).toBeVisible()
  await expect(page.getByRole('region', { name: 'First rows of the file' })).toContainText('a blue lamp')
  await choose(page, '{"text":"a cat"}\n{"text":"a dog"}\n', 'pets.jsonl')
  await expect(page.getByText(/2 rows, UTF-8, JSONL/)).toBeVisible()
})

test('rows that are too long are cut to what the model reads, or left out', async ({ openConsole }) => {
  const long = 'many words of a long text '.repeat(2000)
  for (const [rows, lines] of [
    ['Skip', 2],
    ['Truncate', 3],
  ] as const) {
    const { page } = await openNewBatch(openConsole)
    await choose(page, `id,text\n1,short\n2,${long}\n3,\n4,also short\n`)
    await pick(page, 'Model', 'text-embedding-3-small')
    await page.getByRole('button', { name: rows, exact: true }).click()
    await expect(page.getByText('1 empty, 1 over 8,192 tokens')).toBeVisible()
    await runButton(page).click()
    await expect(page).toHaveURL(/\/batches\/batch_/)
    await expect(page.getByText(`${lines} of ${lines}`, { exact: true })).toBeVisible()
    await expect(page.getByText('Completed')).toBeVisible()
  }
})

test('an upload that a person stops leaves no batch, and can begin again', async ({ openConsole }) => {
  const { page } = await openNewBatch(openConsole)
  await choose(page)
  await pick(page, 'Model', 'plain-w16')
  const held = Promise.withResolvers<void>()
  await page.route('**/playground/uploads/*/parts', async (route) => {
    await held.promise
    // The page has given it up by then.
    await route.abort().catch(() => undefined)
  })
  const cancelled = page.waitForResponse(/playground\/uploads\/[^/]+\/cancel$/)
  await runButton(page).click()
  await page.getByRole('button', { name: 'Stop sending' }).click()
  assert.equal((await cancelled).status(), 200)
  held.resolve()
  await page.unroute('**/playground/uploads/*/parts')
  await expect(page.getByText('Read', { exact: true })).toBeVisible()
  await runButton(page).click()
  await expect(page).toHaveURL(/\/batches\/batch_/)
})

test('a run whose answer is lost is one batch when it is sent again', async ({ openConsole }) => {
  const { page } = await openNewBatch(openConsole)
  await choose(page)
  await pick(page, 'Model', 'plain-w16')
  const created: string[] = []
  await page.route('**/api/v1/batches', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    const answer = await route.fetch()
    created.push(((await answer.json()) as { id: string }).id)
    return created.length === 1 ? route.abort() : route.fulfill({ response: answer })
  })
  await runButton(page).click()
  await expect(page.getByRole('alert')).toBeVisible()
  await runButton(page).click()
  await expect(page).toHaveURL(/\/batches\/batch_/)
  assert.deepEqual([created.length, new Set(created).size], [2, 1])
})

test('a reload keeps every choice for the file that is chosen next; another replaces it, dropped anywhere', async ({
  openConsole,
}) => {
  const { page } = await openNewBatch(openConsole)
  await choose(page)
  await pick(page, 'Model', 'plain-w16')
  await pick(page, 'ID column', 'Row number')
  await page.getByRole('button', { name: '6 h', exact: true }).click()
  await page.getByRole('button', { name: 'NPY', exact: true }).click()
  await expect(page.getByText('of $400.00 left')).toBeVisible()
  await page.reload()
  await expect(page.getByRole('combobox', { name: 'Model', exact: true })).toContainText('plain-w16')
  await choose(page)
  await expect(page.getByText('support-articles.csv', { exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: 'NPY', exact: true })).toHaveAttribute('aria-pressed', 'true')
  const files = await page.evaluateHandle(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File(['{"text":"a cat"}\n{"text":"a dog"}\n'], 'pets.jsonl'))
    return transfer
  })
  await page.dispatchEvent('body', 'dragover', { dataTransfer: files })
  await expect(page.getByText('Drop the file to use it')).toBeVisible()
  await page.dispatchEvent('body', 'drop', { dataTransfer: files })
  await expect(page.getByText('pets.jsonl', { exact: true })).toBeVisible()
  await expect(page.getByText(/2 rows, UTF-8, JSONL/)).toBeVisible()
  await expect(page.getByRole('combobox', { name: 'Text column' })).toContainText('text')
})

test('by keyboard alone: text is pasted, a model chosen, the batch run with Ctrl and Enter', async ({
  openConsole,
}) => {
  const { page } = await openNewBatch(openConsole)
  await page.getByRole('button', { name: 'Paste text' }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Paste text' })
  await dialog.getByLabel('Text', { exact: true }).focus()
  await page.keyboard.insertText('a cat\na dog\na heron at dawn')
  await expect(dialog.getByRole('button', { name: 'One text per line' })).toHaveAttribute(
    'aria-pressed',
    'true',
  )
  await dialog.getByRole('button', { name: 'Use text' }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByText(/3 rows/).first()).toBeVisible()
  await page.getByRole('combobox', { name: 'Model', exact: true }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('option', { name: 'plain-w16' })).toBeVisible()
  await page.keyboard.press('p')
  await page.keyboard.press('Enter')
  await expect(runButton(page)).not.toHaveAttribute('aria-disabled', 'true')
  await page.keyboard.press('Control+Enter')
  await expect(page).toHaveURL(/\/batches\/batch_/)
})

test('a batch over the budget can’t be run: the page says by how much, and leads to the budget', async ({
  openConsole,
}) => {
  const { page } = await openNewBatch(openConsole, 'small')
  await choose(page)
  await pick(page, 'Model', 'plain-w16')
  await expect(page.getByText(/^Exceeds the budget for small by \$/)).toBeVisible()
  await expect(runButton(page)).toHaveAttribute('aria-disabled', 'true')
  await page.getByRole('link', { name: 'Change budget' }).click()
  await expect(page).toHaveURL(/\/budgets\/project\/small/)
})

test('a file that can’t be read is named with the reason, and the one before stays', async ({
  openConsole,
}) => {
  const { page } = await openNewBatch(openConsole)
  await choose(page)
  await expect(page.getByText('Read', { exact: true })).toBeVisible()
  for (const [name, text] of [
    ['broken.jsonl', '{"text": "a cat"}\n{"text": '],
    ['header-only.csv', 'id,text\n'],
  ] as const) {
    await choose(page, text, name)
    await expect(page.getByRole('alert')).toContainText(`${name}: `)
    await expect(page.getByText('support-articles.csv', { exact: true })).toBeVisible()
  }
})

test('a batch is paused with a reason and resumed; the page names the person, and the audit has both', async ({
  openConsole,
}) => {
  const caller = new BatchCaller(node.url, KEY)
  const texts = Array.from({ length: 400 }, (_, index) => `text ${index}`)
  const { id } = await caller.create(await caller.upload(embeddingLines('slow-w16', texts)))
  const { page, go } = await openConsole(node, MARIA)
  await go(`/batches/${id}`)
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await page.getByLabel('Reason', { exact: true }).fill('the index is being rebuilt')
  await page.getByRole('button', { name: 'Pause batch' }).click()
  await expect(page.getByText(/^Paused by .*maria\.keller@example\.com/)).toBeVisible()
  await expect(page.getByText('Reason: the index is being rebuilt')).toBeVisible()
  await page.getByRole('button', { name: 'Resume' }).click()
  await expect(page.getByText(/^Paused by/)).toBeHidden()
  await expect(page.getByRole('button', { name: 'Pause', exact: true })).toBeVisible()
  const { body } = await node.control('GET', `/audit?target=${id}`, { token: NODE_TOKEN })
  assert.deepEqual(
    (body['data'] as { action: string }[]).map(({ action }) => action),
    ['batch.resume', 'batch.pause'],
  )
})

for (const theme of ['light', 'dark'] as const)
  for (const size of ['desktop', 'phone'] as const)
    test(`empty and filled, the page is accessible: ${theme}, ${size}`, async ({ openConsole }) => {
      const language = size === 'phone' ? 'zh' : 'en'
      const { page } = await openNewBatch(openConsole, 'search', { theme, size, language })
      await assertAccessible(page, '/batches/new')
      await choose(page)
      await page.locator('table').waitFor()
      await page.getByRole('combobox').nth(2).click()
      await page.getByRole('option', { name: 'plain-w16' }).click()
      await expect(page.getByText(/400\.00/).first()).toBeVisible()
      await assertAccessible(page, '/batches/new with a file')
      const wide = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      )
      assert.equal(wide, 0, 'nothing is wider than the screen')
    })
