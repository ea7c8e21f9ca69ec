import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chanceFrom } from './chance.ts'
import { drive } from './drive.ts'
import { KEYS } from './install.ts'
import { Moods } from './moods.ts'
import { nextRequest } from './requests.ts'

test('the same seed sends the same requests, with keys of the demo or wrong on purpose', () => {
  const first = chanceFrom(7)
  const second = chanceFrom(7)
  const secrets = new Set(KEYS.map(({ secret }) => secret))
  const paths = new Set<string>()
  for (let request = 0; request < 2000; request += 1) {
    const [one, two] = [nextRequest(first), nextRequest(second)]
    paths.add(one.path)
    assert.equal(one.secret, two.secret)
    assert.ok(secrets.has(one.secret) || one.secret.startsWith('wrong-'))
    if (typeof one.body === 'string') assert.equal(one.body, two.body)
  }
  assert.deepEqual([...paths].sort(), ['/v1/embeddings', '/v1/images/edits', '/v1/images/generations'])
})

test('no other machine than this one is ever driven', async () => {
  const options = { requestsPerSecond: 1, minutes: 1, seed: 1, signal: AbortSignal.abort() }
  for (const url of ['https://api.openai.com', 'http://127.0.0.1.example.com', 'http://10.0.0.1:8080'])
    await assert.rejects(drive({ ...options, url, onSecond: async () => {} }), /not this machine/)
})

test('an upstream changes its mood only when the clock says so, and each round ends as it began', async () => {
  const set: string[] = []
  const moods = new Moods({
    setMode: async (name, behaviour) => {
      set.push(`${name} ${behaviour?.mode ?? behaviour?.vectors ?? 'ok'}`)
      return {} as never
    },
  })
  for (let second = 0; second < 450; second += 1) await moods.at(second)
  assert.ok(set.includes('gpu-two 503') && set.includes('azure-us other-model'))
  const firstRound = set.length
  for (let second = 450; second < 455; second += 1) await moods.at(second)
  assert.deepEqual(set.slice(firstRound), ['azure-us ok'])
})
