import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Client } from 'pg'
import { openPostgres } from '../../server/src/stores/postgres/database.ts'
import { migrate } from '../../server/src/stores/postgres/migrate.ts'
import { testPostgres } from '../../server/test/support/servers.ts'
import { checkBudgets, checkSums } from './ledger-checks.ts'
import { checkRequests, type Violation } from './invariants.ts'
import { NANO_USD_PER_TOKEN } from './traffic.ts'

const { url } = await testPostgres()
const database = openPostgres(url)
await migrate(database)
await database.close()
const client = new Client({ connectionString: url })
await client.connect()
const folder = mkdtempSync(join(tmpdir(), 'torana-invariants-'))
after(async () => {
  await client.end()
  rmSync(folder, { recursive: true })
})

/** Looks like a UUIDv7 of one moment. */
const HOUR = '019a8000-0000-7000-8000'
const idOf = (number: number): string => `${HOUR}-${String(number).padStart(12, '0')}`
const TOKENS = 5
const COST = Number(NANO_USD_PER_TOKEN) * TOKENS

interface Row {
  readonly kind: 'post' | 'unknown'
  readonly nanoUsd: number
  readonly tokens?: number
  readonly attempt?: number
  readonly request?: number
}

/** One request with one call, as three witnesses report it. */
interface Story {
  readonly rows: readonly Row[]
  readonly isServed?: boolean
  readonly isAnswered?: boolean
  readonly model?: string
}

const POST: Row = { kind: 'post', nanoUsd: COST, tokens: TOKENS }

async function violationsOf({
  rows,
  isServed = true,
  isAnswered = false,
  model = 'm',
}: Story): Promise<Violation[]> {
  await client.query('TRUNCATE usage_events')
  for (const { kind, nanoUsd, tokens = null, attempt = 0, request = 1 } of rows) {
    await client.query(
      `INSERT INTO usage_events (request_id, attempt, kind, call_id, node_id, project, key_id, model, deployment, usage, tokens, amount_nano)
       VALUES ($1, $2, $3, $4, $4, 'p', 'p/k', $7, 'd', 'upstream', $5, $6)`,
      [idOf(request + 10), attempt, kind, idOf(2), tokens, nanoUsd, model],
    )
  }
  const [oracleFile, recordsFile] = [join(folder, 'served.jsonl'), join(folder, 'records.jsonl')]
  const record = { id: idOf(11), status: 200, complete: true, calls: 1 }
  writeFileSync(
    oracleFile,
    isServed ? `${JSON.stringify({ callId: idOf(2), served: true, tokens: TOKENS })}\n` : '',
  )
  writeFileSync(recordsFile, isAnswered ? `${JSON.stringify(record)}\n` : '')
  const { violations } = await checkRequests(client, {
    sinceMs: 0,
    oracleFile,
    oracleFromBytes: 0,
    recordsFile,
  })
  return violations
}

async function kindsOf(story: Story): Promise<string[]> {
  return (await violationsOf(story)).map(({ kind }) => kind)
}

test('a call that is in the ledger as it should be is no violation', async () => {
  assert.deepEqual(await violationsOf({ rows: [POST], isAnswered: true }), [])
  assert.deepEqual(await violationsOf({ rows: [{ kind: 'unknown', nanoUsd: COST + 7 }] }), [])
  // A post that came after all adds the difference.
  const difference = { ...POST, nanoUsd: -7 }
  assert.deepEqual(await violationsOf({ rows: [{ kind: 'unknown', nanoUsd: COST + 7 }, difference] }), [])
  assert.deepEqual(await violationsOf({ rows: [{ kind: 'unknown', nanoUsd: COST }], isServed: false }), [])
})

test('what is lost is noticed', async () => {
  assert.deepEqual(await kindsOf({ rows: [] }), ['lost'])
  assert.deepEqual(await kindsOf({ rows: [{ ...POST, nanoUsd: COST - 1 }] }), ['lost'])
  assert.deepEqual(await kindsOf({ rows: [{ kind: 'unknown', nanoUsd: COST - 1 }] }), ['lost'])
  assert.deepEqual(await kindsOf({ rows: [{ kind: 'unknown', nanoUsd: COST }], isAnswered: true }), ['lost'])
})

test('what is counted twice is noticed', async () => {
  assert.deepEqual(await kindsOf({ rows: [POST, { kind: 'unknown', nanoUsd: COST }] }), ['doubled'])
  assert.deepEqual(await kindsOf({ rows: [POST], isServed: false }), ['doubled'])
  const twice = await kindsOf({ rows: [POST, { ...POST, attempt: 1 }], isAnswered: true })
  assert.deepEqual(twice, ['doubled', 'doubled', 'other', 'doubled'])
})

test('of a call that two requests share, the entries of both together are compared with it', async () => {
  const part = (request: number, nanoUsd: number, tokens: number): Row => ({
    kind: 'post',
    request,
    nanoUsd,
    tokens,
  })
  const [one, other] = [part(1, COST - 2000, TOKENS - 2), part(2, 2000, 2)]
  const model = 'joined-w16'
  assert.deepEqual(await violationsOf({ model, rows: [one, other], isAnswered: true }), [])
  assert.deepEqual(await kindsOf({ rows: [one, other] }), ['doubled'])
  assert.deepEqual(await kindsOf({ model, rows: [one] }), ['lost', 'other'])
  assert.deepEqual(await kindsOf({ model, rows: [one, part(2, 3000, 3)] }), ['doubled', 'other'])
  assert.deepEqual(await kindsOf({ model, rows: [one, { kind: 'unknown', request: 2, nanoUsd: 9000 }] }), [])
  assert.deepEqual(await kindsOf({ model, rows: [one, { kind: 'unknown', request: 2, nanoUsd: 1000 }] }), [
    'lost',
  ])
})

test('a rollup, a budget and a lease that do not fit the ledger are noticed', async () => {
  await violationsOf({ rows: [POST] })
  const [apart] = await checkSums(client)
  assert.equal(apart?.what, 'the ledger and its rollup differ')
  await client.query(
    `INSERT INTO budgets (budget_id, window_start, window_end, limit_nano, spent_nano, leased_nano)
     VALUES ('project:p', 'epoch', 'infinity', 100, 101, 5)`,
  )
  assert.deepEqual(
    (await checkBudgets(client)).map(({ what }) => what),
    [
      'a hard budget is exceeded',
      'more is leased than a hard budget has left',
      'a budget and its leases differ',
    ],
  )
  assert.ok((await checkSums(client)).some(({ what }) => what === 'a budget and the ledger differ'))
})
