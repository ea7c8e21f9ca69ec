import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_TOKEN, DEVELOPER_TOKEN, startControl } from '#test/support/control.ts'
import { memoryDirectory } from '#test/support/directory.ts'
import { assertFault } from '#test/support/errors.ts'

const { ask, url, keyStore } = await startControl(memoryDirectory())
for (let index = 1; index <= 600; index += 1)
  await keyStore.createProject(
    `p${index}`,
    {},
    { kind: 'member', name: index % 2 === 0 ? 'even' : 'odd', address: '192.0.2.9' },
  )

interface Entry {
  readonly sequence: number
  readonly actor: string
  readonly address: string | null
  readonly target: string
  readonly detail: Record<string, unknown>
}
interface Page {
  readonly data: readonly Entry[]
  readonly has_more: boolean
  readonly chain: { readonly entries: number; readonly intact: boolean; readonly last_hash: string }
}
const page = async (query: string) => (await ask('GET', `/audit${query}`)).body as unknown as Page

test('the audit is filtered, and each page says how the whole chain stands', async () => {
  const { data, has_more: hasMore, chain } = await page('?actor=even&limit=2')
  assert.deepEqual(
    data.map(({ target }) => target),
    ['p600', 'p598'],
  )
  assert.equal(hasMore, true)
  assert.deepEqual([chain.entries, chain.intact, chain.last_hash.length], [600, true, 64])
  assert.deepEqual(
    (await page('?target=p7&action=project.create')).data.map(({ sequence }) => sequence),
    [7],
  )
  assert.equal((await page('?action=project.delete')).data.length, 0)
  const later = new Date(Date.now() + 60_000).toISOString()
  assert.equal((await page(`?from=${later}`)).data.length, 0)
  assert.equal((await page(`?to=${later}&limit=1000`)).data.length, 600)
})

test('an entry says from where it came, beside its detail', async () => {
  const [entry] = (await page('?limit=1')).data
  assert.equal(entry?.address, '192.0.2.9')
  assert.deepEqual(Object.keys(entry?.detail ?? {}), ['limits', 'budget'])
})

test('the export is all entries that the filter lets through, one a line', async () => {
  const answer = await fetch(`${url}/api/v1/audit/export?actor=odd`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  assert.equal(answer.headers.get('content-type'), 'application/x-ndjson; charset=utf-8')
  const lines = (await answer.text()).trimEnd().split('\n')
  const entries = lines.map((line) => JSON.parse(line) as Entry)
  assert.deepEqual([entries.length, entries[0]?.sequence, entries.at(-1)?.sequence], [300, 599, 1])
  const all = await ask('GET', '/audit/export')
  assert.equal(all.text.trimEnd().split('\n').length, 600)
  assert.equal((await ask('GET', '/audit/export?actor=nobody')).text, '')
})

test('a developer sees nothing of it', async () => {
  assertFault(await ask('GET', '/audit', undefined, DEVELOPER_TOKEN), 'forbidden')
  assertFault(await ask('GET', '/audit/export', undefined, DEVELOPER_TOKEN), 'forbidden')
})
