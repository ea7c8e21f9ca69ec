/** A copied address shows a colleague the list that its sender sees: filters, search and order are in it. */
import assert from 'node:assert/strict'
import type { Page } from '@playwright/test'
import { expect, nodeOfFile, test } from './support/test.ts'
import { settled } from './support/settled.ts'

const node = nodeOfFile(
  {
    models: { 'plain-w16': { on: 'plain' } },
    projects: {
      search: {
        budget: { usd: 5, per: 'month', hard: false },
        keys: [
          {
            name: 'indexer',
            secret: 'a-key-of-these-tests-0000001',
            budget: { usd: 1, per: 'day', hard: false },
          },
        ],
      },
    },
  },
  async (made) => void (await made.ask({ model: 'plain-w16', input: 'one' }, { key: made.key })),
)

const SOON = { timeout: 15_000 }

type Choose = (page: Page) => Promise<void>

const press =
  (name: string | RegExp): Choose =>
  (page) =>
    page.getByRole('main').getByRole('button', { name }).first().click()

const filter =
  (chip: RegExp, option: string): Choose =>
  async (page) => {
    await press(chip)(page)
    await page.getByRole('menuitemcheckbox', { name: option }).click()
  }

const find =
  (text: string): Choose =>
  (page) =>
    page.getByRole('main').getByRole('searchbox').fill(text)

/** By the pages with a list: choices away from what each shows first. */
const LISTS: Readonly<Record<string, readonly Choose[]>> = {
  '/': [press('24h'), press('Table'), press('Cost')],
  '/requests': [press('7d'), press('Latency'), press(/^Failed/)],
  '/usage': [press('7d'), press('Project'), press('Tokens')],
  '/budgets': [press('Keys')],
  '/unknowns': [press(/^Resolved/)],
  '/batches': [press(/^Completed/)],
  '/models': [press(/^Images/), find('plain')],
  '/deployments': [press('Images'), filter(/^Upstream/, 'plain')],
  '/keys': [press(/^Revoked/), find('app')],
  '/alerts': [press(/^Resolved/)],
  '/audit': [filter(/^Action/, 'created key')],
}

/** What the controls of the page say: chosen segments and chips without their counts, typed texts, the order. */
const controls = (page: Page): Promise<readonly string[]> =>
  page
    .getByRole('main')
    .evaluate((main) =>
      [
        ...Array.from(main.querySelectorAll('[aria-pressed=true]'), (one) => one.textContent),
        ...Array.from(main.querySelectorAll('[aria-haspopup=menu]'), (one) => one.textContent),
        ...Array.from(main.querySelectorAll('input'), ({ value }) => value),
        ...Array.from(main.querySelectorAll('[aria-sort]'), (one) => `${one.textContent} ${one.ariaSort}`),
      ].map((text) => text.replace(/\d+$/, '')),
    )

for (const [path, choices] of Object.entries(LISTS))
  test(`the address of ${path} shows the same list in another browser`, async ({ openConsole }) => {
    const { page, go } = await openConsole(node)
    page.setDefaultTimeout(SOON.timeout)
    await go(path)
    for (const choose of choices) {
      const [before, address] = [await controls(page), page.url()]
      await choose(page)
      await expect.poll(() => controls(page), 'the choice is seen').not.toEqual(before)
      await expect.poll(() => page.url(), 'the choice is in the address').not.toBe(address)
    }
    await settled(page)
    const colleague = await openConsole(node)
    await colleague.page.goto(page.url())
    await settled(colleague.page)
    await expect.poll(() => controls(colleague.page)).toEqual(await controls(page))
  })

// Only Chromium lets a test read the clipboard.
for (const path of ['/', '/requests?outcome=failed', '/usage?by=project', '/budgets?scope=key'])
  test(`Copy link on ${path} copies the address @chromium`, async ({ openConsole }) => {
    const { page, context, go } = await openConsole(node)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await go(path)
    await page.getByRole('button', { name: 'Copy link' }).click()
    await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible()
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url())
  })
