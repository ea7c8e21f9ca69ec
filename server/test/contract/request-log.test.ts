/** The request log of each engine: a record counts once however often it is sent, and comes back as it was. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { RequestRecord } from '#ports/observer.ts'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { PostgresRequests } from '#stores/postgres/ledger/requests.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { testPglite } from '#test/support/pglite.ts'
import { testPostgres } from '#test/support/servers.ts'
import { nextId } from './image-jobs-open.ts'

const ENGINES: readonly (readonly [name: string, open: () => Promise<Database>])[] = [
  ['PostgreSQL', async () => openPostgres((await testPostgres()).url)],
  ['PGlite', testPglite],
]

/** Characters with a meaning in one of the formats that rows pass through. */
const HOSTILE = 'a\tb\nc\rd\\N\\.e"f,{g}\'h NULL \u2028 🙂'

for (const [name, open] of ENGINES) {
  const database = await open()
  await migrate(database)
  after(() => database.close())
  const nodeId = nextId()
  const log = new PostgresRequests(database, nodeId)
  const rowsOf = (records: readonly RequestRecord[]) =>
    database.query('SELECT * FROM requests WHERE request_id = ANY ($1::uuid[]) ORDER BY request_id', [
      records.map(({ requestId }) => requestId),
    ])

  test(`${name}: a page that is sent again after a lost answer counts once, and its new records too`, async () => {
    const page = Array.from({ length: 30 }, () => aRecord())
    await log.append(page.slice(0, 20))
    await log.append(page)
    await Promise.all([log.append(page), log.append([...page, aRecord()])])
    assert.equal((await rowsOf(page)).length, 30)
  })

  test(`${name}: texts come back as they were, and nothing stands for what is unknown`, async () => {
    const full = aRecord({
      fault: `fault ${HOSTILE}`,
      project: `project ${HOSTILE}`,
      keyId: `key ${HOSTILE}\0`,
      clientRequestId: `request ${HOSTILE}`,
      clientAddress: '::1',
      user: `user ${HOSTILE}`,
      tags: { [HOSTILE]: HOSTILE },
      amountNanoUsd: 2n ** 62n,
      promptTokens: 7,
    })
    const empty = aRecord({ fault: '', model: undefined, deployment: '' })
    await log.append([full, empty])
    const [[row], [other]] = [await rowsOf([full]), await rowsOf([empty])]
    assert.partialDeepStrictEqual(row, {
      fault: `fault ${HOSTILE}`,
      project: `project ${HOSTILE}`,
      key_id: `key ${HOSTILE}`,
      client_request_id: `request ${HOSTILE}`,
      client_address: '::1',
      end_user: `user ${HOSTILE}`,
      tags: { [HOSTILE]: HOSTILE },
      amount_nano: 2n ** 62n,
      tokens: 7n,
      node_id: nodeId,
      duration_ms: 1.25,
    })
    assert.partialDeepStrictEqual(other, { fault: null, model: null, deployments: null, amount_nano: null })
  })
}

function aRecord(overrides: Partial<RequestRecord> = {}): RequestRecord {
  return { requestId: nextId(), route: 'embeddings', status: 200, durationMs: 1.25, ...overrides }
}
