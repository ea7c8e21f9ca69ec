/** The effect of a configuration change on spaces, and what the cache may still return. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  configText,
  startGateway,
  type Asked,
  type GatewayOptions,
  type ModelSpec,
} from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'
import {
  ADMIN,
  ask,
  beginLoad,
  guarded,
  isRight,
  probe,
  probedGood,
  servedBy,
  spaceOfModel,
  statesOf,
  verdicts,
} from './guarded.ts'

const cached = { cache: { ttl: '1h' } }
const models: Record<string, ModelSpec> = {
  'cached-w32': guarded(['cached'], cached),
  'joining-w32': guarded(['old']),
  'off-w32': guarded(['off']),
  'replaced-w32': guarded(['replaced']),
  'removed-w32': guarded(['removed', 'staying']),
  'moved-w32': guarded(['moved']),
  'unprobed-w32': guarded(['unprobed']),
}
/** How a request may end that was on its way, or came before the first probe, or after it. */
const REFUSALS = new Set(['space_left', 'space_unprobed', 'space_quarantined'])
const options: GatewayOptions = { models, env: ADMIN }
const gateway = await startGateway(options)
const { provider } = gateway
/** Vectors made less than this before the last good probe are not trusted either: clocks of nodes differ. */
const SKEW_MS = 5000

function reload(changed: Record<string, ModelSpec>): void {
  Object.assign(models, changed)
  writeFileSync(gateway.configFile, configText(options, provider.url))
}

test('what was cached since the last good probe is dropped, what was cached before is still found', async () => {
  const model = 'cached-w32'
  const hit = async (text: string): Promise<readonly [string | null, boolean]> => {
    const answer = await ask(gateway, model, [text])
    assert.equal(answer.status, 200, answer.text)
    return [answer.headers.get('x-torana-cache'), isRight(answer, model, [text])]
  }
  assert.deepEqual(await hit('early'), ['hits=0, misses=1', true])
  await delay(SKEW_MS + 100)
  await probe(gateway, model)
  await provider.setMode('cached', { vectors: 'other-model' })
  assert.deepEqual(await hit('late'), ['hits=0, misses=1', false])
  assert.deepEqual(await hit('late'), ['hits=1, misses=0', false])
  await probe(gateway, model)
  assert.deepEqual(await hit('early'), ['hits=1, misses=0', true])
  const late = await ask(gateway, model, ['late'])
  assert.deepEqual([late.status, late.body.error?.code], [503, 'space_quarantined'])

  await provider.setMode('cached', {})
  await probe(gateway, model)
  assert.deepEqual(await hit('early'), ['hits=1, misses=0', true])
  assert.deepEqual(await hit('late'), ['hits=0, misses=1', true])
  assert.deepEqual(await hit('late'), ['hits=1, misses=0', true])
})

test('a deployment that joins with other vectors never serves, though it is to be tried first', async () => {
  const model = 'joining-w32'
  await eventually(async () => assert.notEqual((await spaceOfModel(gateway, model)).reference, null))
  await provider.setMode('new', { vectors: 'other-model' })
  const load = beginLoad(gateway, model)
  reload({ [model]: guarded(['new', 'old']) })
  await eventually(async () =>
    assert.deepEqual(await statesOf(gateway, model), { 'mode-new': 'quarantined', 'mode-old': 'trusted' }),
  )
  await load.answered(12)
  const ended = await load.stop()
  for (const { status, isWrong, deployment } of ended)
    assert.deepEqual([status, isWrong, deployment], [200, false, `${model}/mode-old`])
  // Its probe alone.
  assert.equal(provider.mode('new').served, 1)
})

test('a deployment that is replaced under its name is a new one, and the space is still the old one', async () => {
  const model = 'replaced-w32'
  await eventually(async () => assert.notEqual((await spaceOfModel(gateway, model)).reference, null))
  await provider.setMode('successor', { vectors: 'other-pooling' })
  const load = beginLoad(gateway, model)
  reload({
    [model]: guarded(['replaced'], { upstream: { baseUrl: `${provider.url}/mode-successor/v1` } }),
  })
  await eventually(async () =>
    assert.deepEqual(await statesOf(gateway, model), { 'mode-replaced': 'quarantined' }),
  )
  const ended = await load.stop()
  assert.deepEqual(
    ended.filter(({ status, isWrong, code }) => isWrong || (status !== 200 && !REFUSALS.has(code ?? ''))),
    [],
  )
  assert.equal((await ask(gateway, model, 'a text')).body.error?.code, 'space_quarantined')
  assert.equal(provider.mode('successor').served, 1)
})

/** A call that is on its way to a deployment while that is found to make other vectors. */
async function flyingBad(model: string, mode: string): Promise<{ readonly answer: Promise<Asked> }> {
  await eventually(async () => assert.equal((await statesOf(gateway, model))[`mode-${mode}`], 'trusted'))
  await probedGood(gateway, model)
  await provider.setMode(mode, { vectors: 'other-model', traits: 'slow-6000' })
  const answer = ask(gateway, model, ['on its way'])
  await eventually(async () => assert.equal(provider.mode(mode).inFlight, 1))
  await provider.setMode(mode, { vectors: 'other-model' })
  assert.equal((await verdicts(gateway, model))[`mode-${mode}`], 'quarantined')
  return { answer }
}

test('what a quarantined deployment made does not leave after it was removed either: another one answers', async () => {
  const model = 'removed-w32'
  const flying = await flyingBad(model, 'removed')
  reload({ [model]: guarded(['staying']) })
  await eventually(async () =>
    assert.deepEqual(await statesOf(gateway, model), { 'mode-staying': 'trusted' }),
  )
  assert.equal(provider.mode('removed').inFlight, 1, 'the reload was too late for this test')
  const answer = await flying.answer
  assert.ok(isRight(answer, model, ['on its way']), answer.text)
})

test('nor after its name leads to a sound one', async () => {
  const model = 'moved-w32'
  const flying = await flyingBad(model, 'moved')
  reload({ [model]: guarded(['moved'], { upstream: { baseUrl: `${provider.url}/mode-sound/v1` } }) })
  await eventually(async () => {
    assert.ok(provider.mode('sound').served > 0)
    assert.deepEqual(await statesOf(gateway, model), { 'mode-moved': 'trusted' })
  })
  assert.equal(provider.mode('moved').inFlight, 1, 'the reload was too late for this test')
  const { status, body, text } = await flying.answer
  assert.deepEqual([status, body.error?.code], [503, 'space_left'], text)
  assert.ok(isRight(await ask(gateway, model, ['on its way']), model, ['on its way']))
})

test('who was not compared yet, because it is away, is no drift: callers are asked to come back', async () => {
  const model = 'unprobed-w32'
  await eventually(async () => assert.notEqual((await spaceOfModel(gateway, model)).reference, null))
  await provider.setMode('away', { mode: '500' })
  reload({ [model]: guarded(['unprobed'], { upstream: { baseUrl: `${provider.url}/mode-away/v1` } }) })
  const answer = await eventually(async () => {
    const asked = await ask(gateway, model, 'a text')
    assert.equal(asked.status, 503)
    return asked
  })
  assert.deepEqual(
    [answer.body.error?.code, answer.headers.get('x-should-retry'), answer.headers.get('retry-after')],
    ['space_unprobed', 'true', '1'],
    answer.text,
  )
  assert.deepEqual(await statesOf(gateway, model), { 'mode-unprobed': 'held-back' })
  const metrics = await (await fetch(`${gateway.controlUrl}/metrics`)).text()
  assert.match(
    metrics,
    /torana_deployment_state\{deployment="unprobed-w32\/mode-unprobed",state="held-back"\} 1/,
  )
  await provider.setMode('away', {})
  assert.deepEqual(await verdicts(gateway, model), { 'mode-unprobed': 'good' })
  assert.ok(isRight(await ask(gateway, model, ['back']), model, ['back']))
})

test('a model whose guard is switched off serves again, and is quarantined again when it is switched on', async () => {
  const model = 'off-w32'
  await provider.setMode('off', { vectors: 'scaled' })
  assert.deepEqual(await verdicts(gateway, model), { 'mode-off': 'quarantined' })
  assert.equal((await ask(gateway, model, 'a text')).status, 503)
  reload({ [model]: guarded(['off'], { spaceGuard: false }) })
  await eventually(async () => assert.equal((await ask(gateway, model, 'a text')).status, 200))
  assert.equal(servedBy(await ask(gateway, model, 'a text')), `${model}/mode-off`)
  reload({ [model]: guarded(['off']) })
  await eventually(async () => assert.equal((await ask(gateway, model, 'a text')).status, 503))
})
