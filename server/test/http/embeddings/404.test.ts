import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'

const one = 'key-for-one-model-only-0001'
const gateway = await startGateway({
  models: { 'plain-w16': { on: 'plain' }, 'secret-project-w16': { on: 'plain+key-other' } },
  projects: { search: { keys: [{ name: 'one', secret: one, models: ['plain-w16'] }] } },
  retired: { 'old-embed': { on: '2026-01-31', successor: 'plain-w16' }, 'gone-embed': { on: '2025-12-24' } },
})

test('the refusal of an unknown model names the nearest one', async () => {
  const answer = await gateway.ask({ model: 'plian-w16', input: 'a' })
  assertFault(answer, 'model_not_found', { param: 'model', words: /Did you mean 'plain-w16'\?/ })
})

test('a name that is like nothing gets no guess', async () => {
  const answer = await gateway.ask({ model: 'gpt-4o', input: 'a' })
  assertFault(answer, 'model_not_found', {
    words: /^Model 'gpt-4o' is not configured\. This key may use: /,
  })
})

test('models that a key may not use are not hinted at', async () => {
  const answer = await gateway.ask({ model: 'secret-projet-w16', input: 'a' }, { key: one })
  assertFault(answer, 'model_not_found', {
    words:
      /^Model 'secret-projet-w16' is not configured\. This key may use: plain-w16 \(GET \/v1\/models\)\.$/,
  })
})

test('a retired model names its day and its successor', async () => {
  assertFault(await gateway.ask({ model: 'old-embed', input: 'a' }), 'model_retired', {
    param: 'model',
    words: /2026-01-31.*successor is 'plain-w16'/,
  })
  assertFault(await gateway.ask({ model: 'gone-embed', input: 'a' }), 'model_retired', {
    words: /2025-12-24\.$/,
  })
})

test('a model retired by its maker is known without being configured', async () => {
  assertFault(await gateway.ask({ model: 'text-similarity-ada-001', input: 'a' }), 'model_retired', {
    words: /2024-01-04/,
  })
})

test('names that JavaScript knows are models like any other', async () => {
  for (const model of ['__proto__', 'constructor', 'toString']) {
    assertFault(await gateway.ask({ model, input: 'a' }), 'model_not_found')
  }
})
