/** A ledger of some days that are sealed, and its export. */
import assert from 'node:assert/strict'
import type { Manifest } from '#core/money/lake.ts'
import { lakeHashing } from '#node/lake.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { StoreClock } from '#ports/clock.ts'
import type { LakeStore, NodeLake } from '#ports/lake.ts'
import type { LedgerFiles } from '#ports/ledger-files.ts'
import { systemClock } from '#runtime/clock.ts'
import { manifestSigner } from '#runtime/manifest-signature.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import type { Database } from '#stores/postgres/database.ts'
import { PostgresLake } from '#stores/postgres/ledger/lake.ts'
import { PostgresSealing } from '#stores/postgres/ledger/seal.ts'
import { makePartitions } from '#stores/postgres/ledger/upkeep-partitions.ts'
import { absent } from './stores/absent.ts'
import { LakeReader } from '#worker/ledger/cold-entries.ts'
import { LedgerLakeDoctor } from '#worker/ledger/lake-doctor.ts'
import { Lake } from '#worker/ledger/lake.ts'

export const LAKE_DAYS = ['2026-09-01', '2026-09-02', '2026-09-04'] as const
/** Later than `LAKE_DAYS` by more than the fewest days that are kept. */
export const LAKE_NOW_MS = Date.UTC(2026, 10, 20)
export const LAKE_CLOCK: StoreClock = { storeMs: async () => LAKE_NOW_MS, monotonicMs: () => 0 }

/**
 * Entries of every kind and form, spread over the first two hours of a day, with their sums. Each void resolves the unknown before it. `late`: they come after their hour was sealed. The
 * salt makes other ids.
 */
export function fillDay(
  database: Database,
  day: string,
  entries: number,
  salt = day,
  when: 'in time' | 'late' = 'in time',
): Promise<unknown> {
  return database.query(
    `WITH added AS (
       INSERT INTO usage_events (request_id, attempt, kind, call_id, node_id, project, key_id, model, deployment, usage, tokens, images,
         amount_nano, requests, hits, saved_nano, unknown_nano, batch_id, inputs, end_user, tags, remarks, written_at)
       SELECT (lpad(to_hex(at), 12, '0') || '7' || substr(md5($3 || 'a' || request), 1, 3)
           || '8' || substr(md5($3 || 'b' || request), 1, 15))::uuid,
         request % 3, (ARRAY['post', 'post', 'unknown', 'void', 'adjust'])[1 + n % 5],
         (lpad(to_hex(at + 1500), 12, '0') || '70008' || substr(md5($3 || 'c' || request), 1, 15))::uuid,
         '01990000-0000-7000-8000-000000000001', 'project ' || n % 4, 'key_' || n % 7,
         CASE n % 3 WHEN 0 THEN 'größe' ELSE 'small' END, 'small/openai', 'upstream',
         CASE WHEN n % 11 = 0 THEN NULL ELSE n END, n % 2,
         CASE WHEN n % 13 = 0 THEN NULL WHEN n = 14 THEN 9007199254740993 ELSE n * 17 - 40 END,
         CASE WHEN n % 2 = 0 THEN 1 END, CASE WHEN n % 17 = 0 THEN n END, CASE WHEN n % 17 = 0 THEN n * 3 END,
         CASE WHEN n % 5 = 2 THEN n * 2 END, CASE WHEN n % 19 = 0 THEN 'batch_' || n END, CASE WHEN n % 4 = 0 THEN n END,
         CASE WHEN n % 23 = 0 THEN 'user "' || n END, CASE WHEN n % 23 = 0 THEN jsonb_build_object('team', 'a,' || n % 2) END,
         CASE WHEN n % 29 = 0 THEN jsonb_build_object('reason', 'a reason', 'toldTokens', n) END,
         $1::date::timestamp AT TIME ZONE 'UTC' + n * interval '1.000001 s'
       FROM generate_series(1, $2::integer) AS n
       CROSS JOIN LATERAL (SELECT CASE n % 5 WHEN 3 THEN n - 1 ELSE n END AS request) AS requests
       CROSS JOIN LATERAL (SELECT (extract(epoch FROM $1::date) * 1000)::bigint + request::bigint * 7199000 / $2::integer AS at) AS moments
       RETURNING *
     ), hours AS (
       SELECT *, to_timestamp(('x0000' || left(replace(request_id::text, '-', ''), 12))::bit(64)::bigint / 3600000 * 3600) AS hour
       FROM added
     ), corrected AS (
       INSERT INTO ledger_corrections (hour, request_id, attempt, kind, project, key_id, tokens, images, amount_nano, requests, hits,
         saved_nano, unknown_nano)
       SELECT hour, request_id, attempt, kind, project, key_id, tokens, images, amount_nano, requests, hits, saved_nano, unknown_nano
       FROM hours WHERE $4
     )
     INSERT INTO usage_hours (hour, project, key_id, model, deployment, shard, posts, unknowns, tokens, images, amount_nano, unpriced,
       requests, hits, saved_nano, unknown_nano)
     SELECT hour, project, key_id, model, deployment, CASE WHEN $4 THEN 100 ELSE 0 END, count(*) FILTER (WHERE kind = 'post'), 0,
       coalesce(sum(tokens), 0), sum(images), coalesce(sum(amount_nano), 0), count(*) FILTER (WHERE amount_nano IS NULL),
       coalesce(sum(requests), 0), coalesce(sum(hits), 0), coalesce(sum(saved_nano), 0), coalesce(sum(unknown_nano), 0)
     FROM hours GROUP BY 1, 2, 3, 4, 5
     ON CONFLICT (hour, project, key_id, model, deployment, shard) DO UPDATE SET
       posts = usage_hours.posts + excluded.posts, tokens = usage_hours.tokens + excluded.tokens,
       images = usage_hours.images + excluded.images, amount_nano = usage_hours.amount_nano + excluded.amount_nano,
       unpriced = usage_hours.unpriced + excluded.unpriced, requests = usage_hours.requests + excluded.requests,
       hits = usage_hours.hits + excluded.hits, saved_nano = usage_hours.saved_nano + excluded.saved_nano,
       unknown_nano = usage_hours.unknown_nano + excluded.unknown_nano`,
    [day, entries, salt, when === 'late'],
  )
}

/** Seals `LAKE_DAYS`, between which is a day without entries. */
export async function sealDays(database: Database, entries: number): Promise<void> {
  await makePartitions(database, Date.parse(LAKE_DAYS[0]))
  for (const day of LAKE_DAYS) await fillDay(database, day, entries)
  // The clock of these tests may go before that of the database.
  await database.query('ALTER TABLE ledger_seal DISABLE TRIGGER ledger_seal_in_the_past')
  const sealed = await new PostgresSealing(database, LAKE_CLOCK).sealDue()
  assert.deepEqual(
    [sealed.hours, sealed.entries, sealed.differences],
    [2 * LAKE_DAYS.length, entries * LAKE_DAYS.length, []],
  )
}

export interface LakeTools {
  readonly store: LakeStore
  readonly lake: Lake
  readonly exported: Manifest[]
  readonly dropped: string[]
}

export function openTestLake(
  database: Database,
  blobs: BlobStore,
  files: LedgerFiles,
  {
    keepDays = 'forever',
    store = new PostgresLake(database),
  }: { keepDays?: number | 'forever'; store?: LakeStore } = {},
): LakeTools {
  const [exported, dropped]: [Manifest[], string[]] = [[], []]
  const lake = new Lake({
    nodeId: '01990000-0000-7000-8000-0000000000aa',
    store,
    blobs,
    files,
    signer: manifestSigner({ current: 'the secret of the tests', previous: undefined }),
    hashing: lakeHashing,
    clock: LAKE_CLOCK,
    isClockSteady: () => true,
    keepDays,
    events: {
      exported: (_day, manifest) => void exported.push(manifest),
      dropped: (partition) => void dropped.push(partition),
    },
  })
  return { store, lake, exported, dropped }
}

/** The lake of a node that exports nothing. */
export function unusedLake(database: Database): NodeLake {
  const store = new PostgresLake(database)
  const parts = {
    store,
    blobs: new MemoryBlobs(systemClock),
    files: absent<LedgerFiles>('files of the ledger'),
    signer: manifestSigner({ current: 'the secret of the tests', previous: undefined }),
    hashing: lakeHashing,
  }
  return {
    isExported: false,
    keepDays: 'forever',
    status: () => store.status(),
    cold: new LakeReader(parts),
    doctor: new LedgerLakeDoctor({ ...parts, isExported: false, clock: systemClock }),
  }
}
