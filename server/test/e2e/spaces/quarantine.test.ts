/** The answers for callers when no deployment is left in the space, the outcome of calls in progress, and the way back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startGateway, type Asked } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import {
  ADMIN,
  ask,
  cli,
  guarded,
  isRight,
  probe,
  probedGood,
  servedBy,
  statesOf,
  verdicts,
} from './guarded.ts'

const gateway = await startGateway({
  models: {
    'alone-w32': guarded(['alone']),
    'three-w32': guarded(['first', 'second', 'third']),
    'flying-w32': guarded(['flying']),
    'joined-w32': guarded(['joined', 'spare'], { cache: { ttl: '1h' } }),
    'mixed-w32': guarded(['mixed', 'sound'], { cache: { ttl: '1h' } }),
    'lasting-w32': guarded(['lasting']),
    'kept-w32': guarded(['kept'], { cache: { ttl: '1h' } }),
  },
  env: ADMIN,
})
const { provider } = gateway

function assertQuarantined(answer: Asked): void {
  const { status, headers, body } = answer
  assert.deepEqual(
    [status, body.error?.code, body.error?.type, headers.get('x-should-retry')],
    [503, 'space_quarantined', 'server_error', 'false'],
    answer.text,
  )
}

/** Made, and not handed out; asked again, it may go elsewhere. */
function assertLeft(answer: Asked): void {
  const { status, headers, body } = answer
  assert.deepEqual(
    [status, body.error?.code, body.error?.type, headers.get('x-should-retry')],
    [503, 'space_left', 'server_error', 'true'],
    answer.text,
  )
}

test('with no deployment left in its space a model answers 503 space_quarantined, and returns by itself', async () => {
  const model = 'alone-w32'
  assert.ok(isRight(await ask(gateway, model, ['before']), model, ['before']))
  await provider.setMode('alone', { vectors: 'other-model' })
  const probed = await cli(gateway, 'probe', model)
  assert.equal(probed.code, 1, probed.stderr)
  assert.match(probed.stdout, /alone-w32\/mode-alone +quarantined .*another space/)
  const { served } = provider.mode('alone')
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => ask(gateway, model, `${index}`)))
  answers.forEach(assertQuarantined)
  assert.equal(provider.mode('alone').served, served, 'nobody pays for what may not leave')
  const listed = await cli(gateway)
  assert.match(listed.stdout, /alone-w32\/mode-alone +quarantined/)

  await provider.setMode('alone', {})
  assert.deepEqual(await verdicts(gateway, model), { 'mode-alone': 'good' })
  assert.ok(isRight(await ask(gateway, model, ['after']), model, ['after']))
})

test('who is away when it is probed keeps its quarantine', async () => {
  const model = 'lasting-w32'
  await provider.setMode('lasting', { vectors: 'scaled' })
  await probe(gateway, model)
  await provider.setMode('lasting', { mode: '500' })
  assert.deepEqual(await verdicts(gateway, model), { 'mode-lasting': 'failed' })
  await provider.setMode('lasting', { mode: 'garbage' })
  assert.deepEqual(await verdicts(gateway, model), { 'mode-lasting': 'failed' })
  assertQuarantined(await ask(gateway, model, 'a text'))
})

test('failover goes only to deployments in the space, also when the only other one is in none', async () => {
  const model = 'three-w32'
  await provider.setMode('second', { vectors: 'other-pooling' })
  assert.equal((await verdicts(gateway, model))['mode-second'], 'quarantined')
  await provider.setMode('first', { mode: '500' })
  const over = await ask(gateway, model, ['failed over'])
  assert.equal(servedBy(over), `${model}/mode-third`)
  assert.ok(isRight(over, model, ['failed over']))

  const { served } = provider.mode('second')
  await provider.setMode('third', { mode: '500' })
  const failed = await Promise.all(Array.from({ length: 10 }, (_, index) => ask(gateway, model, `${index}`)))
  for (const { status } of failed) assert.ok(status >= 500, `${status}`)
  assert.equal(provider.mode('second').served, served)
})

test('a call that was under way when its deployment was found outside does not leave', async () => {
  const model = 'flying-w32'
  await probedGood(gateway, model)
  await provider.setMode('flying', { vectors: 'other-model', traits: 'slow-2000' })
  const flying = ask(gateway, model, 'on its way')
  await eventually(async () => assert.equal(provider.mode('flying').inFlight, 1))
  await provider.setMode('flying', { vectors: 'other-model' })
  assert.deepEqual(await verdicts(gateway, model), { 'mode-flying': 'quarantined' })
  assertLeft(await flying)
  assertQuarantined(await ask(gateway, model, 'asked again'))
})

test('nor does it reach another caller who waits for the same text, nor the cache', async () => {
  const model = 'joined-w32'
  await eventually(async () =>
    assert.deepEqual(await statesOf(gateway, model), { 'mode-joined': 'trusted', 'mode-spare': 'trusted' }),
  )
  await probedGood(gateway, model)
  await provider.setMode('joined', { vectors: 'other-model', traits: 'slow-2000' })
  const text = 'wanted by two'
  const fetching = ask(gateway, model, [text])
  await eventually(async () => assert.equal(provider.mode('joined').inFlight, 1))
  const joining = Array.from({ length: 3 }, () => ask(gateway, model, [text]))
  // Long enough to have joined; a later caller is served by another deployment.
  await delay(300)
  await provider.setMode('joined', { vectors: 'other-model' })
  assert.equal((await verdicts(gateway, model))['mode-joined'], 'quarantined')
  for (const answer of await Promise.all([fetching, ...joining]))
    if (answer.status === 200) assert.ok(isRight(answer, model, [text]), servedBy(answer))
    else assertLeft(answer)
  assert.ok(isRight(await ask(gateway, model, [text]), model, [text]))
})

test('nor does a cached vector that was found to be bad while the rest of its request was on the way', async () => {
  const model = 'mixed-w32'
  const [kept, other] = ['kept when nobody knew', 'made meanwhile']
  await eventually(async () =>
    assert.deepEqual(await statesOf(gateway, model), { 'mode-mixed': 'trusted', 'mode-sound': 'trusted' }),
  )
  await probedGood(gateway, model)
  await provider.setMode('mixed', { vectors: 'other-model' })
  assert.ok(!isRight(await ask(gateway, model, [kept]), model, [kept]))
  await provider.setMode('mixed', { mode: '500' })
  await provider.setMode('sound', { traits: 'slow-2000' })
  const mixing = ask(gateway, model, [kept, other])
  await eventually(async () => assert.ok(provider.mode('sound').inFlight > 0))
  await provider.setMode('mixed', { vectors: 'other-model' })
  await provider.setMode('sound', {})
  assert.equal((await verdicts(gateway, model))['mode-mixed'], 'quarantined')
  const answer = await mixing
  if (answer.status === 200) assert.ok(isRight(answer, model, [kept, other]))
  else assertLeft(answer)
  assert.ok(isRight(await ask(gateway, model, [kept, other]), model, [kept, other]))
})

test('what was cached before the last good probe is served while no deployment may make vectors, and nothing later', async () => {
  const model = 'kept-w32'
  const [early, late, wrong] = ['before the good probe', 'after it, and right', 'after the change']
  assert.ok(isRight(await ask(gateway, model, [early]), model, [early]))
  // Clocks of nodes differ: vectors of the last five seconds before a probe count as made after it.
  await delay(5100)
  assert.deepEqual(await verdicts(gateway, model), { 'mode-kept': 'good' })
  assert.ok(isRight(await ask(gateway, model, [late]), model, [late]))
  await provider.setMode('kept', { vectors: 'other-model' })
  assert.ok(!isRight(await ask(gateway, model, [wrong]), model, [wrong]), 'nobody knows yet')
  assert.deepEqual(await verdicts(gateway, model), { 'mode-kept': 'quarantined' })

  const { served } = provider.mode('kept')
  const kept = await ask(gateway, model, [early])
  assert.ok(isRight(kept, model, [early]), kept.text)
  assert.deepEqual(
    ['x-torana-deployment', 'x-torana-cache', 'x-torana-attempts'].map((name) => kept.headers.get(name)),
    ['cache', 'hits=1, misses=0', '0'],
  )
  const space = kept.headers.get('x-torana-space') ?? ''
  assert.ok(
    isRight(await ask(gateway, model, early, { headers: { 'x-torana-space': space } }), model, [early]),
  )
  for (const texts of [[late], [wrong], [early, late], [early, wrong], [early, 'never asked before']])
    assertQuarantined(await ask(gateway, model, texts))
  assert.equal(provider.mode('kept').served, served)

  // The same after it is back: the right vectors of that time can't be distinguished from the wrong ones.
  await provider.setMode('kept', {})
  assert.deepEqual(await verdicts(gateway, model), { 'mode-kept': 'good' })
  for (const text of [late, wrong]) {
    const answer = await ask(gateway, model, [text])
    assert.ok(isRight(answer, model, [text]))
    assert.equal(answer.headers.get('x-torana-cache'), 'hits=0, misses=1')
  }
})
