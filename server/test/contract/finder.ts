/** A pasted id leads to its request. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hitsOfUuid } from '#control/resolve/queries.ts'
import type { LedgerStores } from '#test/support/ledger-stores.ts'
import { unusedLake } from '#test/support/lake.ts'

export function finderSuite(name: string, open: () => Promise<LedgerStores>): void {
  test(`${name}: a call is found by its id, whichever of two ids of one millisecond is the lower`, async () => {
    const { database, ledger, nodeId, entry } = await open()
    const low = '01a1e63c-7bdf-7000-8000-000000000000'
    const high = '01a1e63c-7bdf-7fff-bfff-ffffffffffff'
    const later = '01a1e63c-8bdf-7000-8000-000000000000'
    await ledger.append(nodeId, [
      entry({ requestId: low, callId: '01a1e63c-7bdf-7000-8000-000000000001' }),
      entry({ requestId: high, callId: '01a1e63c-7bdf-7000-8000-000000000002' }),
      entry({ requestId: later, callId: '01a1e66e-0000-7000-8000-000000000003' }),
    ])
    const leadsTo = async (id: string) =>
      (await hitsOfUuid(database, unusedLake(database).cold, id, undefined)).map(
        (hit) => `${hit.type} ${hit.id}`,
      )
    assert.deepEqual(await leadsTo('01a1e63c-7bdf-7000-8000-000000000001'), [`call ${low}`])
    assert.deepEqual(await leadsTo('01a1e63c-7bdf-7000-8000-000000000002'), [`call ${high}`])
    assert.deepEqual(await leadsTo('01a1e66e-0000-7000-8000-000000000003'), [`call ${later}`])
    assert.deepEqual(await leadsTo('01a1e63c-7bdf-7000-8000-000000000009'), [])
  })
}
