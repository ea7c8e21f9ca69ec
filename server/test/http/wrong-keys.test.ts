/** Many wrong keys from one address: what they cost, and what they cost others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'

const gateway = await startGateway({ models: { 'plain-w16': { on: 'plain' } } })
const question = { model: 'plain-w16', input: 'a' }

test('a guesser is throttled, on every path, and known keys from the same address are served', async () => {
  const statuses: number[] = []
  for (let guess = 0; guess < 60; guess += 1)
    statuses.push((await gateway.ask(question, { key: `guess-of-a-stranger-${guess}-000` })).status)
  assert.deepEqual(statuses.slice(0, 30), statuses.slice(0, 30).fill(401))
  assert.ok(statuses.includes(429))
  const refused = await gateway.ask(question, { key: 'another-guess-of-a-stranger' })
  assertFault(refused, 'too_many_wrong_keys', { words: /Correct the key/ })
  assert.notEqual(refused.headers.get('retry-after'), null)
  assertFault(await gateway.get('/v1/models', { key: 'a-guess-of-a-stranger-0000' }), 'too_many_wrong_keys')
  assert.equal((await gateway.ask(question, { key: gateway.key })).status, 200)
})

test('refusals of strangers are all counted, and few of them written', async () => {
  const before = await figures()
  await Promise.all(Array.from({ length: 400 }, () => gateway.ask(question, { key: undefined })))
  const after = await figures()
  assert.equal(after.counted - before.counted, 400)
  assert.ok(after.unlogged - before.unlogged > 200, `${after.unlogged - before.unlogged}`)
})

async function figures(): Promise<{ readonly counted: number; readonly unlogged: number }> {
  const metrics = await (await fetch(`${gateway.controlUrl}/metrics`)).text()
  const value = (pattern: RegExp): number => Number(pattern.exec(metrics)?.[1] ?? 0)
  return {
    counted: value(/^torana_requests_total\{[^}]*fault="missing_api_key"\} (\d+)$/m),
    unlogged: value(/^torana_refusals_unlogged_total (\d+)$/m),
  }
}
