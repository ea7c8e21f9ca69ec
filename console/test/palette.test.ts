/** The palette finds everything by the words that people type: a row is what is typed, and what it must lead to. */
import assert from 'node:assert/strict'
import { NODE_TOKEN } from '../../server/test/support/console-node.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

const node = nodeOfFile({
  models: { 'plain-w16': { on: 'plain', aliases: ['small'] } },
  projects: {
    search: {
      budget: { usd: 5, per: 'month', hard: true },
      keys: [{ name: 'indexer', secret: 'a-key-of-these-tests-0000001' }],
    },
  },
})

/** Typed, the entry that must be among the first, and the page or dialog that it opens. */
const ROWS: readonly (readonly [typed: string, entry: string, opens: RegExp | string])[] = [
  ['upstream', 'Connect an upstream…', /upstreams\?new=1/],
  ['connect', 'Connect an upstream…', /upstreams\?new=1/],
  ['add model', 'Connect an upstream…', /upstreams\?new=1/],
  ['openai', 'Connect an upstream…', /upstreams\?new=1/],
  ['routing', 'Upstreams', /\/upstreams/],
  ['alert', 'Alerts', /\/alerts/],
  ['slack', 'Alert rules and channels', /\/alerts/],
  ['upload csv', 'New batch…', /batches\/new/],
  ['openapi', 'API reference', /api-reference/],
  ['price', 'Set a price, or declare a model free', /settings\/prices/],
  ['free', 'Set a price, or declare a model free', /settings\/prices/],
  ['invite', 'Invite a member…', 'dialog Invite'],
  ['add user', 'Invite a member…', 'dialog Invite'],
  ['webhook', 'Webhook deliveries', /settings\/projects/],
  ['export', 'Export usage or ledger…', 'menuitem Ledger (CSV)'],
  ['audit export', 'Export the audit log', 'download'],
  ['budget', 'New budget…', 'dialog New budget'],
  ['theme', 'Switch to the dark theme', 'dark'],
  ['new key', 'New key…', 'dialog New key'],
  ['token', 'New API token…', 'dialog New token'],
  ['project', 'New project…', 'dialog New project'],
  ['password', 'Change password…', 'dialog Change password'],
  ['sso', 'Set up single sign-on', /settings\/sign-on/],
  ['doctor', 'Run diagnostics', /settings\/nodes/],
  ['errors', 'Failed requests', /requests\?outcome=failed/],
  ['slow', 'Slowest requests', /requests\?sort=-duration/],
  ['expensive', 'Most expensive requests', /requests\?sort=-cost/],
  ['live', 'Live tail of requests', /requests\?live=1/],
  ['map', 'See texts as a map', /playground\/embeddings\?view=map/],
  ['mask', 'Paint a mask', /playground\/images\?mode=edit/],
  ['down', 'Unhealthy deployments', /deployments\?health=unwell/],
  ['billing', 'Usage & cost', /\/usage$/],
  ['users', 'Settings: Members', /settings\/members/],
  ['retention', 'Settings: Retention', /settings\/retention/],
  ['version', 'Settings: About', /settings\/about/],
  ['onboarding', 'First steps', /\/welcome/],
  ['hotkeys', 'Show keyboard shortcuts', 'dialog Keyboard shortcuts'],
  ['plain-w16', 'plain-w16', /models\/plain-w16/],
  ['small', 'plain-w16', /models\/plain-w16/],
  ['indexer', 'search/indexer', /keys\/search\/indexer/],
  ['logout', 'Sign out', /sign-in/],
]

/** An entry must be among the first ones, which are seen without scrolling. */
const MAX_PLACE = 8

const MEMBER = { role: 'admin', name: 'Maria Keller', email: 'maria@example.com' } as const

test('each row is found by its words, and opens what it names', async ({ openConsole }) => {
  test.slow()
  const { page, go } = await openConsole(node, { member: MEMBER })
  for (const [typed, entry, opens] of ROWS)
    await test.step(`“${typed}” finds “${entry}”`, async () => {
      await go('/unknowns')
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill(typed)
      const choice = page.getByRole('option', { name: entry }).first()
      await expect(choice).toBeVisible()
      const place = await choice.evaluate((one) =>
        Array.from(document.querySelectorAll('[role=option]')).indexOf(one),
      )
      assert.ok(place < MAX_PLACE, `“${typed}”: “${entry}” is entry ${place + 1}`)
      const download = opens === 'download' ? page.waitForEvent('download') : undefined
      await choice.click()
      if (opens instanceof RegExp) await expect(page, typed).toHaveURL(opens)
      else if (opens === 'dark') await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
      else if (opens === 'download') await download
      else {
        const at = opens.indexOf(' ')
        const [role, name] = [opens.slice(0, at) as 'dialog' | 'menuitem', opens.slice(at + 1)]
        await expect(page.getByRole(role, { name }).first(), typed).toBeVisible()
      }
    })
})

test('what was found brings its own actions, by the rights of the person', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('plain-w16/')
  await page.getByRole('option', { name: /^Drain plain-w16/ }).click()
  await expect(page.getByRole('dialog', { name: /Drain/ })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page).not.toHaveURL(/do=/)

  const developer = await openConsole(node, { role: 'developer', projects: ['search'] })
  await developer.go('/')
  await developer.page.keyboard.press('Control+k')
  for (const typed of ['drain', 'invite', 'price', 'audit', 'upstream']) {
    await developer.page.getByRole('combobox').fill(typed)
    for (const name of [
      'Invite a member…',
      'Set a price, or declare a model free',
      'Connect an upstream…',
      'Export the audit log',
    ])
      await expect(developer.page.getByRole('option', { name, exact: true })).toHaveCount(0)
  }
})

test('documentation is found by its headings, and the id of a request opens it', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('pin a space')
  await expect(page.getByRole('option', { name: /Pin a space.*Space guard/ })).toBeVisible()
  await assertAccessible(page, 'documentation in the palette')
  const asked = await node.ask({ model: 'plain-w16', input: 'a' }, { key: 'a-key-of-these-tests-0000001' })
  const id = asked.headers.get('x-request-id') ?? ''
  await expect(async () => {
    const { body } = await node.control('GET', `/resolve?q=${id}`, { token: NODE_TOKEN })
    assert.equal((body['data'] as unknown[]).length, 1)
  }).toPass()
  await page.getByRole('combobox').fill(id)
  await page.getByRole('option').first().click()
  await expect(page).toHaveURL(new RegExp(`/requests/${id}`))
})

test('what was used last comes first, by keyboard alone', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/')
  const choose = async (typed: string): Promise<void> => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.type(typed)
    await page.keyboard.press('Enter')
  }
  await choose('budgets')
  await expect(page).toHaveURL(/budgets/)
  await choose('audit')
  await expect(page).toHaveURL(/audit/)
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('option').first()).toHaveText(/^Audit/)
  await expect(page.getByRole('option').nth(1)).toHaveText(/^Budgets/)
  await expect(page.getByText('Recent', { exact: true })).toBeVisible()
})
