import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { keyForm } from '#core/key.ts'
import { keyHasher, loadDemoKey, loadSecret } from './secret.ts'

const folder = mkdtempSync(join(tmpdir(), 'torana-secret-'))
after(() => rmSync(folder, { recursive: true }))

test('a secret is made once, kept, and readable by its owner alone', () => {
  const dataDir = join(folder, 'deep', 'data')
  const secret = loadSecret(undefined, dataDir)
  assert.match(secret, /^[0-9a-f]{64}$/)
  assert.equal(loadSecret(undefined, dataDir), secret)
  assert.equal(statSync(join(dataDir, 'secret')).mode & 0o777, 0o600)
  assert.equal(statSync(dataDir).mode & 0o777, 0o700)
})

test('a configured secret counts, and nothing is written', () => {
  const dataDir = join(folder, 'configured')
  assert.equal(loadSecret('configured', dataDir), 'configured')
  assert.throws(() => readdirSync(dataDir))
})

test('a demo key has our form and stays the same', () => {
  const key = loadDemoKey(folder)
  assert.equal(keyForm(key), 'torana')
  assert.equal(loadDemoKey(folder), key)
})

test('digests of keys depend on the secret, and tell nothing of the key', () => {
  const key = 'a-key-of-enough-characters'
  assert.equal(keyHasher('one')(key), keyHasher('one')(key))
  assert.notEqual(keyHasher('one')(key), keyHasher('two')(key))
  assert.notEqual(keyHasher('one')(key), keyHasher('one')(`${key} `))
  assert.doesNotMatch(keyHasher('one')(key), /key|enough/)
})
