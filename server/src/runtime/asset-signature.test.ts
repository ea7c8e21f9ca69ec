import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { assetLinks, assetSigner } from './asset-signature.ts'

const current = 'a'.repeat(64)
const previous = 'b'.repeat(64)
const assetId = fc.string({ minLength: 1, maxLength: 60, unit: 'binary' })
const second = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })

test('a signature opens the asset and the moment it was made for', () => {
  const signer = assetSigner({ current, previous: undefined })
  fc.assert(
    fc.property(assetId, second, (id, expiresAtSeconds) =>
      signer.verify(id, expiresAtSeconds, signer.sign(id, expiresAtSeconds)),
    ),
  )
})

test('a signature opens no other asset and no other moment', () => {
  const signer = assetSigner({ current, previous: undefined })
  fc.assert(
    fc.property(assetId, second, assetId, second, (id, at, otherId, otherAt) => {
      fc.pre(id !== otherId || at !== otherAt)
      assert.equal(signer.verify(otherId, otherAt, signer.sign(id, at)), false)
    }),
  )
})

test('an asset whose id looks like part of a moment is not opened by it', () => {
  const signer = assetSigner({ current, previous: undefined })
  assert.equal(signer.verify('2:a', 1, signer.sign('a', 12)), false)
  assert.equal(signer.verify('a', 12, signer.sign('2:a', 1)), false)
})

test('any change of a signature is noticed, and so is any other text', () => {
  const signer = assetSigner({ current, previous })
  const signature = signer.sign('asset', 1_800_000_000)
  assert.match(signature, /^[\w-]{43}$/)
  for (let at = 0; at < signature.length; at += 1) {
    const changed = signature.slice(0, at) + (signature[at] === 'A' ? 'B' : 'A') + signature.slice(at + 1)
    assert.equal(signer.verify('asset', 1_800_000_000, changed), false, `changed at ${at}`)
  }
  for (const text of ['', signature.slice(1), `${signature}=`, ` ${signature}`, 'é'.repeat(43)])
    assert.equal(signer.verify('asset', 1_800_000_000, text), false, text)
  assert.equal(signer.verify('asset', Number.NaN, signature), false)
})

test('while a secret is rotated, links of the one before stay good; later they do not', () => {
  const old = assetSigner({ current: previous, previous: undefined }).sign('asset', 5)
  assert.equal(assetSigner({ current, previous }).verify('asset', 5, old), true)
  assert.equal(assetSigner({ current, previous: undefined }).verify('asset', 5, old), false)
  assert.notEqual(assetSigner({ current, previous }).sign('asset', 5), old)
})

test('the secret itself signs nothing: the key is derived', () => {
  const direct = createHmac('sha256', current).update('5:asset').digest('base64url')
  assert.notEqual(assetSigner({ current, previous: undefined }).sign('asset', 5), direct)
})

test('a link opens its asset for the usual time, or until the time that is given', () => {
  const links = assetLinks(
    { current, previous: undefined },
    { publicUrl: 'https://torana.example', lifeMs: 60_000, nowMs: () => 1_000_500 },
  )
  for (const [untilMs, seconds] of [
    [undefined, 1060],
    [5_000_999, 5000],
  ] as const) {
    const { origin, pathname, searchParams } = new URL(links.linkOf('asset-1', untilMs))
    assert.deepEqual([origin, pathname], ['https://torana.example', '/v1/assets/asset-1'])
    assert.equal(searchParams.get('exp'), String(seconds))
    assert.equal(links.verifyLink('asset-1', seconds, searchParams.get('sig') ?? ''), true)
  }
})
