/** What every `CredentialStore` promises, whichever engine it is kept in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CredentialLost } from '#ports/credentials.ts'
import { SECRETS, type DatabaseDirectory } from '#test/support/directory.ts'

const baseUrl = 'https://api.example.com/v1'
const secret = 'sk-a-secret-of-an-upstream'
const credential = { upstream: 'openai', baseUrl, secret }

export function credentialStoreSuite(name: string, open: () => Promise<DatabaseDirectory>): void {
  const opened = async () => {
    const directory = await open()
    return { ...directory, store: directory.credentials(SECRETS) }
  }

  test(`${name}: a credential is given out for the base URL it was stored with, and no other`, async () => {
    const { store } = await opened()
    const stored = await store.put(credential, { kind: 'member', name: 'tester' })
    assert.deepEqual(
      { ...stored, updatedAtMs: 0 },
      { upstream: 'openai', baseUrl, hasSecret: true, updatedAtMs: 0, tail: '…ream' },
    )
    assert.equal(await store.open('openai', baseUrl), secret)
    for (const [upstream, url] of [
      ['openai', `${baseUrl}/`],
      ['openai', 'https://api.example.com.evil.example/v1'],
      ['openai', ''],
      ['other', baseUrl],
    ] as const)
      assert.equal(await store.open(upstream, url), undefined)
  })

  test(`${name}: another base URL drops the secret, the same one keeps it`, async () => {
    const { store } = await opened()
    await store.put(credential, { kind: 'member', name: 'tester' })
    assert.equal(
      (await store.setBaseUrl('openai', baseUrl, { kind: 'member', name: 'tester' }))?.hasSecret,
      true,
    )
    assert.equal(await store.open('openai', baseUrl), secret)
    const moved = await store.setBaseUrl('openai', 'https://evil.example/v1', {
      kind: 'member',
      name: 'tester',
    })
    assert.deepEqual([moved?.baseUrl, moved?.hasSecret], ['https://evil.example/v1', false])
    assert.equal(await store.open('openai', 'https://evil.example/v1'), undefined)
    await store.setBaseUrl('openai', baseUrl, { kind: 'member', name: 'tester' })
    assert.equal(await store.open('openai', baseUrl), undefined)
    assert.equal(await store.setBaseUrl('nobody', baseUrl, { kind: 'member', name: 'tester' }), undefined)
  })

  test(`${name}: a credential is replaced and forgotten`, async () => {
    const { store } = await opened()
    await store.put(credential, { kind: 'member', name: 'tester' })
    await store.put({ ...credential, secret: 'another' }, { kind: 'member', name: 'tester' })
    assert.equal(await store.open('openai', baseUrl), 'another')
    assert.equal((await store.list())[0]?.tail, undefined, 'of a short secret nothing is shown')
    const dropped = await store.drop('openai', { kind: 'member', name: 'tester' })
    assert.deepEqual([dropped?.hasSecret, dropped?.tail], [false, undefined])
    assert.equal(await store.open('openai', baseUrl), undefined)
    assert.equal(await store.drop('nobody', { kind: 'member', name: 'tester' }), undefined)
    assert.deepEqual(
      (await store.list()).map(({ upstream, hasSecret }) => [upstream, hasSecret]),
      [['openai', false]],
    )
  })

  test(`${name}: every change of a credential is a change of the directory and stands in the audit, without it`, async () => {
    const { store, keyStore, audit } = await opened()
    const versions = [await keyStore.directoryVersion()]
    await store.put(credential, { kind: 'member', name: 'alice' })
    versions.push(await keyStore.directoryVersion())
    await store.setBaseUrl('openai', 'https://other.example', { kind: 'member', name: 'bob' })
    versions.push(await keyStore.directoryVersion())
    await store.put(credential, { kind: 'member', name: 'carol' })
    await store.drop('openai', { kind: 'member', name: 'carol' })
    versions.push(await keyStore.directoryVersion())
    assert.ok(versions.every((version, index) => version > (versions[index - 1] ?? 0n)))
    const entries = await audit.list({ limit: 10 })
    assert.deepEqual(
      entries.map(({ actor, action, target }) => [actor, action, target]),
      [
        ['carol', 'credential.drop', 'openai'],
        ['carol', 'credential.put', 'openai'],
        ['bob', 'credential.set', 'openai'],
        ['alice', 'credential.put', 'openai'],
      ],
    )
    assert.ok(!JSON.stringify(entries.map(({ detail }) => detail)).includes(secret))
  })

  test(`${name}: nothing in the database tells the secret, and the same one is never sealed alike`, async () => {
    const { store, database } = await opened()
    const rows = async () =>
      JSON.stringify(await database.query('SELECT * FROM upstream_credentials ORDER BY upstream'))
    await store.put(credential, { kind: 'member', name: 'tester' })
    const first = await rows()
    assert.ok(!first.includes(secret))
    assert.ok(!first.includes(JSON.stringify([...Buffer.from(secret)]).slice(1, -1)))
    await store.put(credential, { kind: 'member', name: 'tester' })
    assert.notEqual(await rows(), first)
  })

  test(`${name}: a rotated secret of the node opens what the one before sealed, and seals it again`, async () => {
    const { credentials } = await open()
    await credentials({ current: 'old', previous: undefined }).put(credential, {
      kind: 'member',
      name: 'tester',
    })
    const rotating = credentials({ current: 'new', previous: 'old' })
    const rotated = credentials({ current: 'new', previous: undefined })
    await assert.rejects(rotated.open('openai', baseUrl), CredentialLost)
    assert.equal(await rotating.open('openai', baseUrl), secret)
    assert.equal(await rotated.open('openai', baseUrl), secret)
  })

  test(`${name}: what was sealed for one upstream does not open for another, nor after a change`, async () => {
    const { store, database } = await opened()
    await store.put(credential, { kind: 'member', name: 'tester' })
    await store.put(
      { ...credential, upstream: 'other', secret: 'another' },
      { kind: 'member', name: 'tester' },
    )
    const swap = (column: string) =>
      `UPDATE upstream_credentials SET ${column} = (SELECT ${column} FROM upstream_credentials WHERE upstream = 'other')
       WHERE upstream = 'openai'`
    await database.query(swap('sealed_key'))
    await assert.rejects(store.open('openai', baseUrl), CredentialLost)
    await database.query(swap('sealed_secret'))
    await assert.rejects(store.open('openai', baseUrl), CredentialLost)
    assert.equal(await store.open('other', baseUrl), 'another')
    await database.query(
      `UPDATE upstream_credentials SET sealed_secret = set_byte(sealed_secret, 30, 255 - get_byte(sealed_secret, 30))`,
    )
    await assert.rejects(store.open('other', baseUrl), CredentialLost)
  })
}
