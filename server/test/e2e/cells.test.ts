/** Two cells behind the HAProxy of deploy/, which finds the cell of a key in the key itself. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { keyFrom } from '#core/keys/key.ts'
import { startGateway } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { freePort } from '#test/support/servers.ts'
import { tied } from '#test/support/system.ts'

const CONFIG = join(import.meta.dirname, '../../../deploy/load-balancers/haproxy-cells.cfg')
const keyOf = (cell: string | undefined, fill: number): string => keyFrom(new Uint8Array(32).fill(fill), cell)
const keys = { a: keyOf('a', 1), b: keyOf('b', 2), plain: keyOf(undefined, 3), gone: keyOf('c', 4) }
const models = { 'plain-w16': { on: 'plain' } }

const [a, b] = await Promise.all([
  startGateway({
    models,
    projects: {
      one: {
        keys: [
          { name: 'cell', secret: keys.a },
          { name: 'plain', secret: keys.plain },
        ],
      },
    },
  }),
  startGateway({ models, projects: { two: { keys: [{ name: 'cell', secret: keys.b }] } } }),
])
const address = `127.0.0.1:${await freePort()}`
const hostOf = (url: string): string => new URL(url).host
const haproxy = spawn(...tied(['haproxy', '-db', '-f', CONFIG]), {
  env: {
    ...process.env,
    LISTEN: address,
    DEFAULT_CELL: 'a',
    CELL_A: hostOf(a.url),
    CELL_B: hostOf(b.url),
  },
  stdio: ['ignore', 'ignore', 'inherit'],
})
after(async () => {
  haproxy.kill('SIGKILL')
  if (haproxy.exitCode === null) await once(haproxy, 'exit')
})
const url = `http://${address}`
await eventually(async () => assert.equal((await fetch(`${url}/readyz`)).status, 200))

for (const [what, key, status, asked] of [
  ['a key of cell a', keys.a, 200, [1, 0]],
  ['a key of cell b', keys.b, 200, [0, 1]],
  ['a key that names no cell', keys.plain, 200, [1, 0]],
  ['a key of a cell that is not there', keys.gone, 401, [0, 0]],
] as const)
  test(`${what} is answered by its cell and by no other`, async () => {
    const before = [a, b].map(({ provider }) => provider.counters().calls)
    for (const headers of [{ authorization: `Bearer ${key}` }, { 'x-api-key': key }, { 'api-key': key }]) {
      const answer = await fetch(`${url}/v1/embeddings`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'plain-w16', input: `from ${what}` }),
      })
      assert.equal(answer.status, status, await answer.text())
    }
    assert.deepEqual(
      [a, b].map(({ provider }, index) => provider.counters().calls - (before[index] as number)),
      asked.map((times) => times * 3),
    )
  })
