/** What holds on every page: nothing from elsewhere, nothing refused by the browser, everything by keyboard. */
import assert from 'node:assert/strict'
import { NODE_TOKEN } from '../../server/test/support/console-node.ts'
import { startPostgresServer } from '../../server/test/support/servers.ts'
import { memberCookie } from './support/member.ts'
import { TITLED } from './support/pages.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

const node = nodeOfFile()
/** Longest visit of one page with all rules of axe, on a machine that runs four other suites. */
const MAX_PAGE_MS = 30_000
const below = nodeOfFile({ env: { CONSOLE_URL: 'http://127.0.0.1/torana/console' } })

for (const theme of ['light', 'dark'] as const)
  test(`no page has a grave problem of accessibility, asks another host or is refused anything: ${theme}${theme === 'dark' ? ' @nightly' : ''}`, async ({
    openConsole,
  }) => {
    test.setTimeout(TITLED.length * MAX_PAGE_MS)
    const { page, go, complaints, asked } = await openConsole(node, { theme })
    for (const [path, title] of TITLED) {
      await go(path)
      await expect(page.locator('h1')).toHaveText(title)
      await assertAccessible(page, `${path} ${theme}`)
    }
    assert.deepEqual(complaints, [])
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(node.controlUrl)),
      [],
    )
  })

test('the content security policy holds on the page of the console', async () => {
  const answer = await fetch(node.controlUrl, { headers: { accept: 'text/html' } })
  assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'self'/)
})

test('a page that does not exist says so, and leads back', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/nowhere')
  await page.getByRole('link', { name: 'Go to overview' }).click()
  await expect(page.locator('h1')).toHaveText('Overview')
})

test('the keyboard alone leads everywhere, until letters are turned off', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/')
  for (const [, title, letter] of TITLED) {
    // A loaded machine may take longer between the two letters than a person does.
    await expect(async () => {
      await page.keyboard.press('g')
      await page.keyboard.press(letter)
      await expect(page.locator('h1')).toHaveText(title, { timeout: 5000 })
    }).toPass({ timeout: 30_000 })
  }
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox')).toBeFocused()
  await page.keyboard.type('settings sign')
  const section = page.getByRole('option', { name: 'Settings: Single sign-on' })
  await expect(section).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/settings\/sign-on$/)
  await expect(page.locator('h1')).toHaveText('Settings')
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox')).toBeFocused()
  await page.keyboard.type('budg')
  await page.keyboard.press('Enter')
  await expect(page.locator('h1')).toHaveText('Budgets')
  await page.keyboard.press('?')
  const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await expect(list).toBeVisible()
  await assertAccessible(page, 'the list of keys')
  await list.getByRole('switch').press('Space')
  await page.keyboard.press('Escape')
  await expect(list).toBeHidden()
  await page.keyboard.press('g')
  await page.keyboard.press('k')
  await expect(page.locator('h1')).toHaveText('Budgets')
})

test('back leads to where one was, and the scope stays in the address', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/requests?project=default')
  await page.getByRole('link', { name: 'Models' }).click()
  await expect(page).toHaveURL(/\/models\?project=default$/)
  await page.goBack()
  await expect(page).toHaveURL(/\/requests\?project=default$/)
})

test('a link to a project that one may not see says so, leads back, and is not kept for the next visit', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node, { role: 'developer', projects: ['default'] })
  const kept = () => page.evaluate(() => localStorage.getItem('torana.project'))
  await go('/requests?project=default')
  await expect.poll(kept).toBe('default')
  await go('/requests?project=studio')
  const sentence = page.getByText('You are not a member of project studio.')
  await expect(sentence).toBeVisible()
  await expect(page.getByRole('button', { name: 'Project: studio' })).toBeVisible()
  await assertAccessible(page, 'a link to another project')
  assert.equal(await kept(), 'default')
  await page.getByRole('button', { name: 'Show my projects' }).click()
  await expect(page.locator('h1')).toHaveText('Requests')
  await expect(page).toHaveURL(/\/requests$/)
  await go('/requests?project=studio')
  await page.getByRole('link', { name: 'Overview' }).click()
  await expect(page.locator('h1')).toHaveText('Overview')
  await go('/requests?project=studio')
  await page.keyboard.press('g')
  await page.keyboard.press('u')
  await expect(page.locator('h1')).toHaveText('Usage & cost')
  await page.evaluate(() => localStorage.setItem('torana.project', 'studio'))
  await go('/keys')
  await expect(sentence).toBeVisible()
  await go('/keys')
  await expect(page.locator('h1')).toHaveText('Keys')
  assert.equal(await kept(), null)
})

test('a membership that ends while the console is open leads to the same place', async ({ openConsole }) => {
  const email = 'mona.berg@example.com'
  const { page, go } = await openConsole(node, {
    member: { role: 'developer', name: 'Mona Berg', email, projects: ['default', 'studio'] },
  })
  await go('/requests?project=studio')
  await expect(page.locator('h1')).toHaveText('Requests')
  const { body } = await node.control('GET', '/members?limit=100', { token: NODE_TOKEN })
  const { id } = (body['data'] as { id: string; email: string }[]).find((one) => one.email === email)!
  const changed = await node.control('PATCH', `/members/${id}`, {
    token: NODE_TOKEN,
    body: { projects: ['default'] },
  })
  assert.equal(changed.status, 200, changed.text)
  await page.getByRole('link', { name: 'Usage & cost' }).click()
  await expect(page.getByText('You are not a member of project studio.')).toBeVisible()
})

test('the theme is chosen, kept, and there before the first paint', async ({ openConsole }) => {
  const { page, go } = await openConsole(node, { theme: 'light' })
  await go('/')
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox')).toBeFocused()
  await page.keyboard.type('switch to dark')
  await page.keyboard.press('Enter')
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  await page.reload({ waitUntil: 'commit' })
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
})

test('in Chinese no English sentence is left in the frame', async ({ openConsole }) => {
  const { page, go } = await openConsole(node, { language: 'zh' })
  await go('/')
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh')
  await expect(page.getByRole('navigation')).toContainText('请求')
  const text = await page.getByRole('navigation').innerText()
  assert.doesNotMatch(text, /[A-Za-z]{3}/)
})

test('below a path of its own, deep links, links and calls stay below it', async ({ openConsole }) => {
  const url = `${below.controlUrl}/torana/console`
  const { page, go, asked, complaints } = await openConsole(below, { url })
  await go('/keys')
  await expect(page.locator('h1')).toHaveText('Keys')
  await page.getByRole('link', { name: 'Models' }).click()
  await expect(page).toHaveURL(`${url}/models`)
  await page.reload()
  await expect(page.locator('h1')).toHaveText('Models')
  assert.deepEqual(complaints, [])
  assert.deepEqual(
    asked.filter((address) => !address.startsWith(`${url}/`)),
    [],
  )
})

test('on a phone the places are at the bottom, and the rest behind More', async ({ openConsole }) => {
  const { page, go } = await openConsole(node, { size: 'phone' })
  await go('/')
  const bar = page.getByRole('navigation')
  await bar.getByRole('link', { name: 'Cost' }).click()
  await expect(page.locator('h1')).toHaveText('Usage & cost')
  await bar.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Audit' }).click()
  await expect(page.locator('h1')).toHaveText('Audit')
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  assert.equal(overflow, 0, 'nothing is wider than the screen')
})

test('a visitor without a session is led to the sign-in, and back to the requested page', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node, { role: null })
  await go('/keys?state=tidy')
  await expect(page).toHaveURL(/\/sign-in\?return=/)
})

test('what a role may never read is not in its navigation', async ({ openConsole }) => {
  const { page, go } = await openConsole(node, { role: 'developer', projects: ['default'] })
  await go('/')
  const places = await page.getByRole('navigation').getByRole('link').allInnerTexts()
  assert.deepEqual(places, [
    'Overview',
    'Requests',
    'Batches',
    'Models',
    'Embeddings',
    'Images',
    'Usage & cost',
    'Budgets',
    'Alerts',
    'Keys',
    'Settings',
  ])
})

test('a session that ends leaves the page as it is, under a dialog that asks to sign in again', async ({
  openConsole,
}) => {
  const member = { role: 'operator', name: 'Maria Keller', email: 'maria.keller@example.com' } as const
  const { page, go } = await openConsole(node, { member })
  const cookie = await memberCookie(node.controlUrl, member, NODE_TOKEN)
  await go('/models')
  await expect(page.getByText('Maria Keller')).toBeVisible()
  await page.locator('[data-page-search]').fill('half typed')
  const origin = node.controlUrl
  const ended = await node.control('DELETE', '/session', { cookie, origin })
  assert.equal(ended.status, 204)
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Budgets' }).click()
  const dialog = page.getByRole('dialog', { name: 'Sign in again' })
  await expect(dialog).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(dialog).toBeVisible()
  await assertAccessible(page, 'the dialog of a session that ended')
})

test('while PostgreSQL is away a bar says so and nothing can be changed; afterwards both are over', async ({
  openConsole,
  startNode,
}) => {
  const postgres = await startPostgresServer({ waitsForDisk: false })
  const own = await startNode({ env: { DATABASE_URL: postgres.url } })
  const { page, go } = await openConsole(own)
  await go('/keys/default/test')
  const bar = page.getByRole('status').filter({ hasText: 'PostgreSQL has been unreachable since' })
  await expect(bar).toHaveCount(0)
  await postgres.kill9()
  await page.getByRole('link', { name: 'Budgets' }).click()
  await expect(bar).toBeVisible({ timeout: 20_000 })
  await assertAccessible(page, 'a page while PostgreSQL is away')
  await postgres.restart()
  await page.getByRole('link', { name: 'Keys', exact: true }).click()
  await expect(bar).toHaveCount(0, { timeout: 20_000 })
})

test('the palette finds what a name stands for, and goes there', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('plain-w16')
  const found = page.getByRole('option', { name: /plain-w16/ }).first()
  await expect(found).toBeVisible()
  await assertAccessible(page, 'the palette')
  // What an earlier text found is not offered for the next one, also while the node is slow.
  await page.route('**/api/v1/resolve*', () => undefined)
  await page.getByRole('combobox').fill('qzx-17')
  await expect(page.getByText('Loading…')).toBeVisible()
  await expect(found).toHaveCount(0)
  await page.unroute('**/api/v1/resolve*')
  await page.getByRole('combobox').fill('plain-w16')
  await expect(found).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/plain-w16/)
  await go('/go/plain-w16')
  await expect(page).toHaveURL(/\/(models|deployments)\/plain-w16/)
  await go('/go/nothing-has-this-id')
  await expect(page.getByText('Nothing found')).toBeVisible()
})
