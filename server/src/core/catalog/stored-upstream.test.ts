import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLAIN_HEADERS, PROVIDER_SETTINGS, settingsOf, storedUpstreamProblems } from './stored-upstream.ts'

const pathsIn = (entry: Readonly<Record<string, unknown>>) =>
  storedUpstreamProblems(entry).map(({ path }) => path.join('.'))

for (const [provider, settings] of Object.entries(PROVIDER_SETTINGS))
  for (const [name, where] of Object.entries(settings))
    test(`settings.${name} of ${provider} is taken ${where === 'store' ? 'by the store' : 'in torana.yaml alone'}`, () => {
      assert.ok(settingsOf(provider).includes(name))
      assert.equal(settingsOf(provider, 'store').includes(name), where === 'store')
      const refused = [`settings.${name}`]
      assert.deepEqual(pathsIn({ provider, settings: { [name]: 'text' } }), where === 'store' ? [] : refused)
      assert.deepEqual(pathsIn({ provider, settings: { [name]: { credentials: 'nested' } } }), refused)
    })

test('a setting that no package takes, or of another provider, is refused', () => {
  for (const entry of [
    { provider: 'alibaba', settings: { embeddingBaseURL: 'http://127.0.0.1' } },
    { provider: 'google-vertex', settings: { keyFile: '/proc/self/environ' } },
    { provider: 'google-vertex', settings: { keyFilename: '/proc/self/environ' } },
    { provider: 'google-vertex', settings: { clientOptions: {} } },
    { provider: 'google-vertex', settings: { region: 'eu-central-1' } },
    { provider: 'constructor', settings: { name: 'x' } },
    { dialect: 'ai-sdk', settings: { region: 'eu-central-1' } },
  ])
    assert.deepEqual(pathsIn(entry), [`settings.${Object.keys(entry.settings)[0] ?? ''}`])
})

test('a header is taken only when its name is one of those that hold no secret, in any case of letters', () => {
  for (const name of PLAIN_HEADERS)
    assert.deepEqual(pathsIn({ headers: { [name]: 'x', [name.toUpperCase()]: 'x' } }), [])
  for (const name of ['authorization', 'x-auth', 'x-goog-iam-auth', 'ocp-apim-sub', 'x-anything'])
    assert.deepEqual(pathsIn({ headers: { [name]: 'x' } }), [`headers.${name}`])
})

test('tokens of the account of the machine go to no address of the store', () => {
  assert.deepEqual(pathsIn({ provider: 'google-vertex', baseUrl: 'https://elsewhere.test' }), ['baseUrl'])
  assert.deepEqual(pathsIn({ provider: 'cohere', baseUrl: 'https://proxy.test' }), [])
})

test('keys are no part of an entry', () => {
  assert.deepEqual(pathsIn({ apiKey: 'sk-1', tls: { cert: 'c', key: 'k' } }), ['apiKey', 'tls.key'])
})
