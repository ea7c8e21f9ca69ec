/** A form grants what was chosen, and never more than was typed: in every field that takes several of many. */
import assert from 'node:assert/strict'
import type { Page } from '@playwright/test'
import { NODE_TOKEN } from '../../server/test/support/console-node.ts'
import { expect, nodeOfFile, test } from './support/test.ts'

const node = nodeOfFile({
  models: { 'plain-w16': { on: 'plain' }, 'plain-w32': { on: 'plain' } },
  projects: { search: { keys: [] }, studio: { keys: [] } },
})

interface Form {
  readonly open: (page: Page, go: (path: string) => Promise<void>) => Promise<void>
  readonly field: string
  /** Typed into the field; it finds `option` alone. */
  readonly typed: string
  readonly option: string
  readonly submit: string
  /** The write that a submit makes. */
  readonly path: string
}

const FORMS: Readonly<Record<string, Form>> = {
  'New key': {
    open: async (page, go) => {
      await go('/keys?new=1&project=search')
      await page.getByLabel('Name', { exact: true }).fill('typed')
    },
    field: 'Models',
    typed: 'w32',
    option: 'plain-w32',
    submit: 'Create key',
    path: '/api/v1/keys',
  },
  Invite: {
    open: async (page, go) => {
      await go('/settings/members')
      await page.getByRole('button', { name: 'Invite' }).first().click()
      await page.getByLabel('Email').fill('li.wei@example.com')
    },
    field: 'Projects',
    typed: 'sea',
    option: 'search',
    submit: 'Create invite link',
    path: '/api/v1/invitations',
  },
  'New token': {
    open: async (page, go) => {
      await go('/settings/tokens')
      await page.getByRole('button', { name: 'New token' }).first().click()
      await page.getByLabel('Name', { exact: true }).fill('typed')
      await page.getByRole('combobox', { name: 'Role' }).click()
      await page.getByRole('option', { name: 'Developer' }).click()
    },
    field: 'Projects',
    typed: 'stu',
    option: 'studio',
    submit: 'Create token',
    path: '/api/v1/tokens',
  },
}

for (const [name, form] of Object.entries(FORMS)) {
  // The bodies of requests, which WebDriver BiDi does not give, are read here.
  test(`${name}: ↵ chooses the option that was typed, and submits nothing @chromium`, async ({
    openConsole,
  }) => {
    const { page, go } = await openConsole(node)
    const writes = writesTo(page, form.path)
    await form.open(page, go)
    const field = page.getByRole('combobox', { name: form.field })
    await field.pressSequentially(form.typed)
    await expect(page.getByRole('option')).toHaveText([form.option])
    await field.press('Enter')
    await expect(page.getByRole('button', { name: `Remove ${form.option}` })).toBeVisible()
    await expect(field).toHaveValue('')
    await field.press('Enter')
    await field.pressSequentially(form.option)
    await field.press('Enter')
    await expect(page.getByRole('button', { name: `Remove ${form.option}` })).toBeVisible()
    assert.deepEqual(writes, [])
    await page.getByRole('button', { name: form.submit }).click()
    await expect.poll(() => writes.length).toBe(1)
    assert.match(writes[0] ?? '', new RegExp(`"${form.field.toLowerCase()}":\\["${form.option}"\\]`))
  })

  test(`${name}: text that was typed and not chosen stays, is named, and nothing is submitted`, async ({
    openConsole,
  }) => {
    const { page, go } = await openConsole(node)
    const writes = writesTo(page, form.path)
    await form.open(page, go)
    const field = page.getByRole('combobox', { name: form.field })
    await field.pressSequentially('nothing like it')
    await field.press('Enter')
    await expect(page.getByRole('alert')).toContainText('“nothing like it” isn’t selected yet')
    await page.getByRole('button', { name: form.submit }).click()
    await expect(field).toBeFocused()
    await field.fill(form.typed)
    // While the list is open, the rest of the page is hidden from assistive technology, and not from the mouse.
    await page.locator('button', { hasText: form.submit }).click()
    await expect(field).toHaveValue(form.typed)
    await expect(page.getByRole('alert')).toContainText(`“${form.typed}” isn’t selected yet`)
    await field.press('Control+Enter')
    assert.deepEqual(writes, [])
  })
}

test('a rule of the sign-on grants no project that was only typed', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  const writes = writesTo(page, '/api/v1/sign-on')
  await go('/settings/sign-on')
  await page.getByRole('button', { name: 'Add rule' }).click()
  const field = page.getByRole('combobox', { name: 'Projects' })
  await field.pressSequentially('sea')
  await field.press('Enter')
  await expect(page.getByRole('button', { name: 'Remove search' })).toBeVisible()
  await field.pressSequentially('stu')
  await page.locator('h1').click()
  await expect(page.getByRole('alert')).toContainText('“stu” isn’t selected yet')
  assert.deepEqual(writes, [])
})

test('what the tests made grants what was chosen @chromium', async () => {
  const { body } = await node.control('GET', '/keys?limit=200', { token: NODE_TOKEN })
  const keys = body['data'] as { name: string; models: string[] | null }[]
  assert.deepEqual(keys.find(({ name }) => name === 'typed')?.models, ['plain-w32'])
})

/** The bodies that the page sends there. */
function writesTo(page: Page, path: string): string[] {
  const bodies: string[] = []
  page.on('request', (request) => {
    if (request.method() !== 'GET' && new URL(request.url()).pathname === path)
      bodies.push(request.postData() ?? '')
  })
  return bodies
}
