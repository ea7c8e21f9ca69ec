import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPostgres } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { PostgresKeyReports } from '#stores/postgres/reports/keys.ts'
import { testPostgres } from '#test/support/servers.ts'

const database = openPostgres((await testPostgres()).url)
after(() => database.close())
await migrate(database)
const reports = new PostgresKeyReports(database)

const NOW = Date.parse('2026-11-16T12:30:00Z')

const hour = (key: string, at: string, requests: number, nano: number) =>
  database.query(
    `INSERT INTO usage_hours (hour, project, key_id, model, deployment, shard, posts, requests, amount_nano)
     VALUES ($1, $2, $3, 'm', 'm/d', 0, 1, $4, $5)`,
    [at, key.split('/')[0], key, requests, nano],
  )
const day = (key: string, at: string, posts: number, requests: number) =>
  database.query(
    `INSERT INTO usage_days (day, project, key_id, model, deployment, posts, unknowns, tokens, images, amount_nano,
       unpriced, requests) VALUES ($1, $2, $3, 'm', 'm/d', $4, 0, 0, 0, 0, 0, $5)`,
    [at, key.split('/')[0], key, posts, requests],
  )

await hour('search/ci', '2026-11-16T12:00:00Z', 5, 700)
await hour('search/ci', '2026-11-16T01:00:00Z', 3, 30)
await hour('search/ci', '2026-11-15T20:00:00Z', 2, 7000)
await hour('search/ci', '2026-10-31T23:00:00Z', 9, 1_000_000)
await hour('search/web', '2026-11-16T12:00:00Z', 1, 1)
await day('search/ci', '2026-11-15', 4, 2)
await day('search/ci', '2026-10-18', 6, 0)
await day('search/ci', '2026-10-17', 8, 8)

const monthMs = Date.parse('2026-11-01T00:00:00Z')

test('thirty days end today, whose sum is of this hour; spending counts from the beginning of the window', async () => {
  const found = await reports.ofKeys(
    [
      { id: 'search/ci', spentSinceMs: monthMs },
      { id: 'search/web', spentSinceMs: undefined },
      { id: 'search/never', spentSinceMs: monthMs },
    ],
    NOW,
  )
  const ci = found.get('search/ci')
  assert.equal(ci?.requests30d.length, 30)
  assert.deepEqual([ci.requests30d[0], ci.requests30d.at(-2), ci.requests30d.at(-1)], [6, 2, 8])
  assert.equal(
    ci.requests30d.reduce((sum, one) => sum + one, 0),
    16,
    'nothing of the day before the first',
  )
  assert.deepEqual([ci.requests24h, ci.spentNanoUsd], [10, 7730n])
  assert.deepEqual(found.get('search/web')?.requests24h, 1)
  assert.equal(found.has('search/never'), false)
})

test('a project is the sum of its keys', async () => {
  const found = await reports.ofProjects([{ id: 'search', spentSinceMs: monthMs }], NOW)
  assert.deepEqual([found.get('search')?.spentNanoUsd, found.get('search')?.requests24h], [7731n, 11])
})

test('events of webhooks come newest first, page by page, each once', async () => {
  const put = (id: string, url: string, project: string, outcome: string | null, minutesAgo: number) =>
    database.query(
      `INSERT INTO webhook_events (event_id, url, project, type, payload, created_at, ended_at, outcome)
       VALUES ($1, $2, $3, 'budget.reached', '{}', $4, $5, $6)`,
      [id, url, project, new Date(NOW - minutesAgo * 60_000), outcome && new Date(NOW), outcome],
    )
  await put('evt_1', 'https://a.example/x', 'search', 'sent', 3)
  await put('evt_2', 'https://a.example/x', 'search', 'given-up', 2)
  await put('evt_2', 'https://b.example/y', 'search', null, 2)
  await put('evt_3', 'https://a.example/x', 'ads', 'sent', 1)
  const seen: string[] = []
  let last: Awaited<ReturnType<typeof reports.webhookEvents>>[number] | undefined
  for (;;) {
    const [next] = await reports.webhookEvents({ after: last, limit: 1 })
    if (next === undefined) break
    seen.push(`${next.id} ${next.url} ${next.outcome}`)
    last = next
  }
  assert.deepEqual(seen.toSorted(), [
    'evt_1 https://a.example/x sent',
    'evt_2 https://a.example/x given-up',
    'evt_2 https://b.example/y waiting',
    'evt_3 https://a.example/x sent',
  ])
  assert.deepEqual([seen[0]?.slice(0, 5), seen.at(-1)?.slice(0, 5)], ['evt_3', 'evt_1'])
  const ofSearch = await reports.webhookEvents({ projects: ['search'], outcome: 'waiting', limit: 9 })
  assert.deepEqual(
    ofSearch.map(({ id }) => id),
    ['evt_2'],
  )
  const newest = await reports.lastWebhookEvents(['search'])
  assert.deepEqual(
    newest.map(({ url, outcome }) => [url, outcome]),
    [
      ['https://a.example/x', 'given-up'],
      ['https://b.example/y', 'waiting'],
    ],
  )
})

test('members of a project are those who see it', async () => {
  const add = (email: string, role: string, projects: string[] | null) =>
    database.query(
      `INSERT INTO members (member_id, name, email, role, projects, source) VALUES (gen_random_uuid(), $1, $1, $2, $3, 'local')`,
      [email, role, projects],
    )
  await add('a@example.com', 'admin', null)
  await add('d@example.com', 'developer', ['search'])
  await add('e@example.com', 'developer', ['ads'])
  assert.deepEqual(Object.fromEntries(await reports.membersOf(['search', 'ads', 'other'])), {
    ads: 2,
    other: 1,
    search: 2,
  })
})
