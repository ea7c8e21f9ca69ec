/** A failure before a real node: it is found, explains itself, and is sent again with its cost first. */
import assert from 'node:assert/strict'
import { NODE_TOKEN } from '../../server/test/support/console-node.ts'
import { eventually } from '../../server/test/support/process.ts'
import { assertAccessible, expect, nodeOfFile, test } from './support/test.ts'

const KEPT = 'canary-key-of-kept-00000001'
const PLAIN = 'canary-key-of-plain-0000001'
const node = nodeOfFile({
  models: {
    'pair-w16': { on: ['mode-one', 'mode-two'], price: { usdPerMillionTokens: 1000 } },
  },
  projects: {
    kept: { capture: 'inputs', keys: [{ name: 'k', secret: KEPT }] },
    plain: { keys: [{ name: 'k', secret: PLAIN }] },
  },
})
const SOON = { timeout: 15_000 }

/** A request that both deployments fail. */
async function failure(key: string, clientId: string): Promise<string> {
  for (const mode of ['one', 'two']) await node.provider.setMode(mode, { mode: '503' })
  const answer = await node.ask(
    { model: 'pair-w16', input: 'a text to be found' },
    { key, headers: { 'x-client-request-id': clientId, 'x-torana-tags': 'team=red' } },
  )
  for (const mode of ['one', 'two']) await node.provider.setMode(mode)
  const id = String(answer.headers.get('x-request-id'))
  await eventually(async () => {
    const { body } = await node.control('GET', `/requests/${id}`, { token: NODE_TOKEN })
    assert.equal(body['log'], 'kept')
    if (key === KEPT) assert.equal((body['replay'] as { possible: boolean }).possible, true)
  })
  return id
}

test('a failure is found by the id of its caller, explains itself, and is sent again beside it', async ({
  openConsole,
}) => {
  await failure(KEPT, 'reindex/0417')
  const { page, go, complaints } = await openConsole(node)
  await go('/requests')
  await page.keyboard.press('/')
  await page.keyboard.type('reindex/0417')
  await page.getByRole('option', { name: /Client ID reindex\/0417/ }).click()
  await expect(page).toHaveURL(/client=reindex/)
  const row = page.getByRole('row').filter({ hasText: 'pair-w16' })
  await expect(row).toHaveCount(1, SOON)
  await row.getByRole('link').press('Enter')
  const error = page.getByRole('region', { name: 'Error returned' })
  await expect(error).toContainText('At fault: upstream', SOON)
  await expect(error.getByRole('link', { name: /upstream_failed/ })).toHaveAttribute(
    'href',
    /\/docs\/errors\/upstream_failed$/,
  )
  await expect(error).toContainText('mode-one: 503')
  await expect(error).toContainText('mode-two: 503')
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  const sheet = page.getByRole('dialog', { name: 'Replay request' })
  await expect(sheet).toContainText('Maximum cost', SOON)
  await expect(sheet).toContainText('Billed to project kept')
  await expect(sheet).toContainText('a text to be found')
  await assertAccessible(page, 'a replay before it is sent')
  await sheet.getByRole('button', { name: /^Replay for up to \$0\.0\d+$/ }).click()
  const compared = page.getByRole('region', { name: 'Original and replay' })
  await expect(compared.getByRole('row', { name: /Outcome/ })).toContainText('200', SOON)
  await expect(page).toHaveURL(/replay=[0-9a-f-]{36}/)
  await assertAccessible(page, 'a request beside its replay')
  await compared.getByRole('link').first().click()
  await expect(page.getByText(/replay of/)).toBeVisible(SOON)
  assert.deepEqual(complaints, [])
})

test('a request without its input says why it can’t be sent again, also by keyboard', async ({
  openConsole,
}) => {
  const id = await failure(PLAIN, 'plain/1')
  const { page, go } = await openConsole(node)
  await go(`/requests/${id}`)
  const replay = page.getByRole('button', { name: 'Replay', exact: true })
  await expect(replay).toHaveAttribute('aria-disabled', 'true', SOON)
  await replay.focus()
  await expect(page.getByText(/plain doesn’t capture inputs/)).toBeVisible(SOON)
})

test('capture is switched on for a project, and the list of projects says so', async ({ openConsole }) => {
  await node.control('POST', '/projects', { token: NODE_TOKEN, body: { name: 'stored' } })
  const { page, go } = await openConsole(node)
  await go('/settings/projects')
  await page.getByRole('button', { name: 'Actions for stored' }).click()
  await page.getByRole('menuitem', { name: /Edit/ }).click()
  await page.getByRole('switch', { name: 'Capture inputs' }).click()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await expect(page.getByRole('row').filter({ hasText: 'stored' })).toContainText('captures inputs', SOON)
  const { body } = await node.control('GET', '/projects?limit=100', { token: NODE_TOKEN })
  const stored = (body['data'] as { name: string; capture_inputs: boolean }[]).find(
    ({ name }) => name === 'stored',
  )
  assert.equal(stored?.capture_inputs, true)
})
