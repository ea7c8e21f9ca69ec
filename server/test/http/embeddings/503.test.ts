import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'

const scenarios = ['status-401', 'status-402', 'status-403', 'quota']
const gateway = await startGateway({
  models: {
    ...Object.fromEntries(scenarios.map((scenario) => [`${scenario}-w16`, { on: scenario }])),
    'relieved-w16': { on: ['status-401', 'plain'] },
  },
})

for (const scenario of scenarios) {
  test(`${scenario} of an upstream is never the caller’s 401: their key is fine, and an operator has to act`, async () => {
    const answer = await gateway.ask({ model: `${scenario}-w16`, input: 'a' })
    assertFault(answer, 'upstream_rejected_us', { words: /Your key is fine/ })
    assert.doesNotMatch(answer.text, /exceeded your current quota|The scenario answers/)
  })
}

test('another deployment with another credential is tried', async () => {
  assert.equal((await gateway.ask({ model: 'relieved-w16', input: 'a' })).status, 200)
})
