/** What suspect windows promise: they follow standings, and hold exactly what the ledger says was handed out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { spaceOf } from '#core/embedding/space.ts'
import { listVectors, listWindows } from '#control/suspects/queries.ts'
import { TORN, type ProbeResult } from '#ports/spaces.ts'
import type { Database } from '#stores/postgres/database.ts'
import { lowestIdAt } from '#core/money/id-range.ts'
import { PostgresSpaces } from '#stores/postgres/spaces.ts'
import { PostgresSuspects } from '#stores/postgres/suspects/suspects.ts'
import { runs } from '#test/support/arbitraries.ts'
import { testDatabase } from '#test/support/pglite.ts'
import { reused } from '#test/support/reused-database.ts'
import { aReference, aResult, MODEL } from './spaces.ts'

const SPACE = spaceOf(MODEL, 4)
const MAKER = `${MODEL}/one`
/** A moment of the past, for everything that the clock of the database is not asked about. */
const PAST_MS = Date.UTC(2026, 10, 1)

interface Worlds {
  readonly database: Database
  readonly spaces: PostgresSpaces
  readonly suspects: PostgresSuspects
}

const EMPTY = `TRUNCATE space_references, space_image_references, space_standings, space_probes, suspect_windows, webhook_events,
  usage_hours, requests, batches CASCADE;
  ALTER TABLE usage_events DISABLE TRIGGER usage_events_append_only; DELETE FROM usage_events;
  ALTER TABLE usage_events ENABLE TRIGGER usage_events_append_only`

type Step = readonly [atSeconds: number, verdict: 'good' | 'bad' | 'failed', target?: string]

function resultOf([atSeconds, verdict, target = 'here']: Step, baseMs = PAST_MS): ProbeResult {
  const atMs = baseMs + atSeconds * 1000
  return aResult({ atMs, target, verdict: verdict === 'bad' ? 'quarantined' : verdict, space: SPACE })
}

/** First and last second of each window, oldest first. */
async function windowsIn(
  database: Database,
  baseMs = PAST_MS,
): Promise<(readonly [number, number | null])[]> {
  const seconds = (time: string): number => (Date.parse(time) - baseMs) / 1000
  const windows = await listWindows(database, { limit: 1000 })
  return windows
    .map(({ from, until }) => [seconds(from), until === null ? null : seconds(until)] as const)
    .sort(([one], [other]) => one - other)
}

interface WindowCase {
  readonly title: string
  /** In the order in which the store hears of them. */
  readonly steps: readonly Step[]
  readonly windows: readonly (readonly [number, number | null])[]
}

const CASES: readonly WindowCase[] = [
  {
    title: 'no window while every check is good',
    steps: [
      [0, 'good'],
      [10, 'good'],
    ],
    windows: [],
  },
  {
    title: 'an open window from the last good check',
    steps: [
      [0, 'good'],
      [10, 'good'],
      [20, 'bad'],
      [30, 'bad'],
    ],
    windows: [[10, null]],
  },
  {
    title: 'an end with the next good check',
    steps: [
      [0, 'good'],
      [20, 'bad'],
      [25, 'failed'],
      [30, 'good'],
      [40, 'good'],
    ],
    windows: [[0, 30]],
  },
  {
    title: 'a window for each time outside',
    steps: [
      [0, 'good'],
      [10, 'bad'],
      [20, 'good'],
      [30, 'bad'],
    ],
    windows: [
      [0, 20],
      [20, null],
    ],
  },
  {
    title: 'no window of a deployment that was never good: it was held back',
    steps: [
      [0, 'bad'],
      [10, 'bad'],
    ],
    windows: [],
  },
  {
    title: 'a window of its own for a bad result that comes late, up to the good one after it',
    steps: [
      [0, 'good'],
      [20, 'good'],
      [10, 'bad'],
    ],
    windows: [[0, 20]],
  },
  {
    title: 'what lies before an open window, if a bad result comes late',
    steps: [
      [0, 'good'],
      [20, 'good'],
      [30, 'bad'],
      [10, 'bad'],
    ],
    windows: [
      [0, 20],
      [20, null],
    ],
  },
  {
    title: 'nothing new for a late bad result inside a window',
    steps: [
      [0, 'good'],
      [10, 'bad'],
      [20, 'good'],
      [5, 'bad'],
    ],
    windows: [[0, 20]],
  },
  {
    title: 'no end by a late good result',
    steps: [
      [0, 'good'],
      [20, 'bad'],
      [10, 'good'],
    ],
    windows: [[0, null]],
  },
  {
    title: 'an end when the name leads elsewhere and is good there',
    steps: [
      [0, 'good'],
      [10, 'bad'],
      [20, 'good', 'there'],
    ],
    windows: [[0, 20]],
  },
]

const emptied = reused(testDatabase, EMPTY, (database): Worlds => {
  const webhooksFor = (): { url: string }[] => [{ url: 'https://one.example/hook' }]
  return {
    database,
    spaces: new PostgresSpaces(database),
    suspects: new PostgresSuspects(database, webhooksFor),
  }
})

async function opened(): Promise<Worlds> {
  const worlds = await emptied()
  await worlds.spaces.beginReference(aReference())
  return worlds
}

for (const { title, steps, windows } of CASES)
  test(`there is ${title}`, async () => {
    const { database, spaces } = await opened()
    for (const step of steps) await spaces.record(resultOf(step))
    assert.deepEqual(await windowsIn(database), windows)
  })

test('replicas that differ make suspect what lies before an open window too, in a window of its own', async () => {
  const { database, spaces } = await opened()
  for (const at of [0, 10, 20]) await spaces.record(resultOf([at, 'good']))
  await spaces.record(resultOf([30, 'bad']))
  assert.deepEqual(await windowsIn(database), [[20, null]])
  const torn = { ...resultOf([31, 'bad']), reason: `${TORN}: 3 of 6 checks` }
  for (const atMs of [torn.atMs, torn.atMs + 1000]) await spaces.record({ ...torn, atMs })
  assert.deepEqual(await windowsIn(database), [
    [0, 20],
    [20, null],
  ])
  await spaces.record(resultOf([40, 'good']))
  await spaces.record({ ...torn, atMs: PAST_MS + 50_000 })
  assert.deepEqual(await windowsIn(database), [
    [0, 20],
    [20, 40],
    [40, null],
  ])
})

test('an accepted space ends all windows of its model, and begins none', async () => {
  const { database, spaces } = await opened()
  for (const step of [
    [0, 'good'],
    [10, 'bad'],
  ] as const)
    await spaces.record(resultOf(step))
  const accepted = aReference({ generation: 2, acceptedAtMs: PAST_MS + 15_000 })
  await spaces.replaceReference(accepted, { kind: 'member', name: 'alice' })
  const next = { space: spaceOf(MODEL, 4, 2), target: 'here' }
  await spaces.record(aResult({ ...resultOf([20, 'bad']), ...next }))
  assert.deepEqual(await windowsIn(database), [[0, 15]])
  await spaces.record(aResult({ ...resultOf([30, 'good']), ...next }))
  await spaces.record(aResult({ ...resultOf([40, 'bad']), ...next }))
  assert.deepEqual(await windowsIn(database), [
    [0, 15],
    [30, null],
  ])
})

test('a window of a deployment that is gone ends, and its return begins no earlier', async () => {
  const { database, spaces, suspects } = await opened()
  const baseMs = Date.now() - 3_600_000
  for (const step of [
    [0, 'good'],
    [10, 'bad'],
  ] as const)
    await spaces.record(resultOf(step, baseMs))
  await suspects.endGone([{ model: MODEL, deployment: MAKER }])
  assert.deepEqual(await windowsIn(database, baseMs), [[0, null]])
  await suspects.endGone([{ model: MODEL, deployment: 'another' }])
  const [[from, until] = []] = await windowsIn(database, baseMs)
  assert.equal(from, 0)
  assert.ok(until != null && until > 3590)
  await spaces.record(resultOf([7200, 'bad'], baseMs))
  assert.deepEqual((await windowsIn(database, baseMs))[1], [until, null])
})

test('results in any order leave windows that do not overlap, and hold every bad result after a good one', async () => {
  const verdict = fc.constantFrom('good', 'bad', 'failed')
  const steps = fc.uniqueArray(fc.tuple(fc.nat(30), verdict), { selector: ([at]) => at, maxLength: 10 })
  await fc.assert(
    fc.asyncProperty(steps, async (results) => {
      const { database, spaces } = await opened()
      for (const step of results) await spaces.record(resultOf(step))
      const windows = await windowsIn(database)
      for (const [index, [from, until]] of windows.entries()) {
        assert.ok(until === null || from < until, JSON.stringify(windows))
        assert.ok(from >= (windows[index - 1]?.[1] ?? (index === 0 ? -1 : Infinity)), JSON.stringify(windows))
      }
      for (const [at, found] of results) {
        const known = results.slice(
          0,
          results.findIndex(([one]) => one === at),
        )
        if (found !== 'bad' || !known.some(([one, other]) => other === 'good' && one < at)) continue
        assert.ok(
          windows.some(([from, until]) => from <= at && at <= (until ?? Infinity)),
          `${at} of ${JSON.stringify(results)}`,
        )
      }
    }),
    runs(30),
  )
})

test('the list has exactly the requests whose vectors the deployment made in the window', async () => {
  const { database, spaces, suspects } = await opened()
  const baseMs = Date.now() - 600_000
  for (const step of [
    [0, 'good'],
    [60, 'bad'],
    [120, 'good'],
  ] as const)
    await spaces.record(resultOf(step, baseMs))
  let count = 0
  const entry = async (
    from: number,
    until: number,
    other: Readonly<Record<string, unknown>> = {},
  ): Promise<string> => {
    count += 1
    const id = lowestIdAt(baseMs + from * 1000).slice(0, -4) + String(count).padStart(4, '0')
    const row = {
      request_id: id,
      attempt: 0,
      kind: 'post',
      call_id: id,
      node_id: id,
      project: 'shop',
      key_id: 'shop/ci',
      model: MODEL,
      deployment: MAKER,
      usage: 'upstream',
      tokens: 1,
      written_at: new Date(baseMs + until * 1000),
      ...other,
    }
    const columns = Object.keys(row)
    const places = columns.map((_, index) => `$${index + 1}`)
    await database.query(
      `INSERT INTO usage_events (${columns.join()}) VALUES (${places.join()})`,
      Object.values(row),
    )
    await database.query(
      `INSERT INTO usage_hours (hour, project, key_id, model, deployment, shard, posts)
         VALUES (date_trunc('hour', $1::timestamptz), 'shop', 'shop/ci', $2, $3, 0, 1) ON CONFLICT DO NOTHING`,
      [new Date(baseMs + from * 1000), MODEL, row.deployment],
    )
    return id
  }
  const unconfirmed = (deployment: string, at: number, vectors: number): string =>
    JSON.stringify({
      unconfirmed: [{ deployment, fromMs: baseMs + at * 1000, untilMs: baseMs + at * 1000, vectors }],
    })
  const cache = { deployment: `${MODEL}/cache`, tokens: 0 }
  await entry(-30, -10)
  const before = await entry(-30, 1)
  const skewed = await entry(-9, -4)
  const inside = await entry(30, 31, { inputs: 7 })
  await entry(30, 31, { deployment: `${MODEL}/two` })
  await entry(30, 31, { kind: 'unknown' })
  await entry(30, 31, { project: 'system' })
  const refused = await entry(40, 41)
  const hit = await entry(50, 51, { ...cache, remarks: unconfirmed(MAKER, 20, 3) })
  await entry(50, 51, { ...cache, remarks: unconfirmed(`${MODEL}/two`, 20, 3) })
  await entry(50, 51, { ...cache, remarks: unconfirmed(MAKER, -60, 3) })
  await entry(50, 51, cache)
  const last = await entry(120, 121)
  await entry(121, 122)
  await database.query(
    `INSERT INTO requests (request_id, route, status, duration_ms) VALUES ($1, '/v1/embeddings', 503, 1), ($2, '/v1/embeddings', 200, 1)`,
    [refused, inside],
  )
  await database.query('UPDATE suspect_windows SET next_listing_at = now()')
  const [window] = await suspects.due(9)
  assert.ok(window)
  for (let time = 0; time < 2; time += 1) {
    await suspects.listRequests(window)
    await suspects.listed(window)
  }
  const listed = await listVectors(database, window.id, { after: undefined, limit: 100 })
  assert.deepEqual(
    listed.map(({ request_id: id, inputs }) => [id, inputs]),
    [
      [before, 1],
      [skewed, 1],
      [inside, 7],
      [hit, 3],
      [last, 1],
    ],
  )
  const [shown] = await listWindows(database, { limit: 9 })
  assert.deepEqual([shown?.vectors, shown?.requests, shown?.keys, shown?.batch_lines], [13, 5, 1, 0])
  const events = await database.query<{ type: string; payload: string }>(
    'SELECT type, payload FROM webhook_events',
  )
  assert.deepEqual(
    events.map(({ type, payload }) => [type, JSON.parse(payload).data.vectors]),
    [['space.suspect', 13]],
  )
})

test('a window that reaches into dropped days says from when on its requests are listed', async () => {
  const { database } = await opened()
  const found = '2026-11-01T00:00:00.000Z'
  const unlistedBefore = async (from: string, keptFrom: string) => {
    await database.query('UPDATE ledger_seal SET entries_kept_from = $1', [keptFrom])
    await database.query('TRUNCATE suspect_windows CASCADE')
    await database.query(
      `INSERT INTO suspect_windows (window_id, model, deployment, target, space, from_at, found_at)
       VALUES ('sus_1', $1, $2, 'here', $3, $4, $5)`,
      [MODEL, MAKER, SPACE, from, found],
    )
    const [shown] = await listWindows(database, { limit: 1 })
    return shown?.unlisted_before
  }
  assert.equal(await unlistedBefore('2026-08-01', '-infinity'), null)
  assert.equal(await unlistedBefore('2026-08-01', '2026-07-01'), null)
  assert.equal(await unlistedBefore('2026-08-01', '2026-08-20T00:00:00Z'), '2026-08-20T00:00:00.000Z')
  // These days were still there when it was found.
  assert.equal(await unlistedBefore('2026-10-01', '2026-10-20T00:00:00Z'), null)
  assert.equal(await unlistedBefore('2026-08-01', '2026-10-20T00:00:00Z'), '2026-09-27T00:00:00.000Z')
  await database.query(`UPDATE ledger_seal SET entries_kept_from = '-infinity'`)
})
