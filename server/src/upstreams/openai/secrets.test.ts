import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readErrorBody } from './error-body.ts'
import { secretsOf } from './secrets.ts'

const upstream = {
  name: 'u',
  dialect: 'ai-sdk',
  apiKey: 'plain words as a key',
  headers: {
    'x-auth': 'Pa55!word.of.mine',
    'x-api-token': 's3cr3t',
    authorization: 'Custom hunter2!',
    'x-v': '1',
  },
  settings: {
    region: 'eu-central-1',
    secretAccessKey: 'not+like/a=key',
    googleAuthOptions: { credentials: { client_email: 'a@b.example', private_key: '-----BEGIN it' } },
  },
} as const

test('an upstream that repeats our credentials shows none of them: key, headers and settings', () => {
  const secrets = secretsOf(upstream)
  const own = [
    'plain words as a key',
    'Pa55!word.of.mine',
    's3cr3t',
    'hunter2!',
    'not+like/a=key',
    '-----BEGIN it',
  ]
  for (const secret of own)
    for (const body of [
      `you sent ${secret}.`,
      JSON.stringify({ error: { message: secret, code: 's3cr3t' } }),
    ]) {
      const { message, code } = readErrorBody(body, secrets)
      assert.ok(!message.includes(secret), message)
      assert.match(message, /\*\*\*/)
      assert.equal(code, undefined)
    }
})

test('what is no credential is left as it is', () => {
  const words = 'region eu-central-1 has no model 1 for a@b.example'
  assert.equal(readErrorBody(words, secretsOf(upstream)).message, words)
})

test('a credential at the place where a long message is cut leaves no part of itself', () => {
  const secrets = ['Pa55!word.of.mine']
  for (let before = 0; before < 40; before += 1) {
    const { message } = readErrorBody(`${'x'.repeat(before)} ${'Pa55!word.of.mine '.repeat(400)}`, secrets)
    assert.ok(!message.includes('Pa5'), message)
  }
})
