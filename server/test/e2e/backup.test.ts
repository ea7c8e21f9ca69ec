/** `torana migrate`, `backup` and `restore` where no node runs. The whole drill is `npm run lab -- check/backup`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runTorana, temporaryFolder } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

test('a database is migrated, backed up and restored, and nothing is overwritten', async () => {
  const folder = temporaryFolder()
  const [from, to] = await Promise.all([testPostgres('nothing'), testPostgres('nothing')])
  const torana = async (args: string, url: string) => {
    const env = { DATABASE_URL: url, TORANA_SECRET: 'the secret of these two databases' }
    const { exit, stdout, stderr } = runTorana({ folder, env, args: args.split(' ') })
    return { code: await exit, stdout: stdout(), stderr: stderr() }
  }
  assert.match((await torana('migrate', from.url)).stdout, /^applied 0001-directory\.sql$/m)
  assert.equal((await torana('migrate', from.url)).stdout, 'The tables are up to date.\n')
  const made = await torana('backup torana.gz', from.url)
  assert.match(
    made.stdout,
    /^torana\.gz is written: \d+ tables, 4 rows, 0 files of the image store\.\nLedger: 0 entries, sha256 \w{64}\n$/,
  )
  const twice = await torana('backup torana.gz', from.url)
  assert.deepEqual([twice.code, /exists already/.test(twice.stderr)], [1, true])
  const restored = await torana('restore torana.gz --json', to.url)
  assert.equal(restored.code, 0, restored.stderr)
  assert.equal((JSON.parse(restored.stdout) as { ledger: { rows: number } }).ledger.rows, 0)
  const missing = await torana('restore nowhere.gz', to.url)
  assert.deepEqual([missing.code, /ENOENT.*nowhere\.gz/.test(missing.stderr)], [1, true])
  const nowhere = await torana('backup other.gz', from.url.replace(/\/torana_test_\w+/, '/nowhere'))
  assert.deepEqual([nowhere.code, /database "nowhere" does not exist/.test(nowhere.stderr)], [1, true])
})
