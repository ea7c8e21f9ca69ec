import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InstallFigures } from './queries.ts'
import { autovacuumCheck, poolerCheck, schemaCheck, slotsCheck, transactionsCheck } from './server-rules.ts'
import type { NodeSurroundings } from './surroundings-rules.ts'

type Server = NonNullable<InstallFigures['server']>
type Open = Server['open']['transactions'][number]

const on = (change: Partial<Server>): InstallFigures => ({
  nodes: [],
  server: {
    fsync: true,
    full_page_writes: true,
    synchronous_commit: 'on',
    max_connections: 1,
    autovacuum: true,
    open: { transactions: [], hidden: 0 },
    slots: [],
    unvacuumed: [],
    ...change,
  },
  missing: [],
  newest: { requests: 0, failures: [] },
})
const BUILT_IN: InstallFigures = { ...on({}), server: undefined }
const open = (change: Partial<Open> = {}): Open => ({
  pid: 11,
  application: 'psql',
  is_idle: false,
  seconds: 61,
  ...change,
})
const transactions = (hidden: number, ...all: readonly Open[]) =>
  transactionsCheck(on({ open: { transactions: all, hidden } }))
const lacking = (missing: readonly string[] | undefined) => schemaCheck({ ...on({}), missing })
const around = (isPoolerUnfit: boolean | undefined) => ({ isPoolerUnfit }) as NodeSurroundings
const slots = (...bytes: readonly bigint[]) =>
  slotsCheck(on({ slots: bytes.map((one, index) => ({ name: `s${index}`, bytes: one })) }))

const GRANT = 'grant pg_read_all_stats to the role of DATABASE_URL'
const HARM = 'tables grow, and PostgreSQL stops at wraparound'
const LOST = 'statements become slow or are refused. Restore, as the owner of the tables: '

test('the doctor says of a database what an operator did to it, and what to do', () => {
  for (const [found, says, figures] of [
    [transactionsCheck(BUILT_IN), undefined, undefined],
    [transactions(0), 'ok: none has been open for a minute', { open: 0, hidden: 0 }],
    [
      transactions(1),
      `ok: none has been open for a minute; PostgreSQL hides 1 session of other roles: ${GRANT}`,
      { open: 0, hidden: 1 },
    ],
    [
      transactions(0, open()),
      'warn: session 11 (psql) has a transaction open for 61 s: sealing and vacuum wait. Run select pg_terminate_backend(11), if it is not needed',
      { open: 1, hidden: 0 },
    ],
    [
      transactions(2, open({ application: '', is_idle: true, seconds: 150 }), open({ pid: 12 })),
      `warn: session 11 has a transaction open for 2 min and is idle, and 1 more: sealing and vacuum wait. Run select pg_terminate_backend(11), if it is not needed; PostgreSQL hides 2 sessions of other roles: ${GRANT}`,
      { open: 2, hidden: 2 },
    ],
    [slotsCheck(BUILT_IN), undefined, undefined],
    [slots(), 'ok: every replication slot has a reader', { idle: 0, bytes: 0 }],
    [
      slots(2_097_152n, 0n),
      "warn: slot s0 has no reader and keeps 2.0 MiB of WAL, and 1 more: it fills the disk of PostgreSQL. Start its reader, or run select pg_drop_replication_slot('s0')",
      { idle: 2, bytes: 2_097_152 },
    ],
    [autovacuumCheck(BUILT_IN), undefined, undefined],
    [autovacuumCheck(on({})), 'ok: autovacuum is on', { off: 0, tables: 0 }],
    [
      autovacuumCheck(on({ autovacuum: false })),
      `warn: autovacuum or track_counts is off: ${HARM}. Turn both on, and reload PostgreSQL`,
      { off: 1, tables: 0 },
    ],
    [
      autovacuumCheck(on({ unvacuumed: ['keys', 'nodes'] })),
      `warn: autovacuum is off for keys, nodes: ${HARM}. Reset autovacuum_enabled`,
      { off: 0, tables: 2 },
    ],
    [lacking([]), 'ok: the database has all that the migrations made', { missing: 0 }],
    [lacking(undefined), 'ok: a newer version of Torana has changed it, and this one works on', {}],
    [
      lacking(['index CREATE INDEX a ON b USING btree (c)']),
      `warn: ${LOST}CREATE INDEX a ON b USING btree (c)`,
      { missing: 1 },
    ],
    [
      lacking(['column a.b text', 'table a', 'trigger t ON a', 'trigger u ON a']),
      `warn: ${LOST}column a.b text; table a; trigger t ON a; and 1 more`,
      { missing: 4 },
    ],
    [poolerCheck(around(undefined)), undefined, undefined],
    [poolerCheck(around(false)), 'ok: each connection keeps its own session of PostgreSQL', {}],
    [
      poolerCheck(around(true)),
      'fail: the pooler of DATABASE_URL runs in transaction mode, so batches, images and key look-ups fail at random: set pool_mode = session',
      {},
    ],
  ] as const)
    assert.deepEqual([found && `${found.verdict}: ${found.says}`, found?.figures], [says, figures])
})
