import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'

const one = 'key-for-one-model-only-0001'
const gateway = await startGateway({
  models: { 'plain-w16': { on: 'plain' }, 'other-w16': { on: 'plain+key-other' } },
  projects: { search: { keys: [{ name: 'one', secret: one, models: ['plain-w16'] }] } },
  retired: { 'old-embed': { on: '2026-01-31', successor: 'plain-w16' } },
})

test('the refusal of an unknown model names the nearest one', async () => {
  assertFault(await gateway.get('/v1/models/plian-w16'), 'model_not_found', {
    param: 'model',
    words: /Did you mean 'plain-w16'/,
  })
})

test('a retired model names its successor', async () => {
  assertFault(await gateway.get('/v1/models/old-embed'), 'model_retired', {
    words: /successor is 'plain-w16'/,
  })
})

test('a model that the key may not use is refused as such', async () => {
  assertFault(await gateway.get('/v1/models/other-w16', { key: one }), 'model_not_allowed')
})

test('no model is named after the slash', async () =>
  assertFault(await gateway.get('/v1/models/'), 'unknown_path'))
