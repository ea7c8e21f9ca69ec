/** Setups that can't work: each is reported in one line with what to do, and ends the start. */
import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { connectRedis } from '#test/support/cluster.ts'
import { eventually, runTorana, startTorana, temporaryFolder } from '#test/support/process.ts'
import { startRedisServer, testPostgres } from '#test/support/servers.ts'

const { url } = await testPostgres()
const SECRET = { TORANA_SECRET: 'the secret of the first node' }
const file = join(temporaryFolder(), 'a file')
writeFileSync(file, '')

/** Resolves with the report on standard error. */
async function refusal(env: Readonly<Record<string, string>>): Promise<{ text: string; folder: string }> {
  const folder = temporaryFolder()
  const torana = runTorana({ folder, env: { TORANA_BOOTSTRAP_KEY: 'a-key-for-this-test-000001', ...env } })
  assert.equal(await torana.exit, 1, torana.stderr() + torana.stdout())
  // The progress of a start is indented.
  const report = torana.stderr().replaceAll(/^ {2}.*\n/gm, '')
  assert.equal(report.split('\n').length, 2, torana.stderr())
  return { text: report, folder }
}

const changed = (change: (url: URL) => void): string => {
  const other = new URL(url)
  change(other)
  return other.href
}

for (const [what, env, words] of [
  [
    'a database that does not exist',
    { ...SECRET, DATABASE_URL: changed((one) => (one.pathname = '/nowhere')) },
    /^DATABASE_URL: PostgreSQL says: database "nowhere" does not exist\./,
  ],
  [
    'a role that does not exist',
    { ...SECRET, DATABASE_URL: changed((one) => (one.username = 'nobody-here')) },
    /^DATABASE_URL: PostgreSQL says: role "nobody-here" does not exist\./,
  ],
  ['a file as data folder', { TORANA_DATA_DIR: file }, /^torana: TORANA_DATA_DIR: .*a file is not a folder/],
  [
    'a data folder below a file',
    { TORANA_DATA_DIR: join(file, 'data') },
    /^torana: TORANA_DATA_DIR: .*data is not a folder, or is below something that is none \(ENOTDIR\)/,
  ],
  [
    'a data folder where nothing can be made',
    { TORANA_DATA_DIR: '/proc/nowhere/data' },
    /^torana: TORANA_DATA_DIR: \/proc\/nowhere cannot be made there \(ENOENT\)/,
  ],
  [
    'one Redis for limits and cache',
    { REDIS_URL: 'redis://127.0.0.1/0', CACHE_URL: 'redis://user:word@127.0.0.1:6379/1' },
    /^CACHE_URL: must not be the server of REDIS_URL/,
  ],
] as const) {
  test(`${what} is reported in one line`, async () => {
    const { text, folder } = await refusal(env)
    assert.match(text, words)
    const data = join(folder, '.torana', 'nodes')
    assert.deepEqual(namesIn(data), [])
  })
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

test('a node with another secret than the first one is refused, and one that is changing it is let in', async () => {
  const folder = temporaryFolder()
  const start = (env: Readonly<Record<string, string>>) =>
    startTorana({
      folder,
      env: { DATABASE_URL: url, TORANA_BOOTSTRAP_KEY: 'a-key-for-this-test-000001', ...env },
    })
  const first = await start(SECRET)
  const other = { DATABASE_URL: url, TORANA_SECRET: 'another secret, of another node' }
  const { text } = await refusal(other)
  assert.match(text, /^TORANA_SECRET: this is not the secret that the nodes of this database use/)
  const changing = await start({ ...other, TORANA_SECRET_PREVIOUS: SECRET.TORANA_SECRET })
  for (const node of [first, changing]) {
    node.signal('SIGINT')
    assert.equal(await node.ended(), 0)
  }
})

test('a misspelt variable, and a Redis for limits that evicts, are warned of', async () => {
  const redis = await startRedisServer()
  await (await connectRedis(redis.url)).sendCommand(['CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru'])
  const torana = await startTorana({
    folder: temporaryFolder(),
    env: { REDIS_URL: redis.url, TORANA_CONFG: 'x', TORANA_BOOTSTRAP_KEY: 'a-key-for-this-test-000001' },
  })
  await eventually(async () => {
    assert.match(torana.stdout(), /"policy":"allkeys-lru".*may evict rate limits/)
    assert.match(torana.stdout(), /TORANA_CONFG: Torana has no such variable.*Did you mean TORANA_CONFIG\?/)
  })
  torana.signal('SIGINT')
  assert.equal(await torana.ended(), 0)
})
