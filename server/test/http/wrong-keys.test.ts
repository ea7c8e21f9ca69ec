/** Many wrong keys from one address: their cost for the node, and for other clients. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFault } from '#test/support/errors.ts'
import { startGateway } from '#test/support/gateway.ts'

const gateway = await startGateway({ models: { 'plain-w16': { on: 'plain' } } })
const WRONG = 'a-guess-of-a-stranger-0000'
const question = { model: 'plain-w16', input: 'a' }

/** Sixty guesses at once: one after another, a slow machine would leave time for them. */
const atOnce = <Value>(guess: (number: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: 60 }, (_, number) => guess(number)))

test('a guesser is throttled, on every path, and known keys from the same address are served', async () => {
  const statuses = await atOnce(
    async (guess) => (await gateway.ask(question, { key: `guess-of-a-stranger-${guess}-000` })).status,
  )
  assert.ok(statuses.filter((status) => status === 401).length >= 30, statuses.join())
  assert.ok(statuses.includes(429))
  const refused = await gateway.ask(question, { key: 'another-guess-of-a-stranger' })
  assertFault(refused, 'too_many_wrong_keys', { words: /Correct the key/ })
  assert.notEqual(refused.headers.get('retry-after'), null)
  assertFault(await gateway.get('/v1/models', { key: WRONG }), 'too_many_wrong_keys')
  assert.equal((await gateway.ask(question, { key: gateway.key })).status, 200)
})

test('behind a trusted proxy the address of the client is throttled, and no forged one', async () => {
  const behind = await startGateway({
    models: { 'plain-w16': { on: 'plain' } },
    env: { TRUSTED_PROXIES: 'loopback, 10.0.0.0/8' },
  })
  const guess = async (forwarded: string): Promise<number> =>
    (await behind.ask(question, { key: WRONG, headers: { 'x-forwarded-for': forwarded } })).status
  await atOnce((time) => guess(`198.51.100.${time}, 192.0.2.1, 10.0.0.7`))
  assert.equal(await guess('192.0.2.1'), 429)
  assert.equal(await guess('192.0.2.2'), 401)
})

test('without a trusted proxy no client escapes by a header', async () => {
  const alone = await startGateway({ models: { 'plain-w16': { on: 'plain' } } })
  const statuses = await atOnce(async (time) => {
    const headers = { 'x-forwarded-for': `192.0.2.${time}` }
    return (await alone.ask(question, { key: WRONG, headers })).status
  })
  assert.ok(statuses.includes(429))
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
