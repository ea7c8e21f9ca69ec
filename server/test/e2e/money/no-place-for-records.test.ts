/** PostgreSQL unreachable and the spool gone at the same time: nothing is bought that could not be recorded, and nothing known is lost. */
import assert from 'node:assert/strict'
import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openPostgres } from '#stores/postgres/database.ts'
import { askAt, doorTo, startNodeProcess } from '#test/support/cluster.ts'
import { GATEWAY_KEY } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'

const price = { usdPerMillionTokens: 1 }
const MODELS = { 'plain-w16': { on: 'plain', price }, 'slow-w16': { on: 'slow-2000', price } }

for (const [title, backFirst] of [
  ['PostgreSQL comes back first', 'store'],
  ['the folder comes back first', 'folder'],
] as const)
  test(`${title}: no call is sent meanwhile, /readyz says why, and what was bought before is recorded exactly`, async () => {
    const [provider, { url }] = await Promise.all([startFakeProvider(), testPostgres()])
    const database = openPostgres(url, { poolSize: 1 })
    after(() => Promise.all([provider.close(), database.close()]))
    const door = await doorTo(Number(new URL(url).port))
    await door.open()
    const through = new URL(url)
    through.port = String(door.port)
    const node = await startNodeProcess({ models: MODELS }, provider.url, {
      env: { DATABASE_URL: through.href },
    })
    const ask = (model: string) => askAt(node.url, { model, input: 'a text' }, { key: GATEWAY_KEY })
    const readyz = async (): Promise<[number, string]> => {
      const answer = await fetch(`${node.url}/readyz`)
      return [answer.status, await answer.text()]
    }
    assert.equal((await ask('plain-w16')).status, 200)
    const nodes = join(node.folder, 'data/nodes')
    const id = readdirSync(nodes).find((name) => !name.includes('.')) ?? ''
    const folder = join(nodes, id)

    const slow = ask('slow-w16')
    await eventually(async () => assert.equal(provider.counters().calls, 2))
    door.shut()
    renameSync(folder, `${folder}.away`)
    const lost = await slow
    assert.deepEqual([lost.status, lost.body.error?.code], [503, 'ledger_unavailable'])
    await eventually(async () => assert.equal((await readyz())[0], 503))
    assert.match((await readyz())[1], /cannot be written/)

    const { calls } = provider.counters()
    for (let times = 0; times < 20; times += 1) {
      const { status, body } = await ask('plain-w16')
      assert.deepEqual([status, body.error?.code], [503, 'ledger_unavailable'])
    }
    // Longer than the node waits between two looks at its disk.
    await new Promise((resolve) => setTimeout(resolve, 2500))
    assert.equal((await ask('plain-w16')).status, 503)
    assert.deepEqual([provider.counters().calls, (await readyz())[0]], [calls, 503])

    for (const back of backFirst === 'store' ? ['store', 'folder'] : ['folder', 'store']) {
      if (back === 'store') await door.open()
      else renameSync(`${folder}.away`, folder)
      if (back === 'folder') await eventually(async () => assert.deepEqual(await readyz(), [200, 'ok\n']))
    }
    const rows = await eventually(async () => {
      const found = await database.query<{ kind: string; model: string; tokens: bigint; amount: bigint }>(
        'SELECT kind, model, tokens, amount_nano AS amount FROM usage_events ORDER BY request_id',
      )
      assert.equal(found.length, provider.counters().served)
      return found
    })
    assert.ok(
      rows.every(({ kind, tokens, amount }) => kind === 'post' && amount === 1000n * tokens && tokens > 0n),
    )
    assert.ok(rows.some(({ model }) => model === 'slow-w16'))
    assert.equal((await ask('plain-w16')).status, 200)
    node.child.kill('SIGTERM')
    assert.equal(await node.exit, 0)
  })
