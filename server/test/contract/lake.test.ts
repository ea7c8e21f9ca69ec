import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { lowestIdAt } from '#core/money/id-range.ts'
import { addedUp, differingSums, folderOfDay, sumsIn, type Manifest } from '#core/money/lake.ts'
import { SYSTEM } from '#ports/audit.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { LakeStore } from '#ports/lake.ts'
import type { StoredEntry } from '#ports/ledger-files.ts'
import { lakeHashing } from '#node/lake.ts'
import { manifestSigner } from '#runtime/manifest-signature.ts'
import { WorkerLedgerFiles } from '#runtime/ledger-files.ts'
import { DiskBlobs } from '#stores/blobs/disk.ts'
import { S3Blobs } from '#stores/blobs/s3.ts'
import { PostgresLake } from '#stores/postgres/ledger/lake.ts'
import { postgresStores, type LedgerStores } from '#test/support/ledger-stores.ts'
import { fillDay, LAKE_CLOCK, LAKE_DAYS, LAKE_NOW_MS, openTestLake, sealDays } from '#test/support/lake.ts'
import { eventually } from '#test/support/process.ts'
import { s3Program, startS3Server, testPlace } from '#test/support/s3.ts'
import { temporaryFolder, type TestServer } from '#test/support/servers.ts'
import { LakeReader } from '#worker/ledger/cold-entries.ts'
import type { Lake } from '#worker/ledger/lake.ts'
import { LedgerLakeDoctor } from '#worker/ledger/lake-doctor.ts'

const ENTRIES = 2000
const DAY_MS = 86_400_000
const [FIRST, , LAST] = LAKE_DAYS

const open = postgresStores()
const files = new WorkerLedgerFiles()
after(() => files.close())

const program = s3Program()
let server: TestServer | undefined
before(async () => {
  if (program !== undefined) server = await startS3Server(program)
})
after(() => server?.stop())

const onDisk = (): Promise<BlobStore> => DiskBlobs.open(temporaryFolder('lake'))

/** Three sealed days of entries, with a day between them that has none. */
async function ledgerOfDays(): Promise<LedgerStores> {
  const stores = await open()
  stores.clock.ms = LAKE_NOW_MS
  await sealDays(stores.database, ENTRIES)
  return stores
}

/** All rows, as files have them. */
async function rowsOf({ database }: LedgerStores): Promise<readonly StoredEntry[]> {
  return database.query<StoredEntry>(
    `SELECT request_id, attempt::integer, kind, call_id, node_id, project, key_id, model, deployment, usage, tokens, images, amount_nano,
       requests::integer, inputs, hits, saved_nano, unknown_nano, batch_id, end_user, tags::text AS tags, remarks::text AS remarks,
       (extract(epoch FROM written_at) * 1000000)::bigint AS written_at
     FROM usage_events ORDER BY request_id, attempt, kind COLLATE "C"`,
  )
}

async function inFiles(store: LakeStore, blobs: BlobStore): Promise<readonly StoredEntry[]> {
  const cold = new LakeReader({ store, blobs, files })
  const pages = await Array.fromAsync(cold.entries(Date.parse(FIRST), Date.parse(LAST) + DAY_MS))
  return pages.flat()
}

function totalOf(manifest: Manifest | undefined) {
  assert.ok(manifest)
  return addedUp([sumsIn(manifest.sums), sumsIn(manifest.corrections)])
}

/** The names of all files of the lake, and their hashes. */
async function contentsOf(blobs: BlobStore): Promise<ReadonlyMap<string, string>> {
  const listed = await blobs.list({ prefix: 'ledger/', limit: 1000 })
  const contents = new Map<string, string>()
  for (const { name } of listed) {
    const hash = createHash('sha256')
    for await (const part of (await blobs.open(name))?.bytes ?? []) hash.update(part)
    contents.set(name, hash.digest('hex'))
  }
  return contents
}

for (const [where, place, skip] of [
  ['a disk', onDisk, false],
  [
    'S3',
    async () => new S3Blobs(testPlace(server?.url ?? '')),
    program === undefined && !process.env['CI'] ? 'there is no SeaweedFS on this machine' : false,
  ],
] as const)
  test(`sealed days become files on ${where} that hold every value of every entry`, { skip }, async () => {
    const stores = await ledgerOfDays()
    const blobs = await place()
    const { lake, store, exported } = openTestLake(stores.database, blobs, files)
    await lake.round()
    assert.deepEqual(
      exported.map(({ day, number, sequence }) => [day, number, sequence]),
      [
        [LAKE_DAYS[0], 1, 1],
        [LAKE_DAYS[1], 1, 2],
        [LAKE_DAYS[2], 1, 3],
      ],
    )
    assert.deepEqual(await inFiles(store, blobs), await rowsOf(stores))
    const groups = exported.flatMap((manifest) => manifest.groups.map(sumsIn))
    assert.deepEqual(differingSums(addedUp(groups), addedUp(exported.map(totalOf))), [])
    assert.equal(totalOf(exported[0]).entries, BigInt(ENTRIES))
    const { waiting, days, exportedThrough, problem } = await store.status()
    assert.deepEqual([waiting, days, exportedThrough, problem], [0, 3, '2026-09-05', undefined])
    if (blobs instanceof S3Blobs) blobs.close()
  })

test('an export that is killed after any step ends, when it runs again, in the same files', async () => {
  const stores = await ledgerOfDays()
  await fillDay(stores.database, FIRST, 30, 'late', 'late')
  const usual = await onDisk()
  await openTestLake(stores.database, usual, files).lake.round()
  const expected = await contentsOf(usual)
  let steps = 0
  for (let killedAfter = 0; ; killedAfter += 1) {
    const again = await ledgerOfDaysAgain(stores)
    const blobs = await onDisk()
    const isKilled = await runUntilKilled(again, blobs, killedAfter)
    await openTestLake(again.database, blobs, files).lake.round()
    assert.deepEqual(await contentsOf(blobs), expected, `killed after ${killedAfter} steps`)
    if (!isKilled) break
    steps = killedAfter
  }
  assert.ok(steps > 8, `${steps} steps`)
})

/** The same rows with nothing exported. */
async function ledgerOfDaysAgain(stores: LedgerStores): Promise<LedgerStores> {
  await stores.database.query('TRUNCATE ledger_exports')
  await stores.database.query('UPDATE ledger_corrections SET manifest = NULL')
  return stores
}

for (const [step, after] of [
  ['claimed them', 1],
  ['wrote their manifest', 3],
] as const)
  test(`corrections of an exported day do not hold up its drop when the export that ${step} was killed`, async () => {
    const stores = await ledgerOfDays()
    const blobs = await onDisk()
    const { lake, store, dropped } = openTestLake(stores.database, blobs, files, { keepDays: 35 })
    await openTestLake(stores.database, blobs, files).lake.round()
    await fillDay(stores.database, FIRST, 3, 'late', 'late')
    const rows = await rowsOf(stores)
    assert.ok(await runUntilKilled(stores, blobs, after, (dying) => dying.exportDay(FIRST)))
    await lake.round()
    assert.equal(dropped.at(-1), 'usage_events_2026_10_15')
    assert.deepEqual(await inFiles(store, blobs), rows)
  })

/** Whether it was: every write counts as a step, and after the last one nothing happens any more. */
async function runUntilKilled(
  { database }: LedgerStores,
  blobs: BlobStore,
  steps: number,
  work: (lake: Lake) => Promise<unknown> = (lake) => lake.round(),
): Promise<boolean> {
  let left = steps
  const step = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (left === 0) throw new Error('killed')
    left -= 1
    return work()
  }
  const store = new PostgresLake(database)
  const dying: LakeStore = Object.assign(Object.create(store) as LakeStore, {
    claimCorrections: (...given: Parameters<LakeStore['claimCorrections']>) =>
      step(() => store.claimCorrections(...given)),
    record: (...given: Parameters<LakeStore['record']>) => step(() => store.record(...given)),
    hold: (nodeId: string) => store.hold(nodeId),
    daysDue: (limit: number) => store.daysDue(limit),
    correctedDays: (before: number, limit: number) => store.correctedDays(before, limit),
    manifestOf: (day: string, number?: number) => store.manifestOf(day, number),
    lastManifest: () => store.lastManifest(),
    sealedHours: (day: string) => store.sealedHours(day),
    page: (...given: Parameters<LakeStore['page']>) => store.page(...given),
    note: (problem: string | undefined) => store.note(problem),
  })
  const dyingBlobs: BlobStore = {
    put: (name, bytes) => step(() => blobs.put(name, bytes)),
    open: (name, range) => blobs.open(name, range),
    delete: (name) => blobs.delete(name),
    list: (options) => blobs.list(options),
  }
  try {
    await work(openTestLake(database, dyingBlobs, files, { store: dying }).lake)
    return false
  } catch (error) {
    assert.match((error as Error).message, /killed/)
    return true
  }
}

test('late entries of an exported day become files of corrections, and the manifests a chain', async () => {
  const stores = await ledgerOfDays()
  const blobs = await onDisk()
  const { lake, store, exported } = openTestLake(stores.database, blobs, files)
  await lake.round()
  await fillDay(stores.database, FIRST, 40, 'late', 'late')
  await lake.exportDay(FIRST)
  await fillDay(stores.database, FIRST, 15, 'later', 'late')
  await lake.exportDay(FIRST)
  const [, , third, fourth, fifth] = exported
  assert.deepEqual(
    fifth?.files.map(({ name, rows }) => [name.slice(folderOfDay(FIRST).length), rows]),
    [
      ['part-0001.parquet', ENTRIES],
      ['corrections-0001.parquet', 40],
      ['corrections-0002.parquet', 15],
    ],
  )
  assert.equal(sumsIn(fifth.corrections).entries, 55n)
  assert.deepEqual([fourth?.number, fourth?.sequence, fourth?.day], [2, 4, FIRST])
  assert.equal(fourth?.previous, (await store.chain(2, 1))[0]?.sha256)
  assert.ok(third)
  assert.deepEqual(await inFiles(store, blobs), await rowsOf(stores))
})

test('a partition is dropped after its files were read back, and its entries stay readable', async () => {
  const stores = await ledgerOfDays()
  const rows = await rowsOf(stores)
  const blobs = await onDisk()
  const { lake, store, dropped } = openTestLake(stores.database, blobs, files, { keepDays: 35 })
  await lake.round()
  // Days without entries go too.
  assert.deepEqual(
    [dropped.length, dropped[0], dropped.at(-1)],
    [45, 'usage_events_2026_09_01', 'usage_events_2026_10_15'],
  )
  assert.equal(await store.keptFrom(), '2026-10-16')
  assert.deepEqual(await rowsOf(stores), [])
  assert.deepEqual(await inFiles(store, blobs), rows)
  const cold = new LakeReader({ store, blobs, files })
  const some = rows[1234] as StoredEntry
  assert.deepEqual(
    await cold.ofRequest(some.request_id),
    rows.filter(({ request_id: id }) => id === some.request_id),
  )
  assert.deepEqual(await cold.ofRequest('01990000-0000-7000-8000-000000000009'), [])
  await assert.rejects(fillDay(stores.database, FIRST, 1, 'too late'), /2026-09-01/)
  const { differences } = await stores.reconciler.reconcile('all')
  assert.deepEqual(differences, [], 'entries of dropped days are not missed')
  const all = await doctorOf(stores, blobs).check('all')
  assert.deepEqual([all.problems, all.manifests], [[], 3])
  await stores.database.query('UPDATE usage_days SET tokens = tokens + 1 WHERE day = $1', [FIRST])
  const [problem] = (await doctorOf(stores, blobs).check('all')).problems
  assert.equal(problem, `the sums of ${FIRST} are not those of its files: tokens`)
})

for (const [what, harm, problem] of [
  [
    'a changed file',
    (blobs: BlobStore) => blobs.put(`${folderOfDay(FIRST)}part-0001.parquet`, new Uint8Array(9)),
    /was changed/,
  ],
  [
    'a missing file',
    (blobs: BlobStore) => blobs.delete(`${folderOfDay(FIRST)}part-0001.parquet`),
    /is missing/,
  ],
  [
    'a missing manifest',
    (blobs: BlobStore) => blobs.delete(`${folderOfDay(FIRST)}manifest-0001.json`),
    /is missing/,
  ],
] as const)
  test(`${what} keeps the partition, and the doctor names it`, async () => {
    const stores = await ledgerOfDays()
    const rows = await rowsOf(stores)
    const blobs = await onDisk()
    await openTestLake(stores.database, blobs, files).lake.round()
    const good = await doctorOf(stores, blobs).check('all')
    assert.deepEqual([good.problems, good.manifests, good.bytes > 0, good.isPartial], [[], 3, true, false])
    await harm(blobs)
    const { lake, store } = openTestLake(stores.database, blobs, files, { keepDays: 35 })
    await assert.rejects(lake.round(), problem)
    assert.match((await store.status()).problem?.text ?? '', problem)
    assert.deepEqual(await rowsOf(stores), rows)
    const [named] = (await doctorOf(stores, blobs).check('all')).problems
    assert.match(named ?? '', problem)
    // A usual check reads no file, and looks whether each is there.
    const [seen] = (await doctorOf(stores, blobs).check('recent')).problems
    if (problem.source === 'is missing') assert.match(seen ?? '', problem)
  })

test('a drop locks from the top: a reader on its way to the day reads it', async () => {
  const { database } = await ledgerOfDays()
  const blobs = await onDisk()
  const { lake } = openTestLake(database, blobs, files, { keepDays: 35 })
  await openTestLake(database, blobs, files).lake.round()
  await database.transaction(async (sql) => {
    await sql.query('LOCK TABLE ONLY usage_events, ONLY usage_events_2026_09 IN ACCESS SHARE MODE')
    const dropping = lake.round()
    await eventually(async () => {
      const waiting = await database.query('SELECT 1 FROM pg_locks WHERE NOT granted')
      assert.ok(waiting.length > 0)
    })
    await sql.query("SET LOCAL lock_timeout = '200ms'")
    await sql.query('SELECT 1 FROM usage_events_2026_09_01')
    await dropping
  })
})

test('a call with an unknown outcome keeps its partition until it is resolved: a file takes no resolution', async () => {
  const stores = await ledgerOfDays()
  const { database, ledger, nodeId, entry } = stores
  const requestId = lowestIdAt(Date.parse(FIRST))
  await ledger.append(nodeId, [entry({ requestId, kind: 'unknown', usage: 'unknown', tokens: undefined })])
  const { lake, dropped } = openTestLake(database, await onDisk(), files, { keepDays: 35 })
  await lake.round()
  assert.deepEqual(dropped, [])
  await ledger.resolveUnknown({ requestId, attempt: 0, kind: 'void', actor: SYSTEM })
  await lake.round()
  assert.equal(dropped.length, 45)
})

test('entries that no file has keep their partition', async () => {
  const stores = await ledgerOfDays()
  const blobs = await onDisk()
  await openTestLake(stores.database, blobs, files).lake.round()
  await fillDay(stores.database, FIRST, 1, 'of a node of an earlier version')
  const { lake, dropped } = openTestLake(stores.database, blobs, files, { keepDays: 35 })
  await assert.rejects(lake.round(), /has entries that its files lack/)
  assert.deepEqual(dropped, [])
})

test('nothing that is in the bucket is overwritten: neither another ledger nor a file of others', async () => {
  const stores = await ledgerOfDays()
  const blobs = await onDisk()
  const name = `${folderOfDay(FIRST)}manifest-0001.json`
  await blobs.put(name, Buffer.from('{}'))
  await assert.rejects(openTestLake(stores.database, blobs, files).lake.round(), /not signed by this install/)
  await blobs.delete(name)
  await openTestLake(stores.database, blobs, files).lake.round()
  // A database of an earlier moment, with another first day.
  await ledgerOfDaysAgain(stores)
  await stores.database.query(
    'ALTER TABLE sealed_hours DISABLE TRIGGER ALL; UPDATE sealed_hours SET tokens = tokens + 1; ALTER TABLE sealed_hours ENABLE TRIGGER ALL',
  )
  const before = await contentsOf(blobs)
  await assert.rejects(
    openTestLake(stores.database, blobs, files).lake.round(),
    /is not what was sealed: tokens/,
  )
  assert.deepEqual(await contentsOf(blobs), before)
})

test('a signature is good with the secret that made it, and with the one after', () => {
  const old = manifestSigner({ current: 'a', previous: undefined })
  const next = manifestSigner({ current: 'b', previous: 'a' })
  const last = manifestSigner({ current: 'c', previous: 'b' })
  const signature = old.sign('text')
  assert.deepEqual(
    [old, next, last].map((signer) => signer.verify('text', signature)),
    ['good', 'good', 'other key'],
  )
  assert.equal(next.verify('text.', signature), 'bad')
})

function doctorOf({ database }: LedgerStores, blobs: BlobStore): LedgerLakeDoctor {
  return new LedgerLakeDoctor({
    store: new PostgresLake(database),
    blobs,
    files,
    signer: manifestSigner({ current: 'the secret of the tests', previous: undefined }),
    hashing: lakeHashing,
    isExported: true,
    clock: LAKE_CLOCK,
  })
}
