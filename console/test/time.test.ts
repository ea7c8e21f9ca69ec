/** Ranges, zones, charts and tables before a real node: what is picked is what is shown, and what is asked for. */
import assert from 'node:assert/strict'
import type { Page } from '@playwright/test'
import * as words from '../src/words/en.ts'
import { askSteadily, assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

const node = nodeOfFile({
  models: { 'pair-w16': { on: ['mode-one', 'mode-two'], price: { usdPerMillionTokens: 1000 } } },
})
askSteadily(node, 'pair-w16')

const SOON = { timeout: 10_000 }
const HEALTH = '/deployments/pair-w16%2Fmode-one?tab=health'

async function pick(page: Page, from: string, to: string): Promise<void> {
  await page.getByRole('button', { name: words.shell.calendar }).click()
  await page.locator('input[type=date]').first().fill(from)
  await page.locator('input[type=date]').last().fill(to)
  await page.getByRole('button', { name: words.ui.use, exact: true }).click()
}

/** The first moment of 1 November, and the first after the 15th. Los Angeles leaves daylight saving on the 1st. */
const PICKED = [
  [undefined, '2026-11-01T00:00:00.000Z', '2026-11-16T00:00:00.000Z'],
  ['Asia/Kolkata', '2026-10-31T18:30:00.000Z', '2026-11-15T18:30:00.000Z'],
  ['America/Los_Angeles', '2026-11-01T07:00:00.000Z', '2026-11-16T08:00:00.000Z'],
] as const

for (const [zone, since, until] of PICKED)
  test(`picked days are named as they were picked, and the API is asked for them and no others: ${zone ?? 'UTC'}`, async ({
    openConsole,
  }) => {
    const { page, go, asked } = await openConsole(node, zone === undefined ? {} : { zone })
    for (const [path, route] of [
      ['/', '/overview'],
      [HEALTH, '/history'],
    ] as const) {
      await go(path)
      asked.length = 0
      await pick(page, '2026-11-01', '2026-11-15')
      await expect(page.getByRole('button', { name: words.shell.calendar })).toHaveText('1 Nov – 15 Nov')
      const span = (): (string | null)[][] =>
        asked
          .map((address) => new URL(address))
          .filter(({ pathname }) => pathname.endsWith(route))
          .map(({ searchParams }) => ['since', 'until'].map((name) => searchParams.get(name)))
      await expect.poll(() => JSON.stringify(span())).toContain(JSON.stringify([since, until]))
    }
  })

test('an axis over a week names days, and no two ticks of an axis read the same', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  for (const path of [`${HEALTH}&since=7d`, `${HEALTH}&since=30d`, HEALTH, '/?since=7d', '/']) {
    await go(path)
    await expect(page.locator('figure svg text').first()).toBeVisible(SOON)
    const charts = await page
      .locator('figure')
      .evaluateAll((all) =>
        all.map((one) => Array.from(one.querySelectorAll('svg text'), (text) => text.textContent ?? '')),
      )
    for (const texts of charts)
      for (const [index, text] of texts.entries())
        assert.notEqual(text, texts[index + 1], `${path}: ${texts.join()}`)
  }
})

test('the cursor of a chart walks by keys, reads out its values, and the table has the same', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go(HEALTH)
  const chart = page.locator('figure').first()
  await chart.focus()
  await page.keyboard.press('End')
  await expect(chart.locator('[aria-live]')).toContainText('answered', SOON)
  await page.keyboard.press('t')
  await expect(chart.getByRole('table')).toBeVisible()
  await assertAccessible(page, 'the table of a chart')
})

test('hints in linked rows open, their text can be selected, and a click still opens the row', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  const token = await node.tokenOf('admin')
  await node.control('POST', '/keys', { token, body: { project: 'search', name: 'website' } })
  await go('/keys')
  const row = page.getByRole('row').filter({ hasText: 'website' })
  const note = row.getByText('no expiry').first()
  await note.hover()
  await expect(page.getByText(words.keys.noteHints.no_expiry)).toBeVisible(SOON)
  const box = await note.boundingBox()
  assert.ok(box)
  await page.mouse.move(box.x + 1, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width - 1, box.y + box.height / 2, { steps: 5 })
  await page.mouse.up()
  assert.match(await page.evaluate(() => getSelection()?.toString() ?? ''), /expir/)
  assert.match(page.url(), /\/keys$/, 'selecting text opens nothing')
  await page.evaluate(() => getSelection()?.removeAllRanges())
  await row.locator('td').nth(2).click()
  await expect(page).toHaveURL(/\/keys\/search\/website/)
})

test('with a new filter and a slow store, rows of the old one are dimmed and marked as loading', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go('/requests')
  const table = page.getByRole('region', { name: 'Requests' })
  await expect(table.locator('[data-row]').first()).toBeVisible(SOON)
  const answer = Promise.withResolvers<void>()
  await page.route(/\/api\/v1\/requests\?.*outcome=failed/, async (route) => {
    await answer.promise
    await route.continue()
  })
  await page.evaluate(() => {
    history.pushState({}, '', '/requests?outcome=failed')
    dispatchEvent(new PopStateEvent('popstate'))
  })
  await expect(table).toHaveAttribute('aria-busy', 'true', SOON)
  await expect(table.getByRole('status')).toHaveText('Loading…')
  const opacity = () => table.locator('tbody').evaluate((body) => Number(getComputedStyle(body).opacity))
  await expect.poll(opacity, SOON).toBeLessThan(0.6)
  answer.resolve()
  await expect(table).not.toHaveAttribute('aria-busy', 'true', SOON)
})
