/** A ledger of some days that are sealed, and its export. */
import { createHash } from 'node:crypto'
import { canonicalLine, canonicalOrder, HASHED_MS, type CanonicalRow } from '#core/money/canonical-entry.ts'
import type { Manifest } from '#core/money/lake.ts'
import { momentOf } from '#core/money/ledger.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { LakeStore, NodeLake } from '#ports/lake.ts'
import type { LedgerFiles } from '#ports/ledger-files.ts'
import { systemClock } from '#runtime/clock.ts'
import { manifestSigner } from '#runtime/manifest-signature.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import type { Database } from '#stores/postgres/database.ts'
import { PostgresLake } from '#stores/postgres/ledger/lake.ts'
import { absent } from './stores/absent.ts'
import { LakeReader } from '#worker/ledger/cold-entries.ts'
import { LedgerLakeDoctor } from '#worker/ledger/lake-doctor.ts'
import { Lake } from '#worker/ledger/lake.ts'
import type { LakeHashing } from '#worker/ledger/lake-bytes.ts'

export const LAKE_DAYS = ['2026-09-01', '2026-09-02', '2026-09-04'] as const
/** Later than `LAKE_DAYS` by more than the fewest days that are kept. */
export const LAKE_NOW_MS = Date.UTC(2026, 10, 20)

export const lakeHashing: LakeHashing = {
  sha256: (bytes) => createHash('sha256').update(bytes).digest('hex'),
  sha256OfParts() {
    const hash = createHash('sha256')
    return { add: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') }
  },
}

/** Entries of every kind and form, spread over the hours of a day. */
export function fillDay(database: Database, day: string, entries: number, salt = ''): Promise<unknown> {
  return database.query(
    `INSERT INTO usage_events (request_id, attempt, kind, call_id, node_id, project, key_id, model, deployment, usage, tokens, images,
       amount_nano, requests, hits, saved_nano, unknown_nano, batch_id, inputs, end_user, tags, remarks, written_at)
     SELECT (lpad(to_hex((extract(epoch FROM $1::date) * 1000)::bigint + n::bigint * 86399000 / $2::integer), 12, '0')
         || '7' || substr(md5($3 || 'a' || n), 1, 3) || '8' || substr(md5($3 || 'b' || n), 1, 15))::uuid,
       n % 3, (ARRAY['post', 'post', 'unknown', 'void', 'adjust'])[1 + n % 5], gen_random_uuid(), '01990000-0000-7000-8000-000000000001',
       'project ' || n % 4, 'key_' || n % 7, CASE n % 3 WHEN 0 THEN 'größe' ELSE 'small' END, 'small/openai', 'upstream',
       CASE WHEN n % 11 = 0 THEN NULL ELSE n END, n % 2, CASE n % 13 WHEN 0 THEN NULL WHEN 1 THEN 9007199254740993 ELSE n * 17 - 40 END,
       CASE WHEN n % 2 = 0 THEN 1 END, CASE WHEN n % 17 = 0 THEN n END, CASE WHEN n % 17 = 0 THEN n * 3 END,
       CASE WHEN n % 5 = 2 THEN n * 2 END, CASE WHEN n % 19 = 0 THEN 'batch_' || n END, CASE WHEN n % 4 = 0 THEN n END,
       CASE WHEN n % 23 = 0 THEN 'user "' || n END, CASE WHEN n % 23 = 0 THEN jsonb_build_object('team', 'a,' || n % 2) END,
       CASE WHEN n % 29 = 0 THEN jsonb_build_object('reason', 'a reason', 'toldTokens', n) END,
       $1::date::timestamp AT TIME ZONE 'UTC' + n * interval '1.000001 s'
     FROM generate_series(1, $2::integer) AS n`,
    [day, entries, salt],
  )
}

/** As the sealing of hours leaves the ledger, computed row by row. */
export async function sealThrough(database: Database, day: string): Promise<void> {
  const rows = await database.query<CanonicalRow & { request_id: string; kind: string }>(
    `SELECT * FROM usage_events AS entry WHERE NOT EXISTS (
       SELECT FROM ledger_corrections AS late
       WHERE (late.request_id, late.attempt, late.kind) = (entry.request_id, entry.attempt, entry.kind)
     ) AND request_id < $1::uuid`,
    [`${(Date.parse(day) + 86_400_000).toString(16).padStart(12, '0')}00000000000000000000`],
  )
  const byHour = Map.groupBy(rows, ({ request_id: id }) => Math.floor(momentOf(id) / 3_600_000))
  for (const [hour, entries] of byHour) {
    const sorted = entries.toSorted(canonicalOrder)
    const parts = Map.groupBy(sorted, ({ request_id: id }) => Math.floor(momentOf(id) / HASHED_MS))
    const hashes = [...parts.values()].map((part) =>
      createHash('sha256').update(part.map(canonicalLine).join('\n')).digest(),
    )
    const sum = (name: keyof CanonicalRow): bigint =>
      entries.reduce((total, row) => total + BigInt(row[name] ?? 0), 0n)
    await database.query(
      `INSERT INTO sealed_hours (hour, entries, posts, tokens, images, amount_nano, requests, hits, saved_nano, unknown_nano, hash,
         barrier_at)
       VALUES (to_timestamp($1), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now()) ON CONFLICT DO NOTHING`,
      [
        hour * 3600,
        entries.length,
        entries.filter(({ kind }) => kind === 'post').length,
        ...(
          ['tokens', 'images', 'amount_nano', 'requests', 'hits', 'saved_nano', 'unknown_nano'] as const
        ).map(sum),
        createHash('sha256').update(Buffer.concat(hashes)).digest(),
      ],
    )
  }
  await database.query(
    `UPDATE ledger_seal SET through = ($1::date + 1)::timestamp AT TIME ZONE 'UTC', days_through = $1::date + 1`,
    [day],
  )
}

/** Entries that come after their hour was sealed. */
export async function fillLate(
  database: Database,
  day: string,
  entries: number,
  salt: string,
): Promise<void> {
  await fillDay(database, day, entries, salt)
  await database.query(
    `INSERT INTO ledger_corrections (hour, request_id, attempt, kind, project, key_id, tokens, images, amount_nano, requests, hits,
       saved_nano, unknown_nano)
     SELECT date_trunc('hour', $1::date::timestamp AT TIME ZONE 'UTC'), request_id, attempt, kind, project, key_id, tokens, images,
       amount_nano, requests, hits, saved_nano, unknown_nano
     FROM usage_events AS entry WHERE (written_at AT TIME ZONE 'UTC')::date = $1::date
       AND right(request_id::text, 12) IN (
         SELECT right(substr(md5($3 || 'b' || n), 1, 15), 12) FROM generate_series(1, $2::integer) AS n
       )`,
    [day, entries, salt],
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
    clock: { nowMs: () => LAKE_NOW_MS, monotonicMs: () => 0 },
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
