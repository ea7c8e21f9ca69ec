/** What every `ModelEndStore` in a database promises. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WebhookEvent } from '#ports/webhooks.ts'
import { PostgresModelEnds } from '#stores/postgres/ledger/model-ends.ts'
import type { LedgerStores } from '#test/support/ledger-stores.ts'

const LISTING = {
  upstream: 'openai',
  address: 'https://api.openai.com/v1',
  readAt: '2026-11-18T07:00:00.000Z',
  ends: { 'gpt-image-1.5': '2026-12-01' },
}
const NOTICE = { upstream: 'openai', model: 'gpt-image-1.5', on: '2026-12-01', days: 14 } as const
const EVENT: WebhookEvent = {
  id: 'evt_1',
  project: 'ads',
  url: 'https://hooks.example',
  type: 'model.ending',
  payload: '{}',
}

export function modelEndsSuite(name: string, open: () => Promise<LedgerStores>): void {
  test(`${name}: what an upstream listed last replaces what it listed before, and every node hears of it`, async () => {
    const { database, rows } = await open()
    const store = new PostgresModelEnds(database)
    const version = async () => (await rows<{ version: bigint }>('SELECT version FROM directory_version'))[0]
    assert.deepEqual(await store.listings(), [])
    const before = await version()
    await store.keepListing(LISTING)
    assert.ok((await version())!.version > before!.version)
    assert.deepEqual(await store.listings(), [LISTING])
    const next = { ...LISTING, address: 'https://elsewhere/v1', readAt: '2026-11-19T07:00:00.000Z', ends: {} }
    await store.keepListing(next)
    await store.keepListing({ ...LISTING, upstream: 'azure' })
    assert.deepEqual(await store.listings(), [{ ...LISTING, upstream: 'azure' }, next])
  })

  test(`${name}: a notice is sent once with its events, also by nodes at the same moment`, async () => {
    const { database, rows } = await open()
    const stores = [new PostgresModelEnds(database), new PostgresModelEnds(database)]
    const sent = await Promise.all(stores.map((store) => store.send(NOTICE, Date.UTC(2026, 10, 17), [EVENT])))
    assert.deepEqual(sent.filter(Boolean), [true])
    const [store] = stores as [PostgresModelEnds]
    assert.equal(await store.send(NOTICE, Date.UTC(2026, 10, 18), [{ ...EVENT, id: 'evt_2' }]), false)
    assert.equal(await store.send({ ...NOTICE, days: 7 }, Date.UTC(2026, 10, 18), []), true)
    assert.deepEqual(await rows('SELECT event_id FROM webhook_events'), [{ event_id: 'evt_1' }])
    assert.deepEqual(
      (await store.notices(['gpt-image-1.5', 'other'])).toSorted((a, b) => b.days - a.days),
      [NOTICE, { ...NOTICE, days: 7 }],
    )
    assert.deepEqual(await store.notices(['other']), [])
  })

  test(`${name}: substitutions of all nodes add up, and old ones are forgotten`, async () => {
    const { database, rows } = await open()
    const store = new PostgresModelEnds(database)
    const one = { deployment: 'm/one', asked: 'm', answered: 'n', answers: 2 }
    const at = (day: string) => `2026-${day}T00:00:00.000Z`
    await store.addSubstitutions([{ ...one, firstAt: at('07-01'), lastAt: at('07-01') }])
    await store.addSubstitutions([
      { ...one, firstAt: at('07-03'), lastAt: at('07-04') },
      { ...one, answered: 'other', answers: 1, firstAt: at('11-04'), lastAt: at('11-04') },
    ])
    assert.deepEqual(await rows('SELECT answered FROM substitutions'), [{ answered: 'other' }])
    await store.addSubstitutions([{ ...one, answered: 'other', firstAt: at('11-02'), lastAt: at('11-03') }])
    assert.deepEqual(await rows('SELECT * FROM substitutions'), [
      {
        ...one,
        answered: 'other',
        answers: 3n,
        first_at: new Date(at('11-02')),
        last_at: new Date(at('11-04')),
      },
    ])
  })

  test(`${name}: projects use a model for 30 days after their last request, and probes are no use`, async () => {
    const { database, ledger, nodeId, entry, clock, rollUpAllDays } = await open()
    const store = new PostgresModelEnds(database)
    const used = (project: string, model = 'small') =>
      ledger.append(nodeId, [entry({ countsRequest: true, project, keyId: `${project}/k`, model })])
    await used('long-ago')
    clock.ms += 10 * 86_400_000
    await used('monthly')
    await used('monthly', 'large')
    await rollUpAllDays()
    clock.ms += 25 * 86_400_000
    await used('ads')
    await used('system')
    const using = await store.projectsUsing(['small', 'unused'], clock.nowMs())
    assert.deepEqual([...using], [['small', ['ads', 'monthly']]])
  })
}
