/** Keys and projects at the console: made, used, revoked, in a browser before a real node. */
import assert from 'node:assert/strict'
import type { Locator, Page } from '@playwright/test'
import { NODE_TOKEN, type ConsoleNode } from '../../server/test/support/console-node.ts'
import { eventually } from '../../server/test/support/process.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

/** As the console promises: every node refuses a revoked key within two seconds. */
const REFUSED_WITHIN_MS = 2000
/** More than a page has to go through. */
const MAX_TABS = 80

const node = nodeOfFile({
  models: { 'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 1000 } } },
  projects: {
    filed: {
      budget: { usd: 5, per: 'month', hard: true },
      keys: [],
      webhooks: [
        { url: 'https://hooks.example.com/a-secret-path', secret: 'whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0' },
      ],
    },
  },
})

async function made(path: string, body: unknown): Promise<Readonly<Record<string, unknown>>> {
  const answer = await node.control('POST', path, { token: NODE_TOKEN, body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

const statusWith = async (key: string): Promise<number> =>
  (await node.ask({ model: 'plain-w16', input: 'a text' }, { key })).status

test.beforeAll(() => made('/projects', { name: 'app' }))

test('a key that is revoked at the console is refused by the gateway within two seconds', async ({
  openConsole,
}) => {
  const secret = String((await made('/keys', { project: 'app', name: 'leaked' }))['secret'])
  await eventually(async () => assert.equal(await statusWith(secret), 200))
  const { page, go, complaints } = await openConsole(node)
  await go('/keys/app/leaked')
  await page.getByRole('button', { name: 'Revoke…' }).click()
  await page.getByRole('alertdialog').getByText('All nodes refuse the key with 401').waitFor()
  await page.getByRole('button', { name: 'Revoke key' }).click()
  const pressedMs = performance.now()
  while ((await statusWith(secret)) !== 401)
    assert.ok(performance.now() - pressedMs < REFUSED_WITHIN_MS, 'it still works')
  assert.ok(performance.now() - pressedMs < REFUSED_WITHIN_MS)
  await page.getByText('app/leaked revoked').waitFor()
  await go('/keys?state=revoked')
  await page.getByText('app/leaked', { exact: true }).first().waitFor()
  assert.deepEqual(complaints, [])
})

/** Presses Tab until it is there. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let pressed = 0; pressed < MAX_TABS; pressed += 1) {
    if ((await target.count()) === 1 && (await target.evaluate((one) => one === document.activeElement)))
      return
    await page.keyboard.press('Tab')
  }
  assert.fail(`the keyboard does not lead to ${String(target)}`)
}

async function countPointers(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    const counted = window as unknown as { pointers: number }
    counted.pointers = 0
    for (const kind of ['pointerdown', 'mousedown', 'touchstart'])
      document.addEventListener(kind, () => (counted.pointers += 1), true)
  })
  return () => page.evaluate(() => (window as unknown as { pointers: number }).pointers)
}

/** Everything that the console remembers: storage, and what it has loaded or sent. */
function remembered(page: Page): Promise<{ storage: string; cache: string; queries: number }> {
  return page.evaluate(() => {
    interface Cache {
      getAll(): { state: unknown; queryKey?: unknown }[]
    }
    interface Fiber {
      memoizedProps?: { client?: { getQueryCache(): Cache; getMutationCache(): Cache } }
      child: Fiber | null
    }
    const host = [...document.querySelectorAll('body, body > *')].find((one) =>
      Object.keys(one).some((name) => name.startsWith('__reactContainer$')),
    ) as unknown as Record<string, Fiber>
    const root = Object.keys(host).find((name) => name.startsWith('__reactContainer$')) ?? ''
    let fiber: Fiber | null | undefined = host[root]
    // The provider of the client is the only child of an only child, down from the root.
    while (fiber && fiber.memoizedProps?.client?.getQueryCache === undefined) fiber = fiber.child
    const client = fiber?.memoizedProps?.client
    if (client === undefined) throw new Error('the cache of queries is not where it was')
    const kept = [...client.getQueryCache().getAll(), ...client.getMutationCache().getAll()]
    const seen = new WeakSet<object>()
    return {
      storage: JSON.stringify([
        Object.entries(localStorage),
        Object.entries(sessionStorage),
        document.cookie,
        location.href,
        history.state,
      ]),
      cache: JSON.stringify(
        kept.map(({ state, queryKey }) => ({ state, queryKey })),
        (_, value: unknown) => {
          if (typeof value !== 'object' || value === null) return value
          if (seen.has(value)) return undefined
          seen.add(value)
          return value
        },
      ),
      queries: kept.length,
    }
  })
}

// Only Chromium lets a test read the clipboard.
test('a key is made by keyboard alone, and its secret is shown once and kept nowhere @chromium', async ({
  openConsole,
}) => {
  const { page, context, go, complaints } = await openConsole(node)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const pointers = await countPointers(page)
  const answers: { what: string; text: Promise<string> }[] = []
  page.on('response', (answer) => {
    const { method, url } = { method: answer.request().method(), url: answer.url() }
    if (url.includes('/api/v1/') && !url.includes('/events'))
      answers.push({ what: `${method} ${url}`, text: answer.text().catch(() => '') })
  })
  await go('/keys?project=app')
  await tabTo(page, page.getByRole('button', { name: 'New key' }).first())
  await page.keyboard.press('Enter')
  const name = page.getByLabel('Name', { exact: true })
  await expect(name).toBeFocused()
  await page.keyboard.type('by-hand')
  await tabTo(page, page.getByRole('textbox', { name: 'Budget' }))
  await page.keyboard.type('12.50')
  await page.keyboard.press('Control+Enter')

  const field = page.getByRole('textbox', { name: 'Secret' })
  await expect(field).toBeFocused()
  const secret = await field.inputValue()
  assert.match(secret, /^tr_/)
  await page.keyboard.press('Escape')
  await expect(field, 'a secret that nobody kept is not closed away').toBeVisible()
  await tabTo(page, page.getByRole('button', { name: 'Copy', exact: true }).first())
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), secret)
  const open = await remembered(page)
  await tabTo(page, page.getByRole('button', { name: 'Done' }))
  await page.keyboard.press('Enter')
  await expect(field).toHaveCount(0)
  await page.getByText('app/by-hand').first().waitFor()
  assert.equal(await pointers(), 0)
  await eventually(async () => assert.equal(await statusWith(secret), 200))

  await page.reload()
  await go('/keys/app/by-hand')
  await go('/audit')
  const after = await remembered(page)
  for (const { storage, cache, queries } of [open, after]) {
    assert.ok(queries > 0)
    assert.ok(!storage.includes(secret))
    assert.ok(!cache.includes(secret))
  }
  assert.match(open.cache, /by-hand/, 'the cache that was read is the one of this page')
  assert.ok(!(await page.content()).includes(secret))
  const texts = await Promise.all(answers.map(async ({ what, text }) => ({ what, text: await text })))
  const telling = texts.filter(({ text }) => text.includes(secret)).map(({ what }) => what)
  assert.deepEqual(telling, [`POST ${node.controlUrl}/api/v1/keys`])
  assert.ok(texts.length > 5)
  assert.deepEqual(complaints, [])
})

async function projectsOf(of: ConsoleNode): Promise<readonly Record<string, unknown>[]> {
  const { body } = await of.control('GET', '/projects', { token: NODE_TOKEN })
  return body['data'] as Record<string, unknown>[]
}

test('an admin makes a project, changes it, and deletes it by its name', async ({ openConsole }) => {
  const { page, go, complaints } = await openConsole(node)
  await go('/settings/projects')
  await page.getByText('https://hooks.example.com').first().waitFor()
  assert.ok(!(await page.content()).includes('a-secret-path'))
  await page.getByRole('button', { name: 'New project' }).click()
  await page.getByLabel('Name', { exact: true }).fill('shop')
  await page.getByRole('textbox', { name: 'Budget' }).fill('40')
  await page.getByRole('button', { name: 'Create project' }).click()
  await page.getByText('Project shop created').waitFor()
  const shop = (await projectsOf(node)).find(({ name }) => name === 'shop')
  assert.deepEqual(shop?.['budget'], { usd: '40.000000000', per: 'month', hard: true })

  await page.getByRole('button', { name: 'Actions for shop' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'Limits per minute: requests' }).fill('600')
  await page.getByRole('textbox', { name: 'Budget' }).fill('')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('600 req').waitFor()
  const changed = (await projectsOf(node)).find(({ name }) => name === 'shop')
  assert.deepEqual([changed?.['budget'], changed?.['limits']], [null, { requests_per_minute: 600 }])

  await page.getByRole('button', { name: 'Actions for shop' }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await page.getByRole('button', { name: 'Delete project' }).press('Enter')
  assert.ok((await projectsOf(node)).some(({ name }) => name === 'shop'))
  await page.getByLabel('Type shop to confirm').fill('shop')
  await page.getByRole('button', { name: 'Delete project' }).click()
  await page.getByText('Project shop deleted').waitFor()
  assert.ok(!(await projectsOf(node)).some(({ name }) => name === 'shop'))

  await page.getByRole('button', { name: 'Actions for filed' }).click()
  await page
    .getByText(/Defined in torana\.yaml:\d+\. Change it there\./)
    .first()
    .waitFor()
  assert.deepEqual(complaints, [])
})

test('a developer sees its own projects, and changes none', async ({ openConsole }) => {
  const { page, go } = await openConsole(node, { role: 'developer', projects: ['app'] })
  await go('/settings/projects')
  await page.getByRole('button', { name: 'Actions for app' }).click()
  await page.getByText('Requires the Admin role.').first().waitFor()
  await expect(page.getByRole('button', { name: 'New project' })).toHaveCount(0)
  await expect(page.getByText('filed')).toHaveCount(0)
})

test('a developer is offered no new project, and reads which terms of a key only an admin loosens', async ({
  openConsole,
}) => {
  await made('/keys', { project: 'app', name: 'bound', limits: { requests_per_minute: 5 } })
  const { page, go } = await openConsole(node, { role: 'developer', projects: ['app'] })
  await go('/keys')
  await page.getByRole('button', { name: 'New key' }).first().click()
  await page.getByRole('combobox', { name: 'Project' }).click()
  await page.getByRole('option', { name: 'app' }).waitFor()
  await expect(page.getByRole('option', { name: 'New project…' })).toHaveCount(0)
  await go('/keys/app/bound')
  await page.getByRole('button', { name: 'Edit…' }).click()
  await page.getByText('Loosening them requires the Admin role.').waitFor()
  await page.getByRole('textbox', { name: 'Requests' }).fill('6')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText(/would let key app\/bound do more than now/).waitFor()
})

for (const theme of ['light', 'dark'] as const)
  test(`keys and projects have no grave problem of accessibility: ${theme}`, async ({ openConsole }) => {
    const { page, go, complaints } = await openConsole(node, { theme })
    await go('/keys?new=1&project=app')
    await page.getByLabel('Name', { exact: true }).fill(`of-${theme}`)
    await page.getByText('Scopes, concurrency, allowed IPs').click()
    await assertAccessible(page, `new key ${theme}`)
    await page.getByRole('button', { name: /^Create key/ }).click()
    await page.getByRole('textbox', { name: 'Secret' }).waitFor()
    await assertAccessible(page, `secret, once ${theme}`)
    for (const section of ['projects', 'retention']) {
      await go(`/settings/${section}`)
      await assertAccessible(page, `${section} ${theme}`)
    }
    await page.getByText('Space checks').waitFor()
    await go('/settings/projects')
    await page.getByRole('button', { name: 'New project' }).click()
    await page.getByLabel('Name', { exact: true }).waitFor()
    await assertAccessible(page, `new project ${theme}`)
    await go('/settings/projects')
    await page.getByRole('button', { name: 'Actions for app' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await page.getByRole('alertdialog').waitFor()
    await assertAccessible(page, `delete a project ${theme}`)
    assert.deepEqual(complaints, [])
  })

test('projects and retention are there in Chinese', async ({ openConsole }) => {
  const { page, go } = await openConsole(node, { language: 'zh' })
  await go('/settings/projects')
  await page.getByRole('button', { name: '新建项目' }).waitFor()
  await page.getByText('最近的 webhook 投递').waitFor()
  await go('/settings/retention')
  await page.getByText('图片和图片任务').waitFor()
})
