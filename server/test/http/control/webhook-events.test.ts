/** Events of webhooks at the control API: what each caller sees of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresStores } from '#test/support/ledger-stores.ts'
import { assertFault } from '#test/support/errors.ts'
import { startScopedControl } from '#test/support/scoped-control.ts'
import { absent } from '#test/support/stores/absent.ts'

const open = postgresStores()

interface List {
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly next: string | null
}

test('pages of events follow each other, each caller sees its own projects, and no page shows the path of a URL', async () => {
  const { database } = await open()
  const put = (id: string, path: string, project: string) =>
    database.query(
      `INSERT INTO webhook_events (event_id, url, project, type, payload) VALUES ($1, $2, $3, 'budget.reached', '{}')`,
      [id, `https://hooks.example/${path}`, project],
    )
  await put('evt_1', 'secret-a', 'search')
  // One event for two webhooks.
  await put('evt_2', 'secret-a', 'search')
  await put('evt_2', 'secret-b', 'search')
  await put('evt_3', 'secret-c', 'ads')
  const { askAs } = await startScopedControl({ node: absent('node', { reports: database }) })
  const seen: string[] = []
  let after = ''
  do {
    const { body, text } = await askAs<List>('search', `/webhook-events?limit=1${after}`)
    assert.ok(!text.includes('secret') && body.data.length === 1, text)
    seen.push(...body.data.map(({ id }) => String(id)))
    assert.deepEqual(Object.keys(body.data[0] ?? {}).toSorted(), [
      'created_at',
      'ended_at',
      'id',
      'outcome',
      'project',
      'tries',
      'type',
      'url',
    ])
    after = body.next === null ? '' : `&after=${body.next}`
  } while (after !== '')
  assert.deepEqual(seen.toSorted(), ['evt_1', 'evt_2', 'evt_2'])
  assertFault(await askAs('search', '/webhook-events?project=ads'), 'forbidden')
  for (const cursor of ['', 'x', '99999999999999999.a.evt_1'])
    assertFault(await askAs('admin', `/webhook-events?after=${cursor}`), 'invalid_parameter')
})
