/** Upstreams and routing before a real node: what is changed here is pending until it is saved, takes effect, and can be undone. */
import assert from 'node:assert/strict'
import { NODE_TOKEN, type ConsoleNode } from '../../server/test/support/console-node.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'
import type { Page } from '@playwright/test'

const SOON = { timeout: 10_000 }
/** The model runs on two upstreams of the store; a second model is declared, and the page adds to it. */
const MODEL = 'stored-w16'

const node = nodeOfFile(
  { models: { 'declared-w16': { on: 'plain' } }, projects: undefined },
  async (started) => {
    for (const name of ['one', 'two', 'three']) {
      const base_url = `${started.provider.url}/mode-${name}/v1`
      await make(started, 'POST', '/upstreams', { name: `gpu-${name}`, base_url })
    }
    for (const name of ['one', 'two'])
      await make(started, 'POST', '/models', {
        upstream: `gpu-${name}`,
        ids: [MODEL],
        own: { [MODEL]: { kind: 'embedding', width: 16 } },
      })
  },
)

async function make(on: ConsoleNode, method: string, path: string, body?: unknown) {
  const answer = await on.control(method, path, { token: NODE_TOKEN, ...(body !== undefined && { body }) })
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  return answer.body
}

const storedDeployments = async (model = MODEL): Promise<readonly Record<string, unknown>[]> => {
  const { entry } = (await make(node, 'GET', `/routing/${encodeURIComponent(model)}`)) as {
    entry: { deployments: Record<string, unknown>[] } | null
  }
  return entry?.deployments ?? []
}

const panel = (page: Page) => page.getByRole('region', { name: 'Pending changes' }).first()
const weight = (page: Page, name: string) => page.getByLabel(`Weight of ${name}`, { exact: true })
const open = `/upstreams?model=${MODEL}`

test('a changed weight is pending with its difference, is saved, and is undone in one click', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node, {
    member: { role: 'admin', name: 'Maria Keller', email: 'maria@example.com' },
  })
  await go(open)
  await weight(page, 'gpu-one').fill('7')
  await expect(panel(page)).toContainText('weight: 7', SOON)
  await expect(panel(page)).toContainText('Configuration check passed.', SOON)
  assert.notEqual((await storedDeployments())[0]?.['weight'], 7, 'nothing is saved before Save')
  await page.keyboard.press('Control+s')
  await expect(page.getByText('Changes saved')).toBeVisible(SOON)
  await expect.poll(async () => (await storedDeployments())[0]?.['weight'], SOON).toBe(7)
  const history = page.getByRole('region', { name: 'Change history' })
  await expect(history).toContainText('Maria Keller', SOON)
  await history
    .getByRole('button', { name: /^Revert/ })
    .first()
    .click()
  await expect(page.getByText('Change reverted')).toBeVisible(SOON)
  await expect.poll(async () => (await storedDeployments())[0]?.['weight'] ?? 1, SOON).toBe(1)
  await expect(weight(page, 'gpu-one')).toHaveValue('1', SOON)
  assert.deepEqual(complaints, [])
})

test('a model that is served is added as a fallback at the same price: pending, saved, and undone', async ({
  openConsole,
}) => {
  const routing = (await make(node, 'GET', `/routing/${MODEL}`)) as { revision: string; entry: object }
  const priced = (await storedDeployments()).map((one) => ({ ...one, price: 'free' }))
  const entry = { ...routing.entry, deployments: priced }
  const change = { object: 'model', name: MODEL, base: routing.revision, entry }
  await make(node, 'POST', '/configuration/changes', { changes: [change] })
  const { page, go, complaints } = await openConsole(node)
  // The server lists no model of this name, so its answer is made.
  await page.route('**/api/v1/upstreams/check', async (route) => {
    const answer = await route.fetch()
    const { models, ...checked } = (await answer.json()) as { models: readonly object[] }
    const known = {
      kind: 'embedding',
      known: true,
      price: [],
      as_of: null,
      width: 16,
      narrower: 'none',
      can: {},
    }
    const found = [{ ...known, id: MODEL, served: 'store' }]
    return route.fulfill({ response: answer, json: { ...checked, models: [...found, ...models] } })
  })
  await go('/upstreams?new=1')
  await page.getByRole('button', { name: /Your own server/ }).click()
  await page.getByLabel('Address').fill(`${node.provider.url}/plain/v1`)
  await page.getByRole('button', { name: 'Check', exact: true }).click()
  await expect(page.getByRole('checkbox', { name: MODEL })).toBeChecked(SOON)
  await expect(page.getByRole('combobox', { name: `Role of ${MODEL}` })).toContainText(
    'Add as fallback (tier 2)',
  )
  await expect(page.getByRole('combobox', { name: `Price of ${MODEL}` })).toContainText('as gpu-one, free')
  await assertAccessible(page, 'the sheet that adds a fallback')
  for (const name of ['text-embedding-3-small', 'text-embedding-ada-002', 'gpt-image-2'])
    await page.getByRole('checkbox', { name, exact: true }).click()
  await page.getByLabel('Name (optional)').fill('spare')
  await page.getByRole('button', { name: 'Add 1 deployment', exact: true }).click()
  await expect(page.getByRole('region', { name: 'Tier 2' })).toContainText('spare', SOON)
  await expect(panel(page)).toContainText('upstream: spare', SOON)
  await expect(panel(page)).toContainText('price: free')
  assert.equal((await storedDeployments()).length, 2, 'nothing is saved before Save')
  await page.keyboard.press('Control+s')
  await expect(page.getByText('Changes saved')).toBeVisible(SOON)
  await expect.poll(storedDeployments, SOON).toHaveLength(3)
  assert.deepEqual((await storedDeployments()).at(-1), { upstream: 'spare', priority: 1, price: 'free' })
  const history = page.getByRole('region', { name: 'Change history' })
  await history
    .getByRole('button', { name: /^Revert/ })
    .first()
    .click()
  await expect.poll(storedDeployments, SOON).toHaveLength(2)
  assert.deepEqual(complaints, [])
})

test('a deployment is moved to another tier by keyboard alone, and a screen reader hears it', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go(open)
  await page.getByRole('button', { name: 'Move gpu-two' }).focus()
  await page.keyboard.press('Space')
  const live = page.locator('[aria-live=assertive]')
  await expect(live).toContainText('gpu-two lifted. Tier 1, position 2 of 2.')
  await page.keyboard.press('ArrowDown')
  await expect(live).toContainText('New tier 2')
  await page.keyboard.press('Escape')
  await expect(live).toContainText('gpu-two was not moved.')
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await expect(live).toContainText('gpu-two dropped. New tier 2.')
  const tier = page.getByRole('region', { name: 'Tier 2' })
  await expect(tier).toContainText('gpu-two')
  await expect(tier).toContainText('was tier 1')
  await expect(page.getByRole('button', { name: 'Move gpu-two' })).toBeFocused()
  await expect(panel(page)).toContainText('priority: 1', SOON)
  await page.getByRole('button', { name: 'Discard' }).click()
  await expect(page.getByRole('region', { name: 'Tier 2' })).toHaveCount(0)
})

test('a deployment is dragged to the new tier by the pointer', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go(open)
  const grip = await page.getByRole('button', { name: 'Move gpu-one' }).boundingBox()
  const zone = await page.getByText('Drag a deployment here to create tier 2').boundingBox()
  assert.ok(grip !== null && zone !== null)
  await page.mouse.move(grip.x + grip.width / 2, grip.y + grip.height / 2)
  await page.mouse.down()
  await page.mouse.move(grip.x + 4, zone.y + zone.height / 2, { steps: 8 })
  await page.mouse.up()
  await expect(page.getByRole('region', { name: 'Tier 2' })).toContainText('gpu-one')
})

test('adding a deployment says that it is a fallback; price, limit and cache are saved with it', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go(open)
  await page.getByRole('button', { name: 'Add deployment' }).click()
  const sheet = page.getByRole('dialog')
  await expect(sheet).toContainText('as a fallback')
  await sheet.getByRole('combobox', { name: 'Upstream' }).click()
  await page.getByRole('option', { name: 'gpu-three' }).click()
  await sheet.getByRole('button', { name: 'Add deployment' }).click()
  await expect(page.getByRole('region', { name: 'Tier 2' })).toContainText('gpu-three')
  await page.getByLabel('Price of gpu-three').click()
  await page.getByRole('option', { name: 'Free' }).click()
  await page.getByLabel('Concurrency of gpu-three').fill('8')
  await page.getByRole('switch', { name: 'Cache on' }).click()
  await expect(panel(page)).toContainText('Configuration check passed.', SOON)
  await page.getByRole('button', { name: /^Save/ }).click()
  await expect(page.getByText('Changes saved')).toBeVisible(SOON)
  assert.deepEqual((await storedDeployments()).at(-1), {
    upstream: 'gpu-three',
    priority: 1,
    price: 'free',
    limits: { concurrency: 8 },
  })
})

test('another admin saves first: Save is refused, and Rebase keeps both changes', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go(open)
  await weight(page, 'gpu-two').fill('3')
  await expect(panel(page)).toContainText('Configuration check passed.', SOON)
  const now = (await make(node, 'GET', `/routing/${MODEL}`)) as {
    entry: Record<string, unknown>
    revision: unknown
  }
  const entry = { ...now.entry, aliases: ['house-embed'] }
  await make(node, 'POST', '/configuration/changes', {
    changes: [{ object: 'model', name: MODEL, entry, base: now.revision }],
  })
  await page.getByRole('button', { name: /^Save/ }).click()
  await page.getByRole('button', { name: 'Rebase' }).click(SOON)
  await expect(page.getByText('house-embed').first()).toBeVisible(SOON)
  await expect(weight(page, 'gpu-two')).toHaveValue('3')
  await expect(panel(page)).toContainText('Configuration check passed.', SOON)
  await page.getByRole('button', { name: /^Save/ }).click()
  await expect(page.getByText('Changes saved')).toBeVisible(SOON)
  const after = (await make(node, 'GET', `/routing/${MODEL}`)) as { aliases: unknown }
  assert.deepEqual(after.aliases, ['house-embed'])
  assert.equal((await storedDeployments())[1]?.['weight'], 3)
})

test('a change that torana.yaml would refuse shows why, and can’t be saved', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go(open)
  await page.getByRole('textbox', { name: 'Aliases' }).fill('declared-w16')
  await page.getByRole('textbox', { name: 'Aliases' }).press('Enter')
  await expect(panel(page)).toContainText('declared-w16', SOON)
  await expect(page.getByRole('button', { name: /^Save/ })).toHaveAttribute('aria-disabled', 'true', SOON)
})

test('an upstream is renamed, gets another address, and is deleted only when no model uses it', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await make(node, 'POST', '/upstreams', { name: 'rented', base_url: `${node.provider.url}/plain/v1` })
  await go('/upstreams')
  const menu = async (name: string, item: string) => {
    await page
      .getByRole('button', { name: `Actions for ${name}` })
      .first()
      .click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await page.getByRole('button', { name: 'Actions for gpu-one' }).first().click()
  await expect(page.getByRole('menuitem', { name: /^Delete/ })).toContainText(`Used by ${MODEL}`)
  await page.keyboard.press('Escape')
  await menu('rented', 'Rename…')
  await page.getByLabel('New name').fill('rented-two')
  await page.getByRole('button', { name: 'Rename', exact: true }).click()
  await menu('rented', 'Change address…')
  await page.getByLabel('Address', { exact: true }).fill(`${node.provider.url}/mode-rented/v1`)
  await page.getByRole('button', { name: 'Change address', exact: true }).click()
  await expect(panel(page)).toContainText('Configuration check passed.', SOON)
  await page.getByRole('button', { name: /^Save/ }).click()
  await expect(page.getByText('Changes saved')).toBeVisible(SOON)
  await menu('rented-two', 'Delete')
  await expect(page.getByText('Deleted when you save')).toBeVisible()
  await page.getByRole('button', { name: /^Save/ }).click()
  await expect(page.getByRole('button', { name: 'Actions for rented-two' })).toHaveCount(0, SOON)
})

test('what torana.yaml declares has a lock and its line, and no field to change it', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go('/upstreams?model=declared-w16')
  await expect(page.getByText('Read-only, edit the file')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Move plain' })).toHaveCount(0)
  await page
    .getByRole('button', { name: /^Show .*\.yaml:\d+/ })
    .first()
    .click()
  await expect(page.getByRole('dialog')).toContainText('declared-w16', SOON)
})

test('a key is replaced from the page of a deployment, and a check by hand shows its result', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await go('/deployments/stored-w16%2Fgpu-one')
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Replace credential…' }).click()
  await page.getByLabel('API key').fill('sk-another-key-0001')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(page.getByText('Key of gpu-one saved')).toBeVisible(SOON)
  await expect(page.getByRole('row').filter({ hasText: 'gpu-one' }).first()).toContainText('today', SOON)
  await page.getByRole('button', { name: 'Check all' }).click()
  await expect(page.getByText(/upstreams answered/)).toBeVisible(SOON)
})

test('an operator reads everything and changes nothing', async ({ openConsole }) => {
  const { page, go, complaints } = await openConsole(node, { role: 'operator' })
  await go(open)
  await expect(weight(page, 'gpu-one')).toBeDisabled()
  await expect(page.getByRole('button', { name: 'Add upstream' })).toHaveAttribute('aria-disabled', 'true')
  assert.deepEqual(complaints, [])
})

for (const theme of ['light', 'dark'] as const)
  test(`${theme}: the page with pending changes can be used by everybody, also on a phone`, async ({
    openConsole,
  }) => {
    for (const size of ['desktop', 'phone'] as const) {
      const { page, go, complaints } = await openConsole(node, { theme, size })
      await go(`${open}&tab=routing`)
      await weight(page, 'gpu-one').fill('9')
      if (size === 'phone') await page.getByRole('button', { name: 'Review and save' }).click()
      await expect(panel(page)).toContainText('Configuration check passed.', SOON)
      await assertAccessible(page, `${theme} ${size}`)
      assert.deepEqual(complaints, [])
    }
  })
