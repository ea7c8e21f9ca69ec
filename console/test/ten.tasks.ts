/**
 * Ten tasks of a first day, as a person does them who has read no documentation: from the navigation, by what the screen says.
 * `npm run test:console -- --project tasks` records them (`npx playwright show-trace`) and writes the table of seconds and clicks to `results/tasks`.
 */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { atEnd } from '../../server/test/support/at-end.ts'
import { NODE_TOKEN } from '../../server/test/support/console-node.ts'
import { eventually } from '../../server/test/support/process.ts'
import { memberCookie } from './support/member.ts'
import { expect, nodeOfFile, signIn, test } from './support/test.ts'

/** Bound of a task, waiting included. */
const MAX_TASK_MS = 120_000
const RESULTS = join(import.meta.dirname, 'results/tasks')
const SOON = { timeout: 30_000 }

const KEY = 'ten-tasks-key-of-the-app-00001'
const MARIA = { role: 'admin', name: 'Maria Keller', email: 'maria.keller@example.com' } as const
/** Models of the fake provider's list. */
const MODEL = 'text-embedding-3-small'
const CSV = [
  'id,title,body',
  'KB-1,Cancel an order,"You can cancel an order, until it leaves our warehouse."',
  'KB-2,Refunds,Refunds go to the card you paid with.',
  'KB-3,Gift receipts,Add a gift receipt at checkout.',
].join('\n')

const received: string[] = []
let receiverUrl = ''

const node = nodeOfFile(
  {
    models: {
      'house-w16': { on: ['mode-one', 'mode-two'], price: { usdPerMillionTokens: 10 } },
      'failing-w16': { on: 'mode-failing' },
    },
    projects: { app: { keys: [{ name: 'web', secret: KEY }] } },
  },
  async (started) => {
    const server = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk: Buffer) => (text += String(chunk)))
      request.on('end', () => {
        received.push(text)
        response.writeHead(200).end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    atEnd(() => server.close())
    receiverUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`
    await started.control('POST', '/projects', {
      token: NODE_TOKEN,
      body: { name: 'search', budget: { usd: 50, per: 'month', hard: true } },
    })
  },
)

/** One task: what is done, and what shows that it is done. */
interface Task {
  readonly name: string
  readonly run: (page: Page) => Promise<void>
}

const link = (page: Page, name: string | RegExp) =>
  page.getByRole('navigation').getByRole('link', { name }).first()
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first()
const pending = (page: Page) => page.getByRole('region', { name: 'Pending changes' }).first()

async function pick(page: Page, field: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: field, exact: true }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

async function search(page: Page, text: string, option: RegExp): Promise<void> {
  await page
    .getByRole('searchbox')
    .or(page.getByPlaceholder(/Search|Find/))
    .first()
    .fill(text)
  await page.getByRole('option', { name: option }).first().click()
}

async function save(page: Page): Promise<void> {
  await expect(pending(page)).toContainText('Configuration check passed.', SOON)
  await button(page, /^Save/).click()
  await expect(pending(page)).not.toContainText('Configuration check passed.', SOON)
}

async function connect(page: Page, upstream: string, models: readonly string[]): Promise<void> {
  await link(page, 'Upstreams').click()
  await button(page, 'Add upstream').click()
  await page.getByRole('button', { name: /Your own server/ }).click()
  await page.getByLabel('Address').fill(`${node.provider.url}/${upstream}/v1`)
  await page.getByRole('button', { name: 'Check', exact: true }).click()
  await expect(page.getByRole('button', { name: /Checked in/ })).toBeVisible(SOON)
  for (const box of await page.getByRole('dialog').getByRole('checkbox').all()) {
    const name = (await box.getAttribute('aria-label')) ?? (await box.textContent()) ?? ''
    const isWanted = models.some((model) => name.includes(model))
    if ((await box.isChecked()) !== isWanted) await box.click()
  }
}

async function routingOf(model: string): Promise<Readonly<Record<string, unknown>>> {
  const { body } = await node.control('GET', `/routing/${encodeURIComponent(model)}`, { token: NODE_TOKEN })
  return body
}

const deploymentsOf = async (model: string): Promise<readonly Record<string, unknown>[]> =>
  ((await routingOf(model))['deployments'] ?? []) as Record<string, unknown>[]

const embed = (model: string, input: string, headers: Record<string, string> = {}) =>
  node.ask({ model, input }, { key: KEY, headers })

const TASKS: readonly Task[] = [
  {
    name: 'Add an upstream',
    run: async (page) => {
      await connect(page, 'plain', [MODEL])
      await page.getByRole('button', { name: 'Add 1 model', exact: true }).click()
      await eventually(async () => assert.equal((await embed(MODEL, 'a cat')).status, 200), 30_000)
    },
  },
  {
    name: 'Add a fallback',
    run: async (page) => {
      await link(page, 'Upstreams').click()
      await page.getByRole('combobox', { name: 'Model' }).click()
      await page.getByRole('option', { name: MODEL }).click()
      await button(page, 'Add deployment').click()
      const sheet = page.getByRole('dialog')
      await sheet.getByRole('combobox', { name: 'Upstream' }).click()
      await page.getByRole('option', { name: 'mode-one' }).click()
      await sheet.getByRole('button', { name: 'Add deployment' }).click()
      await save(page)
      assert.deepEqual(
        (await deploymentsOf(MODEL)).map(({ priority }) => priority),
        [0, 1],
      )
    },
  },
  {
    name: 'Change weights',
    run: async (page) => {
      await page
        .getByLabel(/^Weight of/)
        .first()
        .fill('7')
      await save(page)
      await expect.poll(async () => (await deploymentsOf(MODEL))[0]?.['weight'], SOON).toBe(7)
    },
  },
  {
    name: 'Declare a model free',
    run: async (page) => {
      await page
        .getByLabel(/^Price of/)
        .first()
        .click()
      await page.getByRole('option', { name: 'Free' }).click()
      await save(page)
      await expect.poll(async () => (await deploymentsOf(MODEL))[0]?.['price'], SOON).toBe('free')
    },
  },
  {
    name: 'Receive an alert by webhook',
    run: async (page) => {
      await link(page, /^Alerts/).click()
      await button(page, 'Add channel').click()
      const sheet = page.getByRole('dialog')
      await sheet.getByRole('button', { name: 'Webhook', exact: true }).click()
      await sheet.getByLabel('Name', { exact: true }).fill('ops')
      await sheet.getByLabel('URL', { exact: true }).fill(receiverUrl)
      await sheet.getByRole('switch', { name: 'Allow a private address or HTTP' }).click()
      await sheet.getByRole('button', { name: 'Add channel' }).click()
      await page.getByRole('button', { name: 'Done' }).click()
      const rule = page.getByRole('region', { name: 'Rules' }).getByRole('row')
      await rule.filter({ hasText: 'Deployment ejected' }).getByRole('button', { name: 'Set up' }).click()
      const form = page.getByRole('dialog', { name: 'New rule' })
      await form.getByLabel('For at least').fill('0')
      const channel = form.getByRole('checkbox', { name: 'ops' })
      if (!(await channel.isChecked())) await channel.click()
      await form.getByRole('button', { name: 'Create rule' }).click()
      await expect(form).toBeHidden(SOON)
      await node.provider.setMode('failing', { mode: '500' })
      await eventually(async () => {
        for (let call = 0; call < 20; call++) await embed('failing-w16', `text ${call}`)
        assert.ok(received.some((text) => text.includes('mode-failing')))
      }, 60_000)
      await node.provider.setMode('failing')
      await expect(page.getByRole('region', { name: 'Incidents' })).toContainText('mode-failing', SOON)
    },
  },
  {
    name: 'Run a first batch from a CSV file',
    run: async (page) => {
      await link(page, 'Batches').click()
      await page.getByRole('link', { name: 'New batch' }).first().click()
      await pick(page, 'Project', 'search')
      await page
        .locator('input[type=file]')
        .first()
        .setInputFiles({ name: 'articles.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) })
      await page.getByRole('button', { name: 'Use body as text column' }).click()
      await pick(page, 'Model', 'house-w16')
      await button(page, /^Run batch/).click()
      await expect(page.getByText('3 of 3', { exact: true })).toBeVisible({ timeout: 60_000 })
    },
  },
  {
    name: 'Find a failure and copy its request',
    run: async (page) => {
      for (const mode of ['one', 'two']) await node.provider.setMode(mode, { mode: '503' })
      const failed = await embed('house-w16', 'a text to be found', { 'x-client-request-id': 'order-4711' })
      assert.ok(failed.status >= 500)
      for (const mode of ['one', 'two']) await node.provider.setMode(mode)
      await link(page, 'Requests').click()
      await search(page, 'order-4711', /Client ID order-4711/)
      await page.getByRole('row').filter({ hasText: 'house-w16' }).first().getByRole('link').click()
      await expect(page.getByRole('region', { name: 'Error returned' })).toContainText('fault', SOON)
      await button(page, 'Copy as curl').click()
      await expect(page.getByText('Copied')).toBeVisible(SOON)
    },
  },
  {
    name: 'Lower a budget',
    run: async (page) => {
      await link(page, 'Budgets').click()
      await page.getByText('search', { exact: true }).first().click()
      await button(page, 'Edit budget').click()
      await page
        .getByRole('dialog')
        .getByLabel(/amount|dollars|limit/i)
        .first()
        .fill('20')
      await page.getByRole('dialog').getByRole('button', { name: /^Save/ }).click()
      const limit = async () =>
        (await node.control('GET', '/budgets/project:search', { token: NODE_TOKEN })).body['limit_usd']
      await expect.poll(limit, SOON).toBe('20.000000000')
    },
  },
  {
    name: 'Share a view',
    run: async (page) => {
      await link(page, 'Requests').click()
      await search(page, 'upstream_failed', /upstream_failed/)
      await expect(page).toHaveURL(/fault=upstream_failed/)
      await button(page, 'Copy link').click()
      await expect(button(page, 'Copied')).toBeVisible(SOON)
    },
  },
  {
    name: 'Undo the last change',
    run: async (page) => {
      await link(page, 'Upstreams').click()
      const history = page.getByRole('region', { name: 'Change history' })
      await history
        .getByRole('button', { name: /^Revert/ })
        .first()
        .click()
      await expect(page.getByText('Change reverted')).toBeVisible(SOON)
      await expect.poll(async () => (await deploymentsOf(MODEL))[0]?.['price'], SOON).not.toBe('free')
    },
  },
]

/** Runs in the page: counts what a person presses, across loads. */
function countPresses(): void {
  const add = (name: string): void =>
    sessionStorage.setItem(name, String(Number(sessionStorage.getItem(name) ?? '0') + 1))
  addEventListener('click', (event) => event.isTrusted && add('clicks'), true)
}

const clicksIn = (page: Page): Promise<number> =>
  page.evaluate(() => Number(sessionStorage.getItem('clicks') ?? '0'))

test('ten tasks without documentation, each below two minutes', async ({ browser }) => {
  test.setTimeout(TASKS.length * MAX_TASK_MS)
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await signIn(context, node.controlUrl, await memberCookie(node.controlUrl, MARIA, NODE_TOKEN))
  await context.addInitScript(countPresses)
  context.setDefaultTimeout(SOON.timeout)
  const page = await context.newPage()
  await page.goto(node.controlUrl)
  const rows: string[] = []
  mkdirSync(RESULTS, { recursive: true })
  try {
    for (const [index, { name, run }] of TASKS.entries()) {
      const [startMs, before] = [performance.now(), await clicksIn(page)]
      await run(page)
      const tookMs = performance.now() - startMs
      rows.push(
        `| ${index + 1} | ${name} | ${(tookMs / 1000).toFixed(1)} | ${(await clicksIn(page)) - before} |`,
      )
      await page.screenshot({ path: join(RESULTS, `${index + 1}.png`) })
      assert.ok(tookMs < MAX_TASK_MS, `${name} took ${tookMs} ms`)
    }
  } finally {
    const table = ['| | task | seconds | clicks |', '|---|---|---|---|', ...rows].join('\n')
    writeFileSync(join(RESULTS, 'tasks.md'), `${table}\n`)
    console.log(table)
    await context.close()
  }
})
