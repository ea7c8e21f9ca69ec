/** What the overview reads from the store about things that need a person. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAttention, spentSince } from '#control/overview/queries.ts'
import { withReachable } from '#stores/postgres/unreachable.ts'
import { lowestIdAt } from '#core/money/id-range.ts'
import { DAY_MS, postgresStores } from '#test/support/ledger-stores.ts'

const open = postgresStores()

test('a new database has nothing that needs a person, and nothing spent', async () => {
  const { database, clock } = await open()
  const sql = withReachable(database)
  assert.deepEqual(await readAttention(sql, clock.nowMs()), {
    refusals: [],
    keys: [],
    webhooks: [],
    silentNodes: [],
  })
  assert.deepEqual(await spentSince(sql, 0, undefined), { spentNanoUsd: 0n, savedNanoUsd: 0n })
})

test('refusals of a day are counted by model, with their projects and the first of them', async () => {
  const { database, clock, upkeep } = await open()
  await upkeep.makePartitions()
  const nowMs = clock.nowMs()
  const refused = async (atMs: number, fault: string, model: string | null, project: string | null) =>
    database.query(
      `INSERT INTO requests (request_id, route, status, fault, model, project, duration_ms, attempts)
       VALUES ($1, 'embeddings', 404, $2, $3, $4, 1, 0)`,
      [lowestIdAt(atMs), fault, model, project],
    )
  await refused(nowMs - 3000, 'model_unpriced', 'flux', 'search')
  await refused(nowMs - 2000, 'model_unpriced', 'flux', 'ads')
  await refused(nowMs - 1000, 'model_unpriced', 'flux', null)
  await refused(nowMs - 1500, 'model_retired', null, null)
  await refused(nowMs - 500, 'model_not_found', 'other', 'ads')
  await refused(nowMs - DAY_MS - 1000, 'model_unpriced', 'flux', 'old')
  const { refusals } = await readAttention(withReachable(database), nowMs)
  assert.deepEqual(refusals, [
    {
      kind: 'unpriced_refused',
      model: 'flux',
      requests: 3,
      first_request_id: lowestIdAt(nowMs - 3000),
      projects: 'ads, search',
    },
    {
      kind: 'model_retired_used',
      model: '',
      requests: 1,
      first_request_id: lowestIdAt(nowMs - 1500),
      projects: '',
    },
  ])
})

test('keys that end soon come before keys unused for long; revoked, ended and fresh ones are left out', async () => {
  const { database, clock } = await open()
  const at = (days: number) => new Date(clock.nowMs() + days * DAY_MS)
  await database.query(`INSERT INTO projects (project, version) VALUES ('ads', 2)`)
  await database.query(`INSERT INTO projects (project, version, deleted_at) VALUES ('gone', 2, now())`)
  const key = (
    id: string,
    project: string,
    used: Date | null,
    ends: Date | null,
    revoked: Date | null = null,
  ) =>
    database.query(
      `INSERT INTO keys (key_id, project, name, addresses, version, last_used_at, expires_at, revoked_at)
       VALUES ($1, $2, $1, '{}', 2, $3, $4, $5)`,
      [id, project, used, ends, revoked],
    )
  await key('ads/idle', 'ads', at(-91), null)
  await key('ads/idle-ends', 'ads', at(-95), at(300))
  await key('ads/ends', 'ads', at(-1), at(13))
  await key('ads/fresh', 'ads', at(-1), at(15))
  await key('ads/ended', 'ads', at(-95), at(-1))
  await key('ads/revoked', 'ads', at(-95), null, at(-1))
  await key('gone/idle', 'gone', at(-95), null)
  const { keys } = await readAttention(withReachable(database), clock.nowMs())
  assert.deepEqual(
    keys.map(({ key: id, kind, since, ends_at: ends }) => [id, kind, since, ends]),
    [
      ['ads/ends', 'key_ends', at(13).toISOString(), at(13).toISOString()],
      ['ads/idle-ends', 'key_idle', at(-95).toISOString(), at(300).toISOString()],
      ['ads/idle', 'key_idle', at(-91).toISOString(), null],
    ],
  )
})

test('a node that is silent for a minute is listed with what it leased, until it has ended', async () => {
  const { database, clock, nodeId } = await open()
  await database.query(`UPDATE nodes SET seen_at = now() - interval '61 seconds'`)
  const silent = async () => (await readAttention(withReachable(database), clock.nowMs())).silentNodes
  assert.partialDeepStrictEqual(await silent(), [{ id: nodeId, host: 'here', leased_usd: '0.000000000' }])
  await database.query('UPDATE nodes SET ended_at = now()')
  assert.deepEqual(await silent(), [])
})

test('what was spent since a moment counts the projects that the caller sees', async () => {
  const { database, ledger, nodeId, entry, clock } = await open()
  await ledger.append(nodeId, [entry(), entry({ project: 'ads', keyId: 'ads/ci', amountNanoUsd: 30n })])
  const spent = async (projects: readonly string[] | undefined) =>
    (await spentSince(withReachable(database), clock.nowMs() - DAY_MS, projects)).spentNanoUsd
  assert.deepEqual([await spent(undefined), await spent(['ads']), await spent([])], [230n, 30n, 0n])
})
