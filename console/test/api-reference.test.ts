/** The API reference: readable, searchable, and tried under the person's own rights. */
import assert from 'node:assert/strict'
import { NODE_TOKEN } from '../../server/test/support/console-node.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

const node = nodeOfFile({ models: { 'plain-w16': { on: 'plain' } }, projects: { search: { keys: [] } } })

test('a read of the control API is sent with the session, and its answer is shown', async ({
  openConsole,
}) => {
  const { page, go, complaints } = await openConsole(node)
  await go('/api-reference?api=control&operation=listProjects')
  await expect(page.getByRole('heading', { name: 'Projects, by name' })).toBeVisible()
  await assertAccessible(page, 'the API reference')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await expect(page.getByRole('status').filter({ hasText: '200' })).toContainText('"search"')
  await page.getByRole('searchbox', { name: 'Search operations' }).fill('rotate key')
  await expect(page.getByRole('navigation', { name: 'Operations' }).getByRole('link')).toHaveCount(1)
  assert.deepEqual(complaints, [])
})

test('a write is sent once it is confirmed, and a faulty one shows the fault', async ({ openConsole }) => {
  const { page, go } = await openConsole(node)
  await go('/api-reference?api=control&operation=createProject')
  await page.getByLabel('Body', { exact: true }).last().fill('{"name": "made-here"}')
  const send = page.getByRole('button', { name: 'Send', exact: true })
  await expect(send).toHaveAttribute('aria-disabled', 'true')
  await page.getByText('This call changes the installation.').click()
  await send.click()
  await expect(page.getByRole('status').filter({ hasText: '201' })).toContainText('made-here')
  await send.click()
  await expect(page.getByRole('status').filter({ hasText: '409' })).toContainText('conflict')
  const { body } = await node.control('GET', '/projects', { token: NODE_TOKEN })
  assert.ok((body['data'] as { name: string }[]).some(({ name }) => name === 'made-here'))
})

test('a call of the gateway runs in the playground of a project; a developer gets no form for what it may not do', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node, { role: 'developer', projects: ['search'] })
  await go('/api-reference?operation=createEmbeddings')
  await page.getByLabel('Body', { exact: true }).last().fill('{"model": "plain-w16", "input": ["cat"]}')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await expect(page.getByRole('status').filter({ hasText: '200' })).toContainText('embedding')
  await expect(page.getByRole('link', { name: 'View trace' })).toBeVisible()
  await go('/api-reference?api=control&operation=createProject')
  await expect(page.getByRole('button', { name: 'Send', exact: true })).toHaveAttribute(
    'aria-disabled',
    'true',
  )
})
