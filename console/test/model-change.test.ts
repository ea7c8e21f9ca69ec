/** End dates before a real node: which models end, when, by whose word, and who still uses them. */
import assert from 'node:assert/strict'
import { eventually } from '../../server/test/support/process.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

const DAY_MS = 86_400_000
const dayIn = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)
const endsIn = (days: number, successor?: string) => ({
  endsOn: dayIn(days),
  ...(successor && { successor }),
})
const KEY = 'console-test-key-model-change-01'

const node = nodeOfFile(
  {
    models: {
      'soon-w16': { on: ['plain', 'mode-two'], ends: [endsIn(14, 'plain-w16'), endsIn(75, 'plain-w16')] },
      'idle-w16': { on: 'plain', ends: [endsIn(135)] },
      'far-w16': { on: 'plain', ends: [endsIn(400, 'plain-w16')] },
      'plain-w16': { on: 'plain' },
    },
    projects: { search: { keys: [{ name: 'indexer', secret: KEY }] } },
  },
  async (started) => {
    await started.ask({ model: 'soon-w16', input: 'a text' }, { key: KEY })
    await eventually(async () => {
      const { body } = await started.control('GET', '/model-endings', {
        token: await started.tokenOf('admin'),
      })
      const [first] = body['data'] as { requests_30d: number }[]
      assert.equal(first?.requests_30d, 1)
    })
  },
)

test('the timeline has a row for each model of each upstream, and leads to the requests of its keys', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node)
  await go('/')
  await expect(page.getByRole('link', { name: 'Model change 1', exact: true })).toBeVisible()
  await page.getByRole('link', { name: 'Model change' }).click()
  const rows = page.getByRole('figure').getByRole('row')
  await expect(rows).toHaveCount(4)
  for (const [row, texts] of [
    ['soon-w16', 'plain', '14 days', 'plain-w16', 'search/indexer', '1'],
    ['soon-w16', 'mode-two', '75 days', 'plain-w16', 'search/indexer', '1'],
    ['idle-w16', 'plain', '135 days', '–', 'no key', '0'],
  ].entries())
    for (const text of texts) await expect(rows.nth(row + 1)).toContainText(text)
  await expect(page.getByText('2 of 4 models, 1 still in use')).toBeVisible()
  await expect(page.getByText('No end date is announced for 1 model.')).toBeVisible()
  await expect(page.getByRole('region', { name: 'Known dates after that' })).toContainText('far-w16')
  await assertAccessible(page, 'the timeline')
  await rows.nth(1).getByRole('link', { name: 'search/indexer' }).click()
  await expect(page).toHaveURL(/\/requests\?key=search\/indexer&model=soon-w16&since=30d$/)
  assert.deepEqual(complaints, [])
})

test('by keyboard each row is read out, Enter opens its model, and T shows the table with the source of each date', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go('/model-change')
  const chart = page.getByRole('figure')
  await chart.focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  const read = chart.locator('[aria-live]')
  await expect(read).toHaveText(/^soon-w16 mode-two ends .*, 75 days, used by search\/indexer\./)
  await page.keyboard.press('t')
  await expect(page).toHaveURL(/view=table/)
  await expect(chart.getByRole('row', { name: /^soon-w16 plain/ })).toContainText(/torana\.yaml:\d+/)
  await assertAccessible(page, 'the table')
  await page.keyboard.press('t')
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await expect(page.locator('h1')).toHaveText('soon-w16')
})

test('a link inside of the chart opens by Enter', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/model-change')
  await page.getByRole('figure').getByRole('link', { name: 'search/indexer' }).first().press('Enter')
  await expect(page.locator('h1')).toHaveText('Requests')
})

test('a developer sees the models that keys of its projects use', async ({ openConsole }) => {
  const own = await openConsole(node, { role: 'developer', projects: ['search'] })
  await own.go('/model-change')
  await expect(own.page.getByRole('figure').getByRole('row')).toHaveCount(3)
  const other = await openConsole(node, { role: 'developer', projects: ['default'] })
  await other.go('/model-change')
  await expect(other.page.getByText(/^No model you offer ends before /)).toBeVisible()
})

test('on a phone the dates are rows with bars, in English and in Chinese', async ({ openConsole }) => {
  for (const [language, days] of [
    ['en', '14 days'],
    ['zh', '14 天'],
  ] as const) {
    const { page, go, complaints } = await openConsole(node, { size: 'phone', theme: 'dark', language })
    await go('/model-change')
    await expect(page.getByRole('figure').getByRole('listitem').first()).toContainText(days)
    await assertAccessible(page, `a phone in ${language}`)
    assert.deepEqual(complaints, [])
  }
})

test('without end dates, one sentence says so', async ({ openConsole, startNode }) => {
  const { page, go } = await openConsole(await startNode())
  await go('/model-change')
  await expect(page.getByText(/^No model you offer ends before /)).toBeVisible()
  await expect(page.getByRole('link', { name: 'Model change', exact: true })).toBeVisible()
  await assertAccessible(page, 'no end dates')
})
