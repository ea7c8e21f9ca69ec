import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { keyForm } from '#core/keys/key.ts'
import {
  ADMIN_TOKEN_FILE,
  adminTokens,
  keyHasher,
  loadAdminToken,
  loadDemoKey,
  loadSecret,
  peppersOf,
  sealingKeysOf,
  snapshotKeysOf,
  UnsafeSecret,
} from './secret.ts'

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

test('an admin token is made once, and readable by its owner alone', () => {
  const token = loadAdminToken(folder)
  assert.match(token, /^[0-9a-f]{64}$/)
  assert.equal(loadAdminToken(folder), token)
  assert.equal(statSync(join(folder, ADMIN_TOKEN_FILE)).mode & 0o777, 0o600)
})

test('a secret that others may read or write becomes its owner’s alone', () => {
  for (const mode of [0o644, 0o666, 0o640, 0o602]) {
    const dataDir = mkdtempSync(join(folder, 'open-'))
    const file = join(dataDir, 'secret')
    writeFileSync(file, 'a secret of long ago\n')
    chmodSync(file, mode)
    assert.equal(loadSecret(undefined, dataDir), 'a secret of long ago')
    assert.equal(statSync(file).mode & 0o777, 0o600)
  }
})

test('a secret, token or key of another user is refused', (context) => {
  if (process.getuid?.() !== 0) return context.skip('only root can give a file to another user')
  for (const [name, load] of [
    ['secret', (dataDir: string) => loadSecret(undefined, dataDir)],
    [ADMIN_TOKEN_FILE, loadAdminToken],
    ['demo.key', loadDemoKey],
  ] as const) {
    const dataDir = mkdtempSync(join(folder, 'foreign-'))
    const file = join(dataDir, name)
    writeFileSync(file, 'chosen by somebody else\n', { mode: 0o600 })
    chownSync(file, 12_345, 12_345)
    assert.throws(() => load(dataDir), { constructor: UnsafeSecret, message: /another user \(12345\)/ })
    // Nor through a link of ours.
    const other = mkdtempSync(join(folder, 'linked-'))
    symlinkSync(file, join(other, name))
    assert.throws(() => load(other), UnsafeSecret)
  }
})

test('an empty file is no secret', () => {
  const dataDir = mkdtempSync(join(folder, 'empty-'))
  writeFileSync(join(dataDir, 'secret'), '\n')
  assert.throws(() => loadSecret(undefined, dataDir), /secret is empty/)
})

test('only the very same token is somebody’s', () => {
  const actorOf = adminTokens([
    { actor: 'one', token: 'the token of one' },
    { actor: 'two', token: 'the token of two' },
  ])
  assert.deepEqual([actorOf('the token of one'), actorOf('the token of two')], ['one', 'two'])
  for (const wrong of ['', 'the token of on', 'the token of one ', 'THE TOKEN OF ONE', 'one'])
    assert.equal(actorOf(wrong), undefined)
  assert.equal(adminTokens([])(''), undefined)
})

test('peppers and keys are named alike by every node with the same secret, and differ in every use', () => {
  const secrets = { current: 'the secret of today', previous: 'the secret before' }
  const [peppers, sealing, signing] = [peppersOf(secrets), sealingKeysOf(secrets), snapshotKeysOf(secrets)]
  assert.equal(peppersOf({ current: secrets.previous, previous: undefined }).current.id, peppers.previous?.id)
  assert.deepEqual(
    sealingKeysOf({ current: secrets.previous, previous: undefined }).current,
    sealing.previous,
  )
  const keys = [sealing.current.key, sealing.previous?.key, ...signing].map((key) =>
    Buffer.from(key ?? []).toString('hex'),
  )
  const ids = [peppers.current.id, peppers.previous?.id, sealing.current.id, sealing.previous?.id]
  assert.equal(new Set([...keys, ...ids]).size, 8)
  assert.ok(keys.every((key) => key.length === 64))
  assert.equal(peppers.current.digestOf('a key'), keyHasher(secrets.current)('a key'))
})

test('asking for two keys in turn never mixes their digests', () => {
  const hash = keyHasher('one')
  const [first, second] = [hash('first key'), hash('second key')]
  assert.notEqual(first, second)
  assert.deepEqual([hash('first key'), hash('second key')], [first, second])
  assert.equal(keyHasher('one')('').length, 44)
})
