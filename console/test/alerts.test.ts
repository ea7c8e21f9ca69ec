/** Alerts before a real node and a real receiver: channels, rules, and an incident from its start to its end. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'
import { ALERT_KINDS } from '../../server/src/core/alerts/kind.ts'
import { atEnd } from '../../server/test/support/at-end.ts'
import { NODE_TOKEN, type ConsoleNode } from '../../server/test/support/console-node.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

/** The node evaluates rules every few seconds, on a busy machine later. */
const SOON = { timeout: 30_000 }
const KEY = 'console-test-key-alerts-00000001'

const receiver: { url: string; isDown: boolean; readonly received: string[] } = {
  url: '',
  isDown: false,
  received: [],
}

const node = nodeOfFile(
  {
    models: {
      'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 10 } },
      'rejected-w16': { on: 'status-401' },
    },
    projects: {
      ads: {
        budget: { usd: 0.0001, per: 'month', hard: false },
        keys: [{ name: 'website', secret: KEY }],
      },
    },
  },
  async (started) => {
    await startReceiver()
    await startIncident(started, 'platform')
  },
)

/** An upstream that refuses its credential is reported at its first call. */
async function startIncident(of: ConsoleNode, channel: string): Promise<void> {
  await of.ask({ model: 'rejected-w16', input: 'a text' }, { key: KEY })
  const { id } = await make(of, '/alerts/channels', webhook(channel))
  await make(of, '/alerts/rules', { kind: 'ejected', condition: { minutes: 0 }, channels: [id] })
}

async function startReceiver(): Promise<void> {
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += String(chunk)))
    request.on('end', () => {
      if (!receiver.isDown) receiver.received.push(text)
      response.writeHead(receiver.isDown ? 503 : 200).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts`
  atEnd(() => server.close())
}

const card = (page: Page, name: string) =>
  page.getByRole('complementary').getByRole('listitem').filter({ hasText: name })
const rules = (page: Page) => page.getByRole('region', { name: 'Rules' })
const incidents = (page: Page) => page.getByRole('region', { name: 'Incidents' })

async function make(
  of: ConsoleNode,
  path: string,
  body: unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await of.control('POST', path, { token: NODE_TOKEN, body })
  assert.ok(answer.status < 300, answer.text)
  return answer.body
}

const webhook = (name: string, url = receiver.url) => ({ kind: 'webhook', name, url, private: true })

test('a channel is added, its signing secret is shown once, and a test reaches it', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node)
  await go('/alerts')
  await page.getByRole('button', { name: 'Add channel' }).click()
  const sheet = page.getByRole('dialog')
  await sheet.getByRole('button', { name: 'Webhook', exact: true }).click()
  await sheet.getByLabel('Name', { exact: true }).fill('siem')
  await sheet.getByLabel('URL', { exact: true }).fill(receiver.url)
  await sheet.getByRole('button', { name: 'Add channel' }).click()
  await expect(sheet.getByText(/^This address uses HTTP/)).toBeVisible()
  await sheet.getByRole('switch', { name: 'Allow a private address or HTTP' }).click()
  await assertAccessible(page, 'the sheet of a channel')
  await sheet.getByRole('button', { name: 'Add channel' }).click()
  await expect(page.getByRole('textbox', { name: 'Signing secret of siem' })).toHaveValue(/^whsec_/)
  await page.getByRole('button', { name: 'Done' }).click()
  const siem = card(page, 'siem')
  await expect(siem).toContainText('Nothing sent yet')
  await siem.getByRole('button', { name: 'Send test' }).click()
  await expect(siem).toContainText(/Test delivered at \d\d:\d\d, .+ ms/, SOON)
  assert.match(receiver.received.at(-1) ?? '', /test/i)
  assert.ok(!(await page.content()).includes('whsec_'), 'the secret is gone')
  assert.deepEqual(complaints, [])
})

test('a rule is set up from its kind; its incident appears by itself, with the delivery of its notification', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node)
  await go('/alerts')
  const row = rules(page).getByRole('row').filter({ hasText: 'Budget reached' })
  await row.getByRole('button', { name: 'Set up' }).click()
  const sheet = page.getByRole('dialog', { name: 'New rule' })
  const platform = sheet.getByRole('checkbox', { name: 'platform' })
  if (!(await platform.isChecked())) await platform.click()
  await expect(sheet.getByRole('region', { name: 'Notification' })).toContainText('of budget used')
  await assertAccessible(page, 'the sheet of a rule')
  await sheet.getByRole('button', { name: 'Create rule' }).click()
  await expect(sheet).toBeHidden()
  await expect(row).toContainText('80% and 100%')
  await expect(row.getByRole('switch')).toBeChecked()
  for (let count = 0; count < 6; count++)
    await node.ask({ model: 'plain-w16', input: `a longer text ${count} that costs something` }, { key: KEY })
  const incident = incidents(page).getByRole('row').filter({ hasText: /^ads/ })
  await expect(incident).toContainText('open', SOON)
  await expect(incident.getByRole('img', { name: 'platform' })).toBeVisible(SOON)
  await expect(page.getByRole('link', { name: /^Alerts \d/ })).toBeVisible(SOON)
  await assertAccessible(page, 'alerts')
  await incident.click()
  const timeline = page
    .getByRole('dialog', { name: 'Incident' })
    .getByRole('region', { name: 'Notifications' })
  await expect(timeline).toContainText(/platform.*delivered, /s, SOON)
  await assertAccessible(page, 'an incident')
  await page.keyboard.press('Escape')
  await expect(page).not.toHaveURL(/incident=/)
  assert.deepEqual(complaints, [])
})

test('a list that is no list of numbers is said at its field, and nothing is sent', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go('/alerts?new=budget')
  const sheet = page.getByRole('dialog', { name: 'New rule' })
  const field = sheet.getByLabel('Percentages of the budget')
  await field.fill('most of it')
  await sheet.getByRole('button', { name: 'Create rule' }).click()
  await expect(sheet.getByText('Enter whole numbers, separated by commas.')).toBeVisible()
  await field.fill('5000')
  await sheet.getByRole('button', { name: 'Create rule' }).click()
  await expect(sheet.getByText(/from 1 to 1000/)).toBeVisible()
})

test('quiet hours of a rule are in its row and in the list beside it', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/alerts?new=latency')
  const sheet = page.getByRole('dialog', { name: 'New rule' })
  await sheet.getByRole('button', { name: 'Daily' }).click()
  await sheet.getByLabel('Time zone').fill('Europe/Berlin')
  await sheet.getByRole('button', { name: 'Create rule' }).click()
  await expect(sheet).toBeHidden()
  await expect(rules(page).getByRole('row').filter({ hasText: 'Latency' })).toContainText('22:00–07:00')
  await expect(page.getByRole('complementary')).toContainText('22:00–07:00, Europe/Berlin')
})

test('a channel that fails says why, what waits for it, and is tried again at once', async ({
  openConsole,
  startNode,
}) => {
  const own = await startNode({
    models: { 'rejected-w16': { on: 'status-401' } },
    projects: { ads: { keys: [{ name: 'website', secret: KEY }] } },
  })
  receiver.isDown = true
  await startIncident(own, 'siem')
  const { page, go } = await openConsole(own)
  await go('/alerts')
  await expect(card(page, 'siem')).toContainText(/Failing since \d\d:\d\d \(HTTP 503\)/, SOON)
  await expect(card(page, 'siem')).toContainText(/1 queued, attempt \d+ at \d\d:\d\d/, SOON)
  await assertAccessible(page, 'a failing channel')
  receiver.isDown = false
  await card(page, 'siem').getByRole('button', { name: 'Retry now' }).click()
  await expect(card(page, 'siem')).toContainText(/Delivered at/, SOON)
})

test('by keyboard: g l opens the page, j and Enter an incident, and a rule is turned off', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go('/')
  await page.keyboard.press('g')
  await page.keyboard.press('l')
  await expect(page.locator('h1')).toHaveText('Alerts')
  await expect(incidents(page).getByRole('row')).not.toHaveCount(1, SOON)
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Incident' })).toBeVisible()
  await page.keyboard.press('Escape')
  const row = rules(page).getByRole('row').filter({ hasText: 'Certificate expiring' })
  await row.getByRole('switch').press('Space')
  await page
    .getByRole('dialog', { name: 'New rule' })
    .getByRole('button', { name: 'Create rule' })
    .press('Enter')
  await expect(row.getByRole('switch')).toBeChecked(SOON)
  await row.getByRole('switch').press('Space')
  await expect(row.getByRole('switch')).not.toBeChecked(SOON)
  await page.getByRole('button', { name: 'Actions for Certificate expiring' }).press('Enter')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete rule' }).press('Enter')
  await expect(row).toContainText('Set up')
})

test('notifications are muted for an hour, and the page says so until they are not', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go('/alerts')
  await page.getByRole('button', { name: 'Mute all' }).click()
  await page.getByRole('menuitem', { name: '1 hour' }).click()
  await expect(page.getByText(/^Notifications are muted until \d\d:\d\d\.$/)).toBeVisible()
  await page.getByRole('button', { name: 'Unmute' }).click()
  await expect(page.getByRole('button', { name: 'Mute all' })).toBeVisible()
})

test('a channel that a rule names is kept, and the sheet says which rule does', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/alerts')
  await page.getByRole('button', { name: 'platform', exact: true }).click()
  const sheet = page.getByRole('dialog', { name: 'Channel platform' })
  await sheet.getByRole('button', { name: 'Delete channel' }).click()
  await expect(sheet.getByRole('alert')).toContainText(/ejected/i)
})

test('the preview has the card of each kind and the JSON of each channel', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/alerts')
  const side = page.getByRole('complementary')
  await expect(side).toContainText('space check failed')
  await side.getByRole('button', { name: 'JSON' }).click()
  await side.getByRole('button', { name: 'PagerDuty', exact: true }).click()
  await expect(side.locator('pre')).toContainText('dedup_key')
  await assertAccessible(page, 'JSON of a notification')
})

test('what torana.yaml declares has its line, and is not changed here', async ({
  openConsole,
  startNode,
}) => {
  const own = await startNode({
    models: { 'plain-w16': { on: 'plain' } },
    alerts: {
      channels: { siem: { kind: 'slack', url: 'https://hooks.example.com/services/T0/B0/x9Qdx9Qd' } },
      rules: { failures: { kind: 'ejected', channels: ['siem'] } },
    },
  })
  const { page, go } = await openConsole(own)
  await go('/alerts')
  const row = rules(page)
    .getByRole('row')
    .filter({ hasText: /torana\.yaml:\d+/ })
  await expect(row.getByRole('switch')).toBeDisabled()
  await row.getByRole('button', { name: /^Actions for/ }).click()
  await expect(page.getByRole('menuitem', { name: /^Edit/ })).toContainText(/Defined in .*torana\.yaml:\d+/)
  await page.keyboard.press('Escape')
  await expect(card(page, 'siem')).toContainText(/torana\.yaml:\d+/)
  await expect(page.getByRole('button', { name: 'siem', exact: true })).toHaveCount(0)
  await assertAccessible(page, 'declared alerts')
})

test('a developer sees the rules of its project and can change none', async ({ openConsole }) => {
  const { page, go } = await openConsole(node, { role: 'developer', projects: ['ads'] })
  await go('/alerts')
  await expect(page.getByRole('button', { name: 'New rule' })).toHaveAttribute('aria-disabled', 'true')
  await expect(page.getByRole('button', { name: 'Set up' })).toHaveCount(0)
  await expect(incidents(page)).not.toContainText('status-401')
})

test('Needs attention leads to the rule that would have notified you', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/')
  await page.getByRole('link', { name: /^Alert on this: status-401/ }).click(SOON)
  await expect(page.getByRole('dialog', { name: 'New rule' })).toContainText('Deployment ejected')
})

test('an installation without rules offers each kind, and says what a channel is for', async ({
  openConsole,
  startNode,
}) => {
  const { page, go, complaints } = await openConsole(await startNode())
  await go('/alerts')
  await expect(page.getByText('No incidents.')).toBeVisible()
  await expect(page.getByText('No channels.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Set up' })).toHaveCount(ALERT_KINDS.length)
  await assertAccessible(page, 'no alerts yet')
  assert.deepEqual(complaints, [])
})

test('on a phone, incidents, rules and channels are below each other, in English and in Chinese', async ({
  openConsole,
}) => {
  for (const [language, title] of [
    ['en', 'Channels'],
    ['zh', '渠道'],
  ] as const) {
    const { page, go, complaints } = await openConsole(node, { size: 'phone', theme: 'dark', language })
    await go('/alerts')
    await expect(page.getByRole('heading', { name: title })).toBeVisible()
    await assertAccessible(page, `a phone in ${language}`)
    assert.deepEqual(complaints, [])
  }
})
