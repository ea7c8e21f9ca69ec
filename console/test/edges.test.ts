/** What breaks first at the edges: narrow windows, long names, amounts below a cent, a slow connection. */
import assert from 'node:assert/strict'
import { NODE_TOKEN } from '../../server/test/support/console-node.ts'
import { paths } from '../src/app/paths.ts'
import { hrefOf, TITLED } from './support/pages.ts'
import { SECTIONS } from '../src/pages/settings/sections.ts'
import { expect, nodeOfFile, test } from './support/test.ts'

const KEY = 'console-test-key-of-the-edges-0001'
const LONG = 'a-name-of-sixty-three-characters-which-is-as-long-as-a-name-can'
const SMALL = 'console-test-key-of-the-edges-0002'

const node = nodeOfFile(
  {
    models: { 'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 1000 } } },
    projects: {
      default: { keys: [{ name: 'k', secret: KEY }] },
      [LONG]: {
        budget: { usd: 0.0005, per: 'month', hard: true },
        keys: [
          { name: 'first', secret: SMALL },
          { name: 'second', secret: `${SMALL}-of-another` },
        ],
      },
    },
  },
  async (asked) => {
    await asked.ask({ model: 'plain-w16', input: ['cat', 'kitten', 'car'] }, { key: KEY })
    const refused = await asked.ask({ model: 'plain-w16', input: 'kitten '.repeat(200) }, { key: SMALL })
    assert.equal(refused.status, 429)
  },
)

const PAGES = [...TITLED.map(([path]) => path), ...SECTIONS.map(({ id }) => hrefOf(paths.settings(id)))]

/** Below it a column shows a letter or nothing. */
const LEAST_COLUMN_WIDTH = 44

/** Runs in the browser. */
function misfits(leastWidth: number) {
  const wide = [...document.querySelectorAll('main, main [role=region]')]
    .filter((part) => part.scrollWidth > part.clientWidth + 1)
    .map((part) => `${part.getAttribute('aria-label') ?? part.tagName} ${part.scrollWidth}`)
  const thin = [...document.querySelectorAll('thead th')]
    .filter((head) => head.getBoundingClientRect().width < leastWidth)
    .map((head) => head.textContent)
  return { overflow: document.documentElement.scrollWidth - innerWidth, wide, thin }
}

for (const width of [1024, 1100, 1280])
  test(`no page is wider than a window of ${width}, no table scrolls sideways, and every column can be read`, async ({
    openConsole,
  }) => {
    const { page, go } = await openConsole(node)
    await page.setViewportSize({ width, height: 768 })
    for (const path of PAGES) {
      await go(path)
      await expect
        .poll(() => page.evaluate(misfits, LEAST_COLUMN_WIDTH), { message: path })
        .toEqual({ overflow: 0, wide: [], thin: [] })
    }
  })

test('two keys of a project with a long name can be told apart', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await page.setViewportSize({ width: 1024, height: 768 })
  await go(hrefOf(paths.keys()))
  for (const name of ['first', 'second']) {
    const shown = page.getByTitle(`${LONG}/${name}`).getByText(`/${name}`, { exact: true })
    await expect(shown).toBeVisible()
    assert.ok(await shown.evaluate((part) => part.scrollWidth <= part.clientWidth), name)
  }
})

test('a field says which characters it takes, in the words of the console', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go(hrefOf(paths.keys({ new: true })))
  await page.getByLabel('Name', { exact: true }).fill('no spaces')
  await page.getByRole('button', { name: /^Create key/ }).click()
  await expect(page.getByText('Use letters, digits, dots, hyphens and underscores')).toBeVisible()
})

test('a budget below a cent shows its amount, and one that refuses requests is no good mark', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go(hrefOf(paths.budgets()))
  const row = page.locator('a').filter({ hasText: LONG })
  await expect(row).toContainText('of $0.0005')
  await expect(row).toContainText('refusing requests')
})

test('a failed request shows the text its caller got, and its code leads to the page about it', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  const { body } = await node.control('GET', '/requests?fault=budget_exhausted', { token: NODE_TOKEN })
  const [{ id }] = body['data'] as [{ id: string }]
  await go(hrefOf(paths.request(id)))
  const error = page.getByRole('region', { name: 'Error returned' })
  await expect(error).toContainText('budget')
  const link = error.getByRole('link', { name: '429 budget_exhausted' })
  const answer = await fetch((await link.getAttribute('href')) ?? '')
  assert.equal(answer.status, 200)
})

test('a page that cannot be read keeps its title, says that nothing changed, and tries again by itself', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  const path = '/models/plain-w16'
  let isAway = true
  await page.route(`**/api/v1${path}`, (route) =>
    isAway
      ? route.fulfill({
          status: 503,
          json: {
            error: { message: 'The database did not answer.', code: 'store_unreachable', param: null },
          },
        })
      : route.continue(),
  )
  await go(path)
  const problem = page.getByRole('alert').filter({ hasText: 'The database did not answer.' })
  await expect(problem).toContainText(/Retrying in \d+ s/)
  await expect(page.getByRole('heading', { level: 1 })).toContainText('plain-w16')
  isAway = false
  await expect(page.getByRole('tab', { name: 'Routing' })).toBeVisible({ timeout: 30_000 })
  await expect(problem).toHaveCount(0)
})

test('the frame and the title of a page are there before any program of the console is', async ({
  openConsole,
}) => {
  const { page } = await openConsole(node)
  await page.route('**/assets/*.js', (route) => route.abort())
  await page.goto(`${node.controlUrl}${hrefOf(paths.keys())}`)
  await expect(page.locator('h1')).toHaveText('Keys')
  await expect(page.getByRole('link', { name: 'Requests' })).toBeVisible()
})
