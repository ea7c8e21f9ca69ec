/** People at the console: the first steps, invitations, sign-on, sessions; in a browser before a real node. */
import assert from 'node:assert/strict'
import type { Page } from '@playwright/test'
import { NODE_TOKEN, type ConsoleNode } from '../../server/test/support/console-node.ts'
import { CLIENT, startIdentityProvider } from '../../server/test/support/identity-provider.ts'
import { assertAccessible, expect, test } from './support/test.ts'

const PASSWORD = 'correct horse battery staple'

/** Number of presses, by mouse or by the Enter key. */
async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(() => {
    const counted = window as unknown as { clicks: number }
    counted.clicks = 0
    document.addEventListener('click', (event) => event.isTrusted && (counted.clicks += 1), true)
  })
  return () => page.evaluate(() => (window as unknown as { clicks: number }).clicks)
}

async function becomeAdmin(page: Page, node: ConsoleNode): Promise<void> {
  await page.goto(String(node.welcomeUrl))
  await page.getByLabel('Your name').fill('Jonas Okafor')
  await page.getByLabel('Email').fill('jonas@example.com')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('You are the first admin').waitFor()
}

async function signInAs(page: Page, node: ConsoleNode, email: string): Promise<void> {
  await page.goto(`${node.controlUrl}/sign-in`)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

test('five clicks lead from the first-run link to a key with a budget', async ({
  openConsole,
  startNode,
}) => {
  const node = await startNode({ file: false })
  const { page, complaints } = await openConsole(node, { role: null })
  const clicks = await countClicks(page)
  await becomeAdmin(page, node)
  assert.ok(!page.url().includes('token='), 'the token stays in the address')
  await assertAccessible(page, 'welcome')
  await page.getByRole('button', { name: /Your own server/ }).click()
  await page
    .getByLabel(/address/i)
    .first()
    .fill(`${node.provider.url}/plain/v1`)
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByRole('button', { name: /^Add \d+ models?$/ }).click()
  await page.getByRole('button', { name: 'Create key' }).click()
  const secret = await page.getByLabel('The secret is shown once. Save it now.').inputValue()
  assert.match(secret, /^tr_/)
  assert.equal(await clicks(), 5)
  const { body } = await node.control('GET', '/keys', { token: NODE_TOKEN })
  const keys = body['data'] as { id: string; budget: { usd: string; hard: boolean } | null }[]
  const key = keys.find(({ id }) => id === 'app/first')
  assert.deepEqual([key?.budget?.usd, key?.budget?.hard], ['20.000000000', true])
  const answer = await fetch(`${node.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })
  assert.equal(answer.status, 200)
  const stored = await page.evaluate(() =>
    JSON.stringify([Object.values(localStorage), Object.values(sessionStorage)]),
  )
  assert.ok(!stored.includes(secret))
  assert.deepEqual(
    complaints.filter((one) => !one.includes('401')),
    [],
  )
})

test('models of your own server are declared free in the first steps, and the key of the first steps calls them', async ({
  openConsole,
  startNode,
}) => {
  const node = await startNode({ file: false })
  const { page, complaints } = await openConsole(node, { role: null })
  await becomeAdmin(page, node)
  await page.getByRole('button', { name: /Your own server/ }).click()
  await page
    .getByLabel(/address/i)
    .first()
    .fill('http://127.0.0.1:1/v1')
  await page.getByRole('button', { name: 'Check' }).click()
  await expect(page.getByText(/127\.0\.0\.1:1 could not be reached: .*ECONNREFUSED/)).toBeVisible()
  await page
    .getByLabel(/address/i)
    .first()
    .fill(`${node.provider.url}/plain/v1`)
  await page.getByRole('button', { name: 'Check' }).click()
  await expect(page.getByText(/models? ha(s|ve) no price/)).toBeVisible()
  await page.getByRole('button', { name: /Declare (it|them) free/ }).click()
  await expect(page.getByText(/models? ha(s|ve) no price/)).toBeHidden()
  await assertAccessible(page, 'models declared free')
  await page.getByRole('button', { name: /^Add \d+ models?$/ }).click()
  await expect(page.getByText('can’t call them')).toBeHidden()
  await page.getByRole('button', { name: 'Create key' }).click()
  const secret = await page.getByLabel('The secret is shown once. Save it now.').inputValue()
  const snippet = page.locator('pre')
  await expect(snippet).toContainText(`export TORANA_KEY='tr_…${secret.slice(-4)}'`)
  const text = await snippet.innerText()
  const model = /"model": "([^"]+)"/.exec(text)?.[1]
  assert.notEqual(model, 'demo-embed')
  assert.ok(!text.includes(secret) && !text.includes('OPENAI'), text)
  await page.getByRole('button', { name: 'Send request' }).click()
  await expect(page.getByText(/^Answered in /)).toBeVisible()
  await expect(page.getByText(`${model} answered`)).toBeVisible()
  await assertAccessible(page, 'a first answer')
  await expect(page.getByText(/^First request, /)).toBeVisible()
  const { body } = await node.control('GET', '/requests', { token: NODE_TOKEN })
  const rows = body['data'] as { key: string; model: string }[]
  assert.deepEqual(
    rows.map((row) => [row.key, row.model]),
    [['app/first', model]],
  )
  await page
    .getByRole('link', { name: /See texts as a map/ })
    .last()
    .click()
  await expect(page.locator('h1')).toHaveText('Embeddings')
  assert.deepEqual(
    complaints.filter((one) => !one.includes('401')),
    [],
  )
})

test('a hard budget beside models without a price is warned about, and a first call that it refuses leads to a fix', async ({
  openConsole,
  startNode,
}) => {
  const node = await startNode({ file: false })
  const { page } = await openConsole(node, { role: null })
  await becomeAdmin(page, node)
  await page.getByRole('button', { name: /Your own server/ }).click()
  await page
    .getByLabel(/address/i)
    .first()
    .fill(`${node.provider.url}/plain/v1`)
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByRole('button', { name: /^Add \d+ models?$/ }).click()
  const warning = page.getByText('With a hard budget this key can’t call them (403 model_unpriced).')
  await expect(warning).toBeVisible()
  await page.getByRole('button', { name: 'Alert only' }).click()
  await expect(warning).toBeHidden()
  await page.getByRole('button', { name: 'Block requests' }).click()
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'Send request' }).click()
  await expect(page.getByText(/If you run the server yourself, declare the model free/)).toBeVisible()
  await assertAccessible(page, 'a first call that failed')
  await page.getByRole('button', { name: /^Declare .* free$/ }).click()
  await expect(page.getByText(/^Answered in /)).toBeVisible()
  const secret = await page.getByLabel('The secret is shown once. Save it now.').inputValue()
  const model = /"model": "([^"]+)"/.exec(await page.locator('pre').innerText())?.[1]
  assert.equal((await node.ask({ model, input: 'cat' }, { key: secret })).status, 200)
})

test('the first-run link works once', async ({ openConsole, startNode }) => {
  const node = await startNode()
  const first = await openConsole(node, { role: null })
  await becomeAdmin(first.page, node)
  const second = await openConsole(node, { role: null })
  await second.page.goto(String(node.welcomeUrl))
  await second.page.getByText('This link was already used').waitFor()
})

test('an admin invites a developer, who joins and sees its own project alone', async ({
  openConsole,
  startNode,
}) => {
  const node = await startNode()
  for (const project of ['search', 'shop'])
    await node.control('POST', '/projects', { token: NODE_TOKEN, body: { name: project } })
  const admin = await openConsole(node, { role: null })
  await becomeAdmin(admin.page, node)
  await admin.go('/settings/members')
  await assertAccessible(admin.page, 'members')
  await admin.page.getByRole('button', { name: 'Invite', exact: true }).click()
  await admin.page.getByLabel('Email').fill('mia@example.com')
  await admin.page.getByRole('combobox', { name: 'Projects' }).pressSequentially('sea')
  await admin.page.getByRole('option', { name: 'search' }).click()
  await admin.page.getByRole('button', { name: 'Create invite link' }).click()
  await assertAccessible(admin.page, 'the link of an invitation')
  const link = await admin.page.getByRole('textbox', { name: 'Share this link' }).inputValue()
  assert.match(link, /\/invite\/[\w-]{43}$/)

  const invited = await openConsole(node, { role: null })
  await invited.page.goto(link)
  await invited.page.getByText('Role: Developer, in search.').waitFor()
  await assertAccessible(invited.page, 'invitation')
  await invited.page.getByLabel('Your name').fill('Mia Chen')
  await invited.page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await invited.page.getByRole('button', { name: 'Join' }).click()
  await invited.page.getByRole('button', { name: /^Mia Chen/ }).waitFor()
  await expect(invited.page.getByRole('link', { name: 'Audit' })).toHaveCount(0)
  await invited.go('/settings/members')
  await invited.page.getByText('Members requires the Admin role.').waitFor()

  await admin.go('/settings/members')
  await admin.page.getByText('mia@example.com').waitFor()
  await admin.page.getByRole('button', { name: 'Actions for Mia Chen' }).click()
  await admin.page.getByRole('menuitem', { name: 'Disable' }).click()
  await admin.page.getByRole('button', { name: 'Disable' }).click()
  await admin.page.getByText('disabled').first().waitFor()
  await invited.page.goto(`${node.controlUrl}/keys`)
  await invited.page.waitForURL(/\/sign-in/)
})

const PEOPLE = {
  dora: { name: 'Dora', email: 'dora@example.com', email_verified: true, groups: ['search'] },
  otto: { name: 'Otto', email: 'otto@example.com', email_verified: true, groups: ['ops'] },
  anna: { name: 'Anna', email: 'anna@example.com', email_verified: true, groups: ['admins'] },
  nina: { name: 'Nina', email: 'nina@example.com', email_verified: true, groups: [] },
}

test('each role signs in by the identity provider, and comes to the page that was asked for', async ({
  openConsole,
  startNode,
}) => {
  const node = await startNode()
  const callback = `${node.controlUrl}/api/v1/session/oidc/callback`
  const provider = await startIdentityProvider(PEOPLE, [callback])
  const rules = [
    { claim: 'groups', value: 'search', role: 'developer', projects: ['search'] },
    { claim: 'groups', value: 'ops', role: 'operator' },
    { claim: 'groups', value: 'admins', role: 'admin' },
  ]
  const body = {
    issuer: provider.issuer,
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    name: 'Example ID',
    rules,
  }
  assert.equal((await node.control('PUT', '/sign-on', { token: NODE_TOKEN, body })).status, 200)
  for (const [person, role] of [
    ['dora', 'Developer'],
    ['otto', 'Operator'],
    ['anna', 'Admin'],
  ] as const) {
    const { page } = await openConsole(node, { role: null })
    await page.goto(`${node.controlUrl}/models?kind=embedding`)
    await page.getByRole('link', { name: 'Sign in with Example ID' }).click()
    await page.locator('input[name=login]').fill(person)
    await page.locator('input[name=password]').fill('x')
    await page.locator('button[type=submit]').click()
    await page.locator('button[type=submit]').click()
    await page.waitForURL(/\/models\?kind=embedding/)
    const account = page.getByRole('button', { name: new RegExp(`^${PEOPLE[person].name}`) })
    await expect(account).toContainText(role)
  }
  const { page } = await openConsole(node, { role: null })
  await page.goto(`${node.controlUrl}/sign-in`)
  await page.getByRole('link', { name: 'Sign in with Example ID' }).click()
  await page.locator('input[name=login]').fill('nina')
  await page.locator('input[name=password]').fill('x')
  await page.locator('button[type=submit]').click()
  await page.locator('button[type=submit]').click()
  await page.getByText('Your account has no role here').waitFor()
})

test('a member who signs out everywhere is out in every browser', async ({ openConsole, startNode }) => {
  const node = await startNode()
  const one = await openConsole(node, { role: null })
  await becomeAdmin(one.page, node)
  const two = await openConsole(node, { role: null })
  await signInAs(two.page, node, 'jonas@example.com')
  await two.page.getByRole('button', { name: /^Jonas Okafor/ }).click()
  await two.page.getByRole('menuitem', { name: 'Sign out everywhere' }).click()
  await two.page.waitForURL(/\/sign-in/)
  await one.page.goto(`${node.controlUrl}/keys`)
  await one.page.waitForURL(/\/sign-in/)
})

for (const theme of ['light', 'dark'] as const)
  test(`no section of the settings about people has a grave problem of accessibility: ${theme}`, async ({
    openConsole,
    startNode,
  }) => {
    const node = await startNode()
    const { page, go, complaints } = await openConsole(node, { theme })
    for (const section of ['general', 'members', 'sign-on', 'tokens', 'about']) {
      await go(`/settings/${section}`)
      await assertAccessible(page, `${section} ${theme}`)
    }
    await go('/settings/tokens')
    await page.getByRole('button', { name: 'New token' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('terraform')
    await assertAccessible(page, `new token ${theme}`)
    await page.getByRole('button', { name: 'Create token' }).click()
    const secret = await page.getByRole('textbox', { name: 'Save this token' }).inputValue()
    assert.match(secret, /^tra_/)
    await page.getByRole('button', { name: 'I’ve saved it' }).click()
    await page.getByText('terraform', { exact: true }).waitFor()
    assert.ok(!(await page.content()).includes(secret))
    const outside = await openConsole(node, { role: null, theme })
    await outside.page.goto(`${node.controlUrl}/sign-in`)
    await outside.page.getByLabel('Email').waitFor()
    await assertAccessible(outside.page, `sign-in ${theme}`)
    assert.deepEqual(complaints, [])
  })
