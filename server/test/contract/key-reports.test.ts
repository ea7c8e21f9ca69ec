import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openPostgres } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { lastDeliveries, membersOf } from '#control/projects/queries.ts'
import { readActivity } from '#control/shared/activity-queries.ts'
import { listWebhookEvents } from '#control/webhook-events/queries.ts'
import { testPostgres } from '#test/support/servers.ts'

const database = openPostgres((await testPostgres()).url)
after(() => database.close())
await migrate(database)

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

const MONTHLY = { limitNanoUsd: 1_000_000n, per: 'month', hard: false } as const

test('thirty days end today, whose sum is of this hour; spending counts from the beginning of the window', async () => {
  const [ci, web, never] = [
    { id: 'search/ci', budget: MONTHLY },
    { id: 'search/web' },
    { id: 'search/never', budget: MONTHLY },
  ]
  const activityOf = await readActivity(database, 'key', [ci, web, never], NOW)
  const { requests_30d: days, requests_24h: lastDay, spent } = activityOf(ci)
  assert.equal(days.length, 30)
  assert.deepEqual([days[0], days.at(-2), days.at(-1)], [6, 2, 8])
  assert.equal(
    days.reduce((sum, one) => sum + one, 0),
    16,
    'nothing of the day before the first',
  )
  const window_start = '2026-11-01T00:00:00.000Z'
  assert.deepEqual([lastDay, spent], [10, { usd: '0.000007730', window_start }])
  assert.deepEqual([activityOf(web).requests_24h, activityOf(web).spent], [1, null])
  assert.deepEqual(activityOf(never), {
    spent: { usd: '0.000000000', window_start },
    requests_30d: [],
    requests_24h: 0,
  })
})

test('a project is the sum of its keys', async () => {
  const search = { id: 'search', budget: MONTHLY }
  const { spent, requests_24h: lastDay } = (await readActivity(database, 'project', [search], NOW))(search)
  assert.deepEqual([spent?.usd, lastDay], ['0.000007731', 11])
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
  let last: Awaited<ReturnType<typeof listWebhookEvents>>[number] | undefined
  for (;;) {
    const [next] = await listWebhookEvents(database, { after: last, limit: 1 })
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
  const ofSearch = await listWebhookEvents(database, { projects: ['search'], outcome: 'waiting', limit: 9 })
  assert.deepEqual(
    ofSearch.map(({ id }) => id),
    ['evt_2'],
  )
  assert.deepEqual(Object.fromEntries(await lastDeliveries(database, ['search'])), {
    'search https://a.example/x': { at: new Date(NOW).toISOString(), outcome: 'given-up' },
    'search https://b.example/y': { at: new Date(NOW - 120_000).toISOString(), outcome: 'waiting' },
  })
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
  assert.deepEqual(Object.fromEntries(await membersOf(database, ['search', 'ads', 'other'])), {
    ads: 2,
    other: 1,
    search: 2,
  })
})
