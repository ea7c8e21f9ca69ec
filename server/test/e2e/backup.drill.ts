/**
 * The drill: back up, lose, restore, go on. From the built-in database to PostgreSQL, with records that waited on a disk.
 */
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { Client } from 'pg'
import { eventually, runTorana, startTorana, temporaryFolder } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'

interface Backup {
  readonly file: string
  readonly pictures: number
  readonly ledger: { readonly rows: number; readonly sha256: string }
}

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return String(port)
}

test('keys, ledger and pictures grow from the folder to PostgreSQL, and a spool finds its restored ledger', async (t) => {
  const folder = temporaryFolder()
  const inside = { DATABASE_URL: '', CONTROL_PORT: await freePort() }
  const torana = async (args: string, env: Readonly<Record<string, string>>) => {
    const { exit, stdout, stderr } = runTorana({ folder, env, args: args.split(' ') })
    assert.equal(await exit, 0, stderr())
    // The commands that the page on backups shows.
    if (/^(?:backup|restore) \S+(?: --pictures)?$/.test(args))
      t.diagnostic(`torana ${args}\n${stderr()}${stdout()}`)
    return stdout()
  }
  const json = async <Value>(args: string, env: Readonly<Record<string, string>>) =>
    JSON.parse(await torana(`${args} --json`, env)) as Value
  const embed = async (url: string, key: string) => {
    const answer = await fetch(`${url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-embed', input: 'cat' }),
    })
    assert.equal(answer.status, 200, await answer.text())
  }

  const first = await startTorana({ folder, env: inside })
  const key = (await torana('keys create search/ci', inside)).trim()
  await embed(first.url, key)
  await torana(`image fog --size 256x256 --url ${first.url} --key ${key} --out fog.png`, inside)
  await torana('backup torana.gz --pictures', inside)
  const running = await json<Backup>('backup running.gz --pictures', inside)
  assert.ok(running.pictures > 0 && running.ledger.rows > 0)
  assert.equal(statSync(join(folder, 'running.gz')).mode & 0o777, 0o600)
  assert.match(await torana('audit', inside), /backup\.make/)
  first.signal('SIGINT')
  assert.equal(await first.ended(), 0)
  const stopped = await json<Backup>('backup stopped.gz --pictures', inside)

  const secret = readFileSync(join(folder, '.torana', 'secret'), 'utf8').trim()
  const { url } = await testPostgres('nothing')
  const grown = {
    ...inside,
    DATABASE_URL: url,
    TORANA_SECRET: secret,
    ASSETS_URL: 'file:./pictures',
  }
  const restored = await json<Backup>('restore stopped.gz', grown)
  assert.deepEqual(restored.ledger, stopped.ledger)
  const second = await startTorana({ folder, env: grown })
  await embed(second.url, key)
  const [job] = await json<readonly { pictures: readonly { asset: string }[] }[]>('jobs', grown)
  assert.equal(job?.pictures.length, 1)
  const token = readFileSync(join(folder, '.torana', 'admin.token'), 'utf8').trim()
  const picture = await fetch(`${second.controlUrl}/api/v1/assets/${job?.pictures[0]?.asset}/content`, {
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(picture.status, 200, 'the picture came along')

  // PostgreSQL is lost after this backup. Records of requests served since then wait on the disk of a node that is lost,
  // too.
  await eventually(async () => assert.match(await torana('doctor', grown), /ok +spool/))
  await torana('backup grown.gz', grown)
  await refuseConnections(url)
  await embed(second.url, key)
  process.kill(second.pid, 'SIGKILL')
  await second.ended()
  const again = { ...grown, DATABASE_URL: (await testPostgres('nothing')).url }
  await torana('restore grown.gz', again)
  const third = await startTorana({ folder, env: again })
  await eventually(async () => {
    const usage = await json<{ data: readonly { group: string; total: { posts: number } }[] }>('usage', again)
    const posts = usage.data.find(({ group }) => group === 'search')?.total.posts
    assert.equal(posts, 4, 'three vectors and a picture')
  })
  assert.match(await torana('doctor --hours all', again), /ok +ledger/)
  third.signal('SIGINT')
  assert.equal(await third.ended(), 0)
})

/** As if the server were gone, for this database alone. */
async function refuseConnections(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  const client = new Client({ connectionString: Object.assign(new URL(url), { pathname: '/postgres' }).href })
  await client.connect()
  await client.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`)
  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, [name])
  await client.end()
}
