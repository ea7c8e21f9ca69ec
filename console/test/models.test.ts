/** Models: an upstream is connected from the page, its model answers an SDK, and a snippet works as it was copied. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import assert from 'node:assert/strict'
import { promisify } from 'node:util'
import OpenAI from 'openai'
import { cacheFolder, tiktokenFolder } from '../../lab/conformance/folders.ts'
import { startFakeProvider, type FakeProvider } from '../../lab/fake-provider/server.ts'
import { NODE_TOKEN } from '../../server/test/support/console-node.ts'
import { assertAccessible, expect, nodeOfFile, test, type Fixtures } from './support/test.ts'

const run = promisify(execFile)
const SECRET = 'sk-of-the-upstream-in-this-test-7c1e'
/** A new model is probed before it may answer. */
const SERVED_WITHIN_MS = 15_000

const node = nodeOfFile()
let provider: FakeProvider
let folder: string
test.beforeAll(async () => {
  provider = await startFakeProvider()
  folder = mkdtempSync(join(tmpdir(), 'torana-snippets-'))
  // As if one had installed it there.
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'))
})
test.afterAll(async () => {
  await provider.close()
  rmSync(folder, { recursive: true })
})

test('an upstream is connected from the page, and its model answers an SDK', async ({ openConsole }) => {
  const { page, go, complaints } = await openConsole(node)
  await go('/models')
  await page.getByRole('button', { name: 'Connect an upstream' }).first().click()
  await page.getByRole('button', { name: /Your own server/ }).click()
  await page.getByLabel('Address').fill(`${provider.url}/plain/v1`)
  await page.getByLabel('API key (optional)').fill(SECRET)
  await page.getByRole('button', { name: 'Check', exact: true }).click()
  await expect(page.getByRole('button', { name: /Checked in/ })).toBeVisible()
  await expect(page.getByRole('checkbox', { name: 'text-embedding-3-small' })).toBeChecked()
  await assertAccessible(page, 'the sheet that connects an upstream')
  await page.getByRole('checkbox', { name: 'text-embedding-ada-002' }).click()
  await page.getByRole('checkbox', { name: 'gpt-image-2' }).click()
  await page.getByRole('button', { name: 'Add 1 model', exact: true }).click()
  await expect(page.getByText('1 model added')).toBeVisible()
  await go('/models')
  await expect(page.getByRole('link', { name: /text-embedding-3-small/ })).toBeVisible()
  assert.deepEqual(complaints, [])

  const client = new OpenAI({ baseURL: `${node.url}/v1`, apiKey: node.key, maxRetries: 0 })
  await expect
    .poll(
      async () => {
        const answer = await client.embeddings
          .create({ model: 'text-embedding-3-small', input: ['cat'] })
          .catch(() => undefined)
        return answer?.data[0]?.embedding.length
      },
      { timeout: SERVED_WITHIN_MS },
    )
    .toBe(1536)
  const calls = provider.entries().filter(({ path }) => path.endsWith('/embeddings'))
  assert.ok(calls.every(({ authorization }) => authorization === SECRET.slice(-4)))
})

test('the secret of an upstream is in no answer and in no storage once it was sent', async ({
  openConsole,
}) => {
  const { page, go, context } = await openConsole(node)
  const bodies: string[] = []
  page.on('response', (response) => {
    if (response.url().includes('/api/v1/'))
      void response.text().then(
        (text) => bodies.push(text),
        () => {},
      )
  })
  await go('/models')
  await go('/models/text-embedding-3-small')
  await page.getByRole('link', { name: 'Prices' }).click()
  assert.ok(bodies.every((body) => !body.includes(SECRET)))
  assert.ok(!JSON.stringify(await context.storageState()).includes(SECRET))
})

/** What the button copies, with only the key put in. Only Chromium lets a test read the clipboard. */
async function copied(openConsole: Fixtures['openConsole'], sdk: string): Promise<string> {
  const { page, go, context } = await openConsole(node)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await go(`/models/plain-w16?sdk=${sdk}`)
  await page.locator('aside').getByRole('button', { name: 'Copy' }).first().click()
  const text = await page.evaluate(() => navigator.clipboard.readText())
  assert.ok(text.includes('tr_…') && text.includes(`${node.url}/v1`) && text.includes('plain-w16@16:'), text)
  return text.replaceAll('tr_…', node.key)
}

test('the snippets of curl and Node work as copied @chromium', async ({ openConsole }) => {
  const { stdout: answer } = await run('sh', ['-c', await copied(openConsole, 'curl')])
  const { data } = JSON.parse(answer) as { data: { embedding: number[] }[] }
  assert.deepEqual(
    data.map(({ embedding }) => embedding.length),
    [16, 16, 16],
  )
  const file = join(folder, 'snippet.mjs')
  writeFileSync(file, await copied(openConsole, 'node'))
  // Playwright asks for colors in everything it starts.
  const env = { ...process.env, FORCE_COLOR: '0' }
  assert.equal((await run(process.execPath, [file], { env })).stdout.trim(), '16')
})

/** Each in the virtual environment that the conformance matrix makes for it. */
const PYTHON = { python: 'python', langchain: 'python', llamaindex: 'python-llama-index' } as const
for (const [sdk, toolchain] of Object.entries(PYTHON)) {
  const python = join(cacheFolder, toolchain, 'bin/python')
  const missing = `${sdk} is not installed; npm run lab -- conformance/embeddings brings it`
  test(`the snippet of ${sdk} works as copied @chromium`, async ({ openConsole }) => {
    test.skip(!existsSync(python), missing)
    const file = join(folder, `${sdk}.py`)
    writeFileSync(file, await copied(openConsole, sdk))
    // LangChain counts tokens, with ranks that it would otherwise fetch from elsewhere.
    const env = { ...process.env, TIKTOKEN_CACHE_DIR: tiktokenFolder }
    assert.equal((await run(python, [file], { env })).stdout.trim(), '16')
  })
}

test('a model is found by keyboard alone, and its options are described in words', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go('/models')
  await page.keyboard.press('/')
  await page.keyboard.type('plain-w')
  await expect(page.getByRole('link', { name: /text-embedding-3-small/ })).toHaveCount(0)
  await page.keyboard.press('Escape')
  await go('/models?q=plain-w')
  await expect(page.getByRole('link', { name: /plain-w16/ })).toBeVisible()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await expect(page.locator('h1')).toHaveText('plain-w16')
  await expect(page.getByRole('row', { name: /base64/ })).toContainText('converted from numbers')
  for (const tab of ['Prices', 'Routing', 'Traffic', 'Space']) {
    await page.getByRole('link', { name: tab, exact: true }).click()
    await assertAccessible(page, tab)
  }
})

test('a member who may not connect an upstream sees why, and a missing model is reported', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node, { role: 'operator' })
  await go('/models')
  const button = page.getByRole('button', { name: 'Connect an upstream' }).first()
  await expect(button).toHaveAttribute('aria-disabled', 'true')
  await go('/models/nothing')
  await expect(page.getByText('Model nothing not found.')).toBeVisible()
})

test('models and their prices are one entry of the history', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/models')
  await page.getByRole('button', { name: 'Connect an upstream' }).first().click()
  await page.getByRole('button', { name: /Your own server/ }).click()
  await page.getByLabel('Address').fill(`${provider.url}/plain/v1`)
  await page.getByRole('button', { name: 'Check', exact: true }).click()
  await page.getByRole('button', { name: /^Declare (it|them) free/ }).click()
  // Of the first test, one is served already: it becomes a fallback, and waits for a save of its own.
  const add = page.getByRole('button', { name: /^Add \d+ models?/ })
  const [, count] = /^Add (\d+)/.exec(await add.innerText()) ?? []
  await add.click()
  await expect(add).toHaveCount(0)
  const { body } = await node.control('GET', '/configuration/changes', { token: NODE_TOKEN })
  const { data } = body as { readonly data: readonly { readonly objects: readonly { object: string }[] }[] }
  const kinds = data.map(({ objects }) => objects.map(({ object }) => object))
  assert.equal(kinds[0]?.filter((kind) => kind === 'model').length, Number(count))
  assert.deepEqual(kinds[1], ['upstream'])
})
