/** Suspect windows before a real node: what a deployment returned before a bad check is listed and downloaded. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { ConsoleNode } from '../../server/test/support/console-node.ts'
import { BatchCaller, embeddingLines } from '../../server/test/support/batches.ts'
import { eventually } from '../../server/test/support/process.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

const MODEL = 'drifting-w16'
const DRIFT = `/deployments/${MODEL}%2Fmode-drifting?tab=drift`
const KEY = 'console-test-key-of-suspects-0001'
const SOON = { timeout: 30_000 }

interface Window {
  readonly vectors: number
  readonly batch_lines: number
}

async function asAdmin(node: ConsoleNode, method: string, path: string) {
  const { status, text, body } = await node.control(method, path, { token: await node.tokenOf('admin') })
  assert.ok(status < 300, text)
  return body
}

const node = nodeOfFile(
  {
    models: { [MODEL]: { on: 'mode-drifting', spaceGuard: true } },
    projects: { search: { keys: [{ name: 'indexer', secret: KEY }] } },
  },
  async (started) => {
    const ask = async () => {
      const { status } = await started.ask({ model: MODEL, input: ['one', 'two'] }, { key: KEY })
      assert.equal(status, 200)
    }
    await eventually(ask)
    const caller = new BatchCaller(started.url, KEY)
    const batch = await caller.create(await caller.upload(embeddingLines(MODEL, ['a', 'b', 'c'])))
    await caller.ended(batch.id)
    await started.provider.setMode('drifting', { vectors: 'other-model' })
    await asAdmin(started, 'POST', `/spaces/${MODEL}/probe`)
    await eventually(async () => {
      const [window] = (await asAdmin(started, 'GET', '/spaces/suspects'))['data'] as Window[]
      assert.deepEqual([window?.vectors, window?.batch_lines], [5, 3])
    })
  },
)

test('the page of a deployment says how many vectors left, to how many keys, and leads to their requests', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node)
  await go(DRIFT)
  await expect(page.getByText(/5 vectors of another space may have been returned to 1 key\./)).toBeVisible(
    SOON,
  )
  const windows = page.getByRole('region', { name: 'Suspect windows' })
  await expect(windows.getByRole('row').nth(1)).toContainText(/last such vector .*5.*still outside/s)
  await assertAccessible(page, 'suspect windows')
  await page.getByRole('link', { name: 'View 1 request' }).click()
  await expect(page).toHaveURL(/\/requests\?deployment=drifting-w16\/mode-drifting&from=/)
  assert.deepEqual(complaints, [])
})

test('the list of a window is downloaded as JSON lines @chromium', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go(DRIFT)
  const loaded = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download list' }).click(SOON)
  const file = await loaded
  const lines = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\n')
  const rows = lines.map((line) => JSON.parse(line) as { key: string; inputs: number; batch: string | null })
  assert.deepEqual(
    rows.map(({ key, inputs, batch }) => [key, inputs, batch !== null]),
    [
      ['search/indexer', 2, false],
      ['search/indexer', 3, true],
    ],
  )
})

test('an operator finds the windows from the page of the model, and that they ended once the deployment is right again', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node, { role: 'operator' })
  await go(`/models/${MODEL}`)
  await page.getByRole('link', { name: 'View windows' }).click(SOON)
  await expect(page).toHaveURL(/tab=space/)
  await node.provider.setMode('drifting')
  await asAdmin(node, 'POST', `/spaces/${MODEL}/probe`)
  const row = page.getByRole('region', { name: 'Suspect windows' }).getByRole('row').nth(1)
  await page.reload()
  await expect(row).toContainText('list to embed again', SOON)
  await go(DRIFT)
  await expect(page.getByText('Some vectors may be of another space.')).toBeVisible(SOON)
  assert.deepEqual(complaints, [])
})
