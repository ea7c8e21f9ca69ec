/** A space that is replaced by another one: its id, callers who pinned the old one, and the remains. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { eventually } from '#test/support/process.ts'
import {
  ADMIN,
  ADMIN_TOKEN,
  ask,
  cli,
  control,
  guarded,
  isRight,
  probe,
  servedBy,
  spaceOfModel,
  statesOf,
  type ProbeBody,
} from './guarded.ts'

const { gateway } = await startGatewayOnPostgres({
  models: {
    'api-w32': guarded(['api-one', 'api-two'], { cache: { ttl: '1h' } }),
    'cli-w32': guarded(['cli']),
    'nothing-w32': guarded(['nothing']),
  },
  env: ADMIN,
})
const { provider } = gateway

test('accepted by the API: the space has a new id everywhere, who still makes the old one is out, and no old vector is found', async () => {
  const model = 'api-w32'
  const [one, two] = ['mode-api-one', 'mode-api-two']
  await eventually(async () =>
    assert.deepEqual(await statesOf(gateway, model), { [one]: 'trusted', [two]: 'trusted' }),
  )
  const first = await ask(gateway, model, ['kept'])
  const before = first.headers.get('x-torana-space') ?? ''
  assert.equal((await spaceOfModel(gateway, model)).space, before)
  assert.equal((await ask(gateway, model, 'pinned', { headers: { 'x-torana-space': before } })).status, 200)

  await provider.setMode('api-one', { vectors: 'other-model' })
  await probe(gateway, model)
  const accepted = await control<{ space: string; generation: number }>(
    gateway,
    'POST',
    `/spaces/${model}/accept`,
    { deployment: `${model}/${one}` },
  )
  assert.notEqual(accepted.space, before)
  assert.equal(accepted.generation, 2)
  const answer = await ask(gateway, model, ['kept'])
  assert.deepEqual(
    [answer.status, answer.headers.get('x-torana-space'), servedBy(answer)],
    [200, accepted.space, `${model}/${one}`],
    answer.text,
  )
  assert.ok(!isRight(answer, model, ['kept']), 'a vector of the space that was given up')
  await eventually(async () =>
    assert.deepEqual(await statesOf(gateway, model), { [one]: 'trusted', [two]: 'quarantined' }),
  )
  const listed = await gateway.get(`/v1/models/${model}`)
  const { capabilities } = JSON.parse(listed.text) as { capabilities: { space: string } }
  assert.equal(capabilities.space, accepted.space)
  const pinned = await ask(gateway, model, 'pinned', { headers: { 'x-torana-space': before } })
  assert.deepEqual(
    [pinned.status, pinned.body.error?.code, pinned.headers.get('x-should-retry')],
    [412, 'space_mismatch', 'false'],
  )
  assert.ok(pinned.body.error.message.includes(accepted.space))

  await provider.setMode('api-two', { vectors: 'other-model' })
  assert.equal((await probe(gateway, model))[two]?.verdict, 'good')
  await provider.setMode('api-one', { mode: '500' })
  assert.equal(servedBy(await ask(gateway, model, 'over to two')), `${model}/${two}`)
})

test('accepted on the command line, and the series tells the whole story', async () => {
  const model = 'cli-w32'
  const { space: before } = await spaceOfModel(gateway, model)
  await provider.setMode('cli', { vectors: 'slightly' })
  await probe(gateway, model)
  await provider.setMode('cli', { vectors: 'unnormalised' })
  await probe(gateway, model)
  assert.equal((await ask(gateway, model, 'a')).status, 503)
  const done = await cli(gateway, 'accept', model, `${model}/mode-cli`)
  assert.equal(done.code, 0, done.stderr)
  const { space, generation } = await spaceOfModel(gateway, model)
  assert.notEqual(space, before)
  assert.equal(generation, 2)
  assert.ok(done.stderr.includes(space) && done.stdout.includes(space))
  assert.equal((await ask(gateway, model, 'a')).headers.get('x-torana-space'), space)

  const path = `/spaces/${model}/series`
  const { data } = await control<{ data: readonly ProbeBody[] }>(gateway, 'GET', path)
  assert.deepEqual(
    data.map((point) => [point.verdict, point.space]),
    [
      ['good', space],
      ['quarantined', before],
      ['warned', before],
      ['good', before],
    ],
  )
  const [, unnormalised, slightly, good] = data
  assert.ok((good?.least_cosine ?? 0) > 0.999999)
  assert.ok(Math.abs((slightly?.least_cosine ?? 0) - 0.995) < 1e-4)
  assert.ok((unnormalised?.norm_drift ?? 0) >= 1 && (unnormalised?.least_cosine ?? 0) > 0.9999)
})

test('there is nothing to accept from who is in the space, who is away, or who is not there', async () => {
  const model = 'nothing-w32'
  const accept = async (name: string): Promise<readonly [number, string]> => {
    const answer = await fetch(`${gateway.controlUrl}/api/v1/spaces/${model}/accept`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ deployment: `${model}/${name}` }),
    })
    return [answer.status, await answer.text()]
  }
  const [status, text] = await accept('mode-nothing')
  assert.equal(status, 409)
  assert.match(text, /nothing to accept/)
  await provider.setMode('nothing', { mode: '500' })
  const away = await cli(gateway, 'accept', model, `${model}/mode-nothing`)
  assert.deepEqual([away.code, /its probe failed/.test(away.stderr)], [1, true], away.stderr)
  const [unknown, words] = await accept('gone')
  assert.equal(unknown, 400)
  assert.match(words, /has no deployment/)
  assert.equal((await spaceOfModel(gateway, model)).generation, 1)
  const stranger = await fetch(`${gateway.controlUrl}/api/v1/spaces`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}-not` },
  })
  assert.equal(stranger.status, 401)
})
