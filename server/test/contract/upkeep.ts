/** What the chores promise: everything that was written stays countable, and nothing is kept beyond its time. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { listNodes } from '#control/nodes/queries.ts'
import { windowOf } from '#core/money/budget.ts'
import { sealingKeysOf } from '#runtime/secret.ts'
import { PostgresImageJobs } from '#stores/postgres/jobs/image-jobs.ts'
import { LEDGER_NOW_MS, DAY_MS, type LedgerStores } from '#test/support/ledger-stores.ts'
import { SECRETS, someSecret } from '#test/support/directory.ts'
import { aCall, aJob, begunHold } from './image-jobs-open.ts'

const HOUR_MS = 3_600_000

export function upkeepSuite(name: string, open: () => Promise<LedgerStores>): void {
  test(`${name}: this month of the ledger and the next, two more of its sums, and today and three more days of the request log have a partition; the next time there is nothing to do`, async () => {
    const { upkeep } = await open()
    assert.deepEqual(await upkeep.makePartitions(), {
      made: [
        'usage_events_2026_12',
        'usage_events_2027_01',
        'usage_hours_2026_12',
        'usage_hours_2027_01',
        'usage_hours_2027_02',
        'usage_label_hours_2026_12',
        'usage_label_hours_2027_01',
        'usage_label_hours_2027_02',
        'requests_2026_12_12',
        'requests_2026_12_13',
        'requests_2026_12_14',
        'requests_2026_12_15',
      ],
      missing: [],
    })
    assert.deepEqual(await upkeep.makePartitions(), { made: [], missing: [] })
  })

  test(`${name}: a row lies in the partition of its moment, from the first to the last millisecond`, async () => {
    const { upkeep, clock, ledger, nodeId, entry, rows } = await open()
    const january = windowOf('month', Date.UTC(2027, 0, 1))
    for (const atMs of [january.startMs - 1, january.startMs, january.endMs - 1, january.endMs]) {
      clock.ms = atMs
      await upkeep.makePartitions()
      await ledger.append(nodeId, [entry()])
    }
    const placed = await rows<{ partition: string; rows: number }>(
      'SELECT tableoid::regclass::text AS partition, count(*)::integer AS rows FROM usage_events GROUP BY 1 ORDER BY 1',
    )
    assert.deepEqual(placed, [
      { partition: 'usage_events_2026_12_31', rows: 1 },
      { partition: 'usage_events_2027_01_01', rows: 1 },
      { partition: 'usage_events_2027_01_31', rows: 1 },
      { partition: 'usage_events_2027_02_01', rows: 1 },
    ])
  })

  test(`${name}: rows in the way of one partition are reported and hold up no other; sums move to theirs`, async () => {
    const { upkeep, clock, ledger, nodeId, entry, reconciler, rows } = await open()
    clock.ms = Date.UTC(2027, 0, 15)
    await ledger.append(nodeId, [entry(), entry()])
    clock.ms = LEDGER_NOW_MS
    const { made, missing } = await upkeep.makePartitions()
    assert.deepEqual(missing, [{ partition: 'usage_events_2027_01', reason: 'rows in the way' }])
    assert.equal(made.length, 11)
    assert.deepEqual(await rows('SELECT tableoid::regclass::text AS partition FROM usage_hours'), [
      { partition: 'usage_hours_2027_01' },
    ])
    assert.deepEqual((await reconciler.figures()).restRows, { ledger: 2, requests: 0 })
  })

  test(`${name}: what the documentation says about rows in the way tidies them up and loses none`, async () => {
    const { upkeep, clock, ledger, nodeId, entry, database, reconciler, rows } = await open()
    clock.ms = Date.UTC(2027, 0, 15)
    await ledger.append(nodeId, [entry(), entry()])
    clock.ms = Date.UTC(2031, 5, 1)
    await ledger.append(nodeId, [entry()])
    clock.ms = LEDGER_NOW_MS
    await upkeep.makePartitions()
    const page = readFileSync(new URL('../../../docs/inside/background-jobs.md', import.meta.url), 'utf8')
    const [, statements = ''] = /```sql\n(BEGIN;[^`]*COMMIT;\n)```/.exec(page) ?? []
    await database.query(statements)
    assert.deepEqual(await upkeep.makePartitions(), { made: [], missing: [] })
    const placed = await rows(
      'SELECT tableoid::regclass::text AS partition, count(*)::integer AS rows FROM usage_events GROUP BY 1 ORDER BY 1',
    )
    assert.deepEqual(placed, [
      { partition: 'usage_events_2027_01', rows: 2 },
      { partition: 'usage_events_rest', rows: 1 },
    ])
    assert.deepEqual((await reconciler.reconcile('all')).differences, [])
    await assert.rejects(database.query('DELETE FROM usage_events'), /append-only/)
    const [, formula = ''] = /`(SELECT lpad[^`]*)`/.exec(page) ?? []
    assert.deepEqual(await rows(formula), [{ lpad: '01a2ce8bd400' }])
  })

  test(`${name}: the request log is kept for thirty days, also where no partition was made for it`, async () => {
    const { upkeep, clock, requests, identifiers, rows } = await open()
    const log = async (atMs: number): Promise<void> => {
      clock.ms = atMs
      await requests.append([
        { requestId: identifiers.next(), route: 'embeddings', status: 200, durationMs: 1 },
      ])
    }
    await log(LEDGER_NOW_MS - 31 * DAY_MS)
    await log(LEDGER_NOW_MS)
    // Both lie in the partition for the rest, for none was made before them.
    await upkeep.dropOld()
    assert.deepEqual(await rows('SELECT count(*)::integer AS rows FROM requests'), [{ rows: 1 }])

    clock.ms = LEDGER_NOW_MS + DAY_MS
    await upkeep.makePartitions()
    await log(clock.ms)
    clock.ms = Date.UTC(2026, 11, 14) + 30 * DAY_MS - 1
    assert.deepEqual((await upkeep.dropOld()).partitions, [])
    clock.ms += 1
    assert.deepEqual((await upkeep.dropOld()).partitions, ['requests_2026_12_13'])
  })

  test(`${name}: the request log has the address of the client, and rows without one`, async () => {
    const { requests, identifiers, rows } = await open()
    const record = { route: 'embeddings', status: 200, durationMs: 1 }
    await requests.append([
      { ...record, requestId: identifiers.next(), clientAddress: '2001:db8::7' },
      { ...record, requestId: identifiers.next(), clientAddress: '' },
      { ...record, requestId: identifiers.next() },
    ])
    assert.deepEqual(await rows('SELECT client_address FROM requests ORDER BY 1'), [
      { client_address: '2001:db8::7' },
      { client_address: null },
      { client_address: null },
    ])
  })

  test(`${name}: nodes are forgotten a week after their end, and never while they live`, async () => {
    const { upkeep, clock, ledger, nodeId, identifiers, database } = await open()
    const ended = identifiers.next()
    await ledger.startNode({ id: ended, host: 'there', version: '1.0.0' })
    await ledger.endNode(ended, [])
    clock.ms = Date.now() + 7 * DAY_MS - HOUR_MS
    assert.equal((await upkeep.dropOld()).nodes, 0)
    clock.ms += 2 * HOUR_MS
    assert.equal((await upkeep.dropOld()).nodes, 1)
    assert.deepEqual(
      (await listNodes(database)).map(({ id }) => id),
      [nodeId],
    )
  })

  test(`${name}: days are what their hours add up to, also after entries that came late`, async () => {
    const { upkeep, rollUpAllDays, clock, ledger, nodeId, entry, rows } = await open()
    const days = () =>
      rows<{ day: string; posts: number; nano: number }>(
        'SELECT day::text AS day, posts::integer AS posts, amount_nano::integer AS nano FROM usage_days ORDER BY day',
      )
    const post = async (daysAgo: number): Promise<void> => {
      clock.ms = LEDGER_NOW_MS - daysAgo * DAY_MS
      await ledger.append(nodeId, [entry(), entry({ amountNanoUsd: 50n })])
      clock.ms = LEDGER_NOW_MS
    }
    await post(0)
    await post(8)
    await post(40)
    await upkeep.rollUpDays()
    assert.deepEqual(await days(), [
      { day: '2026-12-04', posts: 2, nano: 250 },
      { day: '2026-12-12', posts: 2, nano: 250 },
    ])
    await post(8)
    await upkeep.rollUpDays()
    await upkeep.rollUpDays()
    assert.deepEqual((await days())[0], { day: '2026-12-04', posts: 4, nano: 500 })
    await rollUpAllDays()
    assert.deepEqual(await days(), [
      { day: '2026-11-02', posts: 2, nano: 250 },
      { day: '2026-12-04', posts: 4, nano: 500 },
      { day: '2026-12-12', posts: 2, nano: 250 },
    ])
  })

  test(`${name}: a day ends at midnight UTC, wherever the database stands`, async () => {
    const { upkeep, clock, ledger, nodeId, entry, database, rows } = await open()
    for (const atMs of [Date.UTC(2026, 11, 12) - 1, Date.UTC(2026, 11, 12)]) {
      clock.ms = atMs
      await ledger.append(nodeId, [entry()])
    }
    // For the connections that follow, and for the only one of PGlite.
    const zone = (statement: string) =>
      database.query(
        `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I ${statement}', current_database()); END $$`,
      )
    await zone(`SET timezone = ''Asia/Tokyo''`)
    await database.query(`SET TIME ZONE 'Asia/Tokyo'`)
    await upkeep.rollUpDays()
    // A connection of PGlite begins with its own zone again.
    if (name === 'PostgreSQL')
      assert.deepEqual(await rows(`SELECT current_setting('TimeZone') AS zone`), [{ zone: 'Asia/Tokyo' }])
    await zone('RESET timezone')
    await database.query(`SET TIME ZONE 'UTC'`)
    assert.deepEqual(await rows('SELECT day::text AS day FROM usage_days ORDER BY 1'), [
      { day: '2026-12-11' },
      { day: '2026-12-12' },
    ])
  })

  test(`${name}: an unknown is posted at what was reserved after seven days, once, and in the audit`, async () => {
    const { upkeep, clock, ledger, nodeId, entry, audit, rows } = await open()
    const unknown = entry({ kind: 'unknown', usage: 'unknown', tokens: undefined, amountNanoUsd: 900n })
    const unpriced = entry({ kind: 'unknown', usage: 'unknown', tokens: undefined, amountNanoUsd: undefined })
    await ledger.append(nodeId, [unknown, unpriced, entry()])
    // The database decides when an unknown was written.
    clock.ms = Date.now() + 7 * DAY_MS - HOUR_MS
    assert.equal(await upkeep.expireUnknowns(), 0)
    clock.ms += 2 * HOUR_MS
    assert.equal(await upkeep.expireUnknowns(), 2)
    assert.equal(await upkeep.expireUnknowns(), 0)
    assert.deepEqual(await ledger.openUnknowns({ limit: 10 }), [])
    const [sum] = await rows<{ nano: bigint }>('SELECT sum(amount_nano)::bigint AS nano FROM usage_events')
    assert.equal(sum?.nano, 1100n)
    const entries = await audit.list({ limit: 10 })
    assert.deepEqual(
      new Set(entries.map(({ actor, action, target }) => `${actor} ${action} ${target}`)),
      new Set([unknown, unpriced].map(({ requestId }) => `system unknown.post ${requestId}/0`)),
    )
  })

  test(`${name}: of a deleted project nothing is left but what it spent`, async () => {
    const { upkeep, clock, ledger, nodeId, entry, keys, requests, identifiers, audit, rows, database } =
      await open()
    for (const project of ['search', 'chat'])
      await keys.createKey(
        { project, name: 'ci', secret: someSecret().stored },
        { kind: 'member', name: 'tester' },
      )
    await ledger.append(nodeId, [entry()])
    const log = (atMs: number, project: string | undefined): Promise<void> => {
      clock.ms = atMs
      const requestId = identifiers.next()
      return requests.append([{ requestId, route: 'embeddings', status: 200, project, durationMs: 1 }])
    }
    for (const project of ['search', 'chat', undefined])
      for (const daysAgo of [-1, 0, 3, 29, 45]) await log(LEDGER_NOW_MS - daysAgo * DAY_MS, project)
    const webhooksFor = () => [{ url: 'https://hooks.example/' }]
    const jobs = new PostgresImageJobs(database, sealingKeysOf(SECRETS), webhooksFor)
    for (const project of ['search', 'search', 'chat']) {
      const job = aJob({ project, keyId: `${project}/ci` })
      const hold = await begunHold(jobs, job)
      await jobs.dispatched(hold, aCall())
      await jobs.end(hold, { state: 'unknown', result: '', freesKey: false })
    }
    await database.query(`
      INSERT INTO suspect_windows (window_id, model, deployment, target, space, from_at) VALUES ('sus_1', '', '', '', '', now());
      INSERT INTO suspect_vectors (window_id, request_id, project, key_id, inputs)
      SELECT 'sus_1', gen_random_uuid(), project, '', 1 FROM unnest(ARRAY['search', 'chat']) AS project`)
    await keys.deleteProject('search', { kind: 'member', name: 'tester' })
    // Nodes may believe keys for an hour: they are waited for.
    clock.ms = Date.now() + HOUR_MS
    await ledger.heartbeat(nodeId)
    assert.deepEqual(await upkeep.deleteProjects(), [])
    clock.ms = Date.now() + 3 * HOUR_MS
    assert.deepEqual(await upkeep.deleteProjects(), [], 'a node has not been seen since')
    await database.query(`UPDATE nodes SET seen_at = now() + interval '2 minutes'`)
    const versionBefore = await keys.directoryVersion()
    assert.deepEqual(await upkeep.deleteProjects(), ['search'])
    assert.deepEqual(await upkeep.deleteProjects(), [])

    assert.ok((await keys.directoryVersion()) > versionBefore)
    assert.deepEqual(
      await rows('SELECT project, count(*)::integer AS rows FROM requests GROUP BY 1 ORDER BY 1'),
      [
        { project: 'chat', rows: 5 },
        { project: null, rows: 5 },
      ],
    )
    assert.deepEqual(await rows('SELECT key_id FROM keys JOIN key_secrets USING (key_id)'), [
      { key_id: 'chat/ci' },
    ])
    const jobCalls = 'image_jobs JOIN image_job_calls USING (job_id)'
    for (const table of ['image_jobs', jobCalls, 'webhook_events', 'suspect_vectors'])
      assert.deepEqual(await rows(`SELECT project FROM ${table}`), [{ project: 'chat' }])
    assert.deepEqual(await rows('SELECT project FROM usage_events'), [{ project: 'search' }])
    assert.deepEqual(await rows('SELECT project FROM usage_hours'), [{ project: 'search' }])
    const [last] = await audit.list({ limit: 1 })
    assert.deepEqual(
      [last?.actor, last?.action, last?.target, last?.detail],
      ['system', 'project.removed', 'search', { keys: 1, requests: 5, imageJobs: 2 }],
    )
    await keys.createProject('search', {}, { kind: 'member', name: 'tester' })
  })

  test(`${name}: the chores belong to the living node that has been there longest`, async () => {
    const { upkeep, ledger, nodeId, identifiers, database } = await open()
    const younger = identifiers.next()
    await ledger.startNode({ id: younger, host: 'there', version: '1.0.0' })
    await ledger.heartbeat(younger, { clockSkewMs: 0 })
    assert.deepEqual([await upkeep.isEldest(nodeId), await upkeep.isEldest(younger)], [true, false])
    await database.query(`UPDATE nodes SET seen_at = now() - interval '1 minute' WHERE node_id = $1`, [
      nodeId,
    ])
    assert.deepEqual([await upkeep.isEldest(nodeId), await upkeep.isEldest(younger)], [false, true])
    await ledger.heartbeat(nodeId)
    assert.equal(await upkeep.isEldest(nodeId), true)
    await ledger.endNode(nodeId, [])
    assert.equal(await upkeep.isEldest(younger), true)
  })

  test(`${name}: a node is listed with the setup that it described last, and without one until then`, async () => {
    const { database, ledger, nodeId } = await open()
    const setupOf = async () => (await listNodes(database)).find(({ id }) => id === nodeId)?.setup
    assert.equal(await setupOf(), null)
    const setup = { configuration: { prices: 'a' }, keyedBy: 'b', blobPlace: null, connections: 14 }
    await ledger.heartbeat(nodeId, { setup })
    await ledger.heartbeat(nodeId)
    assert.deepEqual(await setupOf(), setup)
    const changed = { ...setup, configuration: { prices: 'c' } }
    await ledger.heartbeat(nodeId, { setup: changed })
    assert.deepEqual(await setupOf(), changed)
  })
}
