/** `torana restore` of a ledger with dropped days: it looks into the bucket, and names each day that is not there as the backup knows it. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { fileName, manifestName } from '#core/money/lake.ts'
import { WorkerLedgerFiles } from '#runtime/ledger-files.ts'
import { S3Blobs } from '#stores/blobs/s3.ts'
import { openPostgres } from '#stores/postgres/database.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { LAKE_DAYS, openTestLake, sealDays } from '#test/support/lake.ts'
import { runTorana, temporaryFolder } from '#test/support/process.ts'
import { S3_OWNER, s3Program, startS3Server, testPlace } from '#test/support/s3.ts'
import { hasPostgres, testPostgres } from '#test/support/servers.ts'

const program = s3Program()
const skip =
  !hasPostgres || (program === undefined && !process.env['CI'])
    ? 'there is no PostgreSQL or no SeaweedFS on this machine'
    : false
const [FIRST, SECOND, LAST] = LAKE_DAYS

test(
  'a restore names each dropped day whose files are missing or others, and restores the database all the same',
  { skip },
  async () => {
    const server = await startS3Server(program ?? '')
    after(() => server.stop())
    const place = testPlace(server.url)
    const blobs = new S3Blobs(place)
    after(() => blobs.close())
    const folder = temporaryFolder()
    const { url } = await testPostgres()
    const env = {
      TORANA_SECRET: 'the secret of these two databases',
      ASSETS_URL: `s3://${place.bucket}/${place.prefix}?region=${place.region}&endpoint=${server.url}`,
      AWS_ACCESS_KEY_ID: S3_OWNER.accessKeyId,
      AWS_SECRET_ACCESS_KEY: S3_OWNER.secretAccessKey,
    }
    const torana = async (args: string, databaseUrl: string) => {
      const running = runTorana({ folder, env: { ...env, DATABASE_URL: databaseUrl }, args: args.split(' ') })
      return { code: await running.exit, stdout: running.stdout(), stderr: running.stderr() }
    }
    const restored = async () => {
      const { code, stdout, stderr } = await torana('restore torana.gz', (await testPostgres()).url)
      assert.equal(code, 0, stderr)
      assert.match(stdout, /^torana\.gz is restored/)
      return { stdout, named: stderr.split('\n').filter((line) => line.startsWith('  ')) }
    }

    const files = new WorkerLedgerFiles()
    const database = openPostgres(url)
    await migrate(database)
    await sealDays(database, 100)
    await openTestLake(database, blobs, files, { keepDays: 35 }).lake.round()
    await Promise.all([files.close(), database.close()])
    assert.equal((await torana('backup torana.gz', url)).code, 0)

    const whole = await restored()
    assert.match(
      whole.stdout,
      /Entries of days before 2026-10-16 .*\nThe files of 3 dropped days are there\.\n$/,
    )
    assert.deepEqual(whole.named, [])

    const bytes = new Uint8Array(Buffer.from('{}'))
    const part = fileName(LAST, 'entries', 1)
    await blobs.delete(manifestName(FIRST, 1))
    await blobs.put(manifestName(SECOND, 1), bytes)
    await blobs.delete(part)
    const { named } = await restored()
    assert.equal(named.length, 3)
    assert.equal(named[0], `  ${manifestName(FIRST, 1)} is missing`)
    assert.match(
      named[1] ?? '',
      /day=2026-09-02\/manifest-0001\.json is another manifest: sequence unknown, sha256 \w{64}; the backup has sequence 2, sha256 \w{64}$/,
    )
    assert.equal(named[2], `  ${part} is missing`)

    await blobs.put(manifestName(FIRST, 2), bytes)
    await blobs.put(part, bytes)
    const again = (await restored()).named
    assert.equal(
      again[0],
      `  ${manifestName(FIRST, 2)} is newer than the last manifest of this day in the backup`,
    )
    assert.equal(again[2], `  ${part} has another size`)

    await server.kill9()
    const [outage, ...others] = (await restored()).named
    assert.match(outage ?? '', /^ {2}ASSETS_URL can not be read: /)
    assert.deepEqual(others, [])
  },
)
