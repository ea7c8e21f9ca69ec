/** Two nodes on one PostgreSQL: the findings of one count on both, and after a restart. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { SHORT_TEXT } from '#core/embedding/probe-texts.ts'
import { openPostgres } from '#stores/postgres/database.ts'
import { startNodeProcess, type NodeProcess } from '#test/support/cluster.ts'
import type { GatewayOptions } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'
import { tokensOf } from '../../../../lab/fake-provider/vectors.ts'
import {
  ADMIN,
  ask,
  control,
  guarded,
  isRight,
  servedBy,
  spaceOfModel,
  statesOf,
  verdicts,
} from './guarded.ts'

const provider = await startFakeProvider()
const { url } = await testPostgres()
const database = openPostgres(url, { poolSize: 2 })
after(() => Promise.all([database.close(), provider.close()]))
const price = { usdPerMillionTokens: 1 }
const options: GatewayOptions = {
  models: {
    'shared-w32': guarded(['a', 'b'], { price }),
    'accepted-w32': guarded(['accepted'], { price }),
    'large-w32': guarded(['large'], { price, space: 'makers' }),
    'small-w32': guarded(['small'], { price, space: 'makers' }),
  },
}
const env = { ...ADMIN, DATABASE_URL: url }
const start = (folder?: string): Promise<NodeProcess> =>
  startNodeProcess(options, provider.url, { env, ...(folder !== undefined && { folder }) })
const nodes = await Promise.all([start(), start()])
const [one, two] = nodes
const model = 'shared-w32'

async function assertStates(node: NodeProcess, a: string, b: string): Promise<void> {
  assert.deepEqual(await statesOf(node, model), { 'mode-a': a, 'mode-b': b })
}

test('both nodes judge by one reference', async () => {
  for (const node of nodes) await eventually(() => assertStates(node, 'trusted', 'trusted'))
  const references = await Promise.all(nodes.map(async (node) => (await spaceOfModel(node, model)).reference))
  assert.notEqual(references[0], null)
  assert.deepEqual(references[0], references[1])
})

test('what one node finds, both obey', async () => {
  await provider.setMode('a', { vectors: 'other-model' })
  assert.equal((await verdicts(one, model))['mode-a'], 'quarantined')
  await eventually(() => assertStates(two, 'quarantined', 'trusted'))
  for (const node of nodes)
    for (let count = 0; count < 10; count += 1) {
      const answer = await ask(node, model, [`text ${count}`])
      assert.equal(servedBy(answer), `${model}/mode-b`)
      assert.ok(isRight(answer, model, [`text ${count}`]))
    }
})

test('it returns on both when one finds it recovered', async () => {
  await provider.setMode('a', {})
  assert.equal((await verdicts(two, model))['mode-a'], 'good')
  await eventually(() => assertStates(one, 'trusted', 'trusted'))
  await eventually(async () => assert.equal(servedBy(await ask(one, model, 'back')), `${model}/mode-a`))
})

test('a space that is accepted on one node has its new id on both', async () => {
  const id = 'accepted-w32'
  await provider.setMode('accepted', { vectors: 'other-model' })
  await verdicts(one, id)
  const path = `/spaces/${id}/accept`
  const { space } = await control<{ space: string }>(two, 'POST', path, {
    deployment: `${id}/mode-accepted`,
  })
  for (const node of nodes)
    await eventually(async () => {
      const answer = await ask(node, id, 'a text')
      assert.deepEqual([answer.status, answer.headers.get('x-torana-space')], [200, space], answer.text)
    })
})

test('spaces that two nodes accept for two models of a declared space at once have one new name on both', async () => {
  const models = ['large', 'small']
  const before = (await spaceOfModel(one, 'large-w32')).space
  for (const name of models) await provider.setMode(name, { vectors: 'other-model' })
  for (const name of models) await verdicts(one, `${name}-w32`)
  await Promise.all(
    models.map((name, index) =>
      control(nodes[index] as NodeProcess, 'POST', `/spaces/${name}-w32/accept`, {
        deployment: `${name}-w32/mode-${name}`,
      }),
    ),
  )
  await eventually(async () => {
    const named: (string | null)[] = []
    for (const node of nodes)
      for (const name of models) {
        const answer = await ask(node, `${name}-w32`, 'a text')
        assert.equal(answer.status, 200, answer.text)
        named.push(answer.headers.get('x-torana-space'))
      }
    const [space] = named
    assert.match(space ?? '', /^makers@32:/)
    assert.deepEqual(new Set(named).size, 1)
    assert.notEqual(space, before)
  })
})

test('probes are in the ledger, under project system, with what they cost', async () => {
  const isProbe = ({ inputs, tokens }: { readonly inputs: number; readonly tokens: number }): boolean =>
    inputs === 8 || tokens === tokensOf(SHORT_TEXT)
  await eventually(async () => {
    const probes = provider.entries().filter((entry) => entry.served && isProbe(entry))
    assert.ok(probes.length >= 4)
    const rows = await database.query<{ call_id: string; amount_nano: string; key_id: string }>(
      `SELECT call_id, amount_nano, key_id FROM usage_events WHERE kind = 'post' AND project = 'system'`,
    )
    assert.deepEqual(
      rows.map((row) => row.call_id).toSorted(),
      probes.map(({ callId }) => callId ?? '').toSorted(),
    )
    for (const { amount_nano: amount, key_id: key } of rows)
      assert.deepEqual([Number(amount) > 0, key], [true, 'system'])
  })
})

test('a restart of all nodes keeps the quarantine, from the first request on', async () => {
  await provider.setMode('a', { vectors: 'other-model' })
  assert.equal((await verdicts(one, model))['mode-a'], 'quarantined')
  const { served } = provider.mode('a')
  // All stop: nothing but the store knows.
  for (const { child } of nodes) child.kill('SIGTERM')
  assert.deepEqual(await Promise.all(nodes.map(({ exit }) => exit)), [0, 0])
  const again = await Promise.all(nodes.map(({ folder }) => start(folder)))
  for (const node of again) {
    const answer = await ask(node, model, ['the first one after the restart'])
    assert.equal(servedBy(answer), `${model}/mode-b`)
    await assertStates(node, 'quarantined', 'trusted')
  }
  // A quarantined deployment is probed every minute, the others every quarter of an hour.
  assert.ok(provider.mode('a').served <= served + 2)
})
