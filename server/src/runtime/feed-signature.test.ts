import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { readEnvelope, type FeedEnvelope } from '#core/feed/document.ts'
import { Fault } from '#core/fault/fault.ts'
import { aSigner, changedDocument } from '#test/support/feed.ts'
import { feedDigest, keyIdOf, signFeed, verifyFeed } from './feed-signature.ts'

const signer = aSigner()
const feed = readEnvelope(signer.sign(changedDocument(1)))
const isUntrusted = (error: unknown): boolean =>
  error instanceof Fault && error.code === 'catalog_feed_untrusted'

test('a feed is trusted by the key that signed it, however its text is laid out', () => {
  assert.equal(verifyFeed(feed, [aSigner().publicKey, signer.publicKey]), keyIdOf(signer.publicKey))
  const { document, signatures } = feed
  const reordered = { signatures, document: Object.fromEntries(Object.entries(document).toReversed()) }
  const again = readEnvelope(JSON.stringify(reordered, undefined, 2))
  assert.equal(verifyFeed(again, [signer.publicKey]), keyIdOf(signer.publicKey))
  assert.equal(feedDigest(again.document), feedDigest(document))
})

test('a feed of another key, with a changed byte, or with a signature of something else is refused', () => {
  const other = changedDocument(1, ({ models }) => delete models['text-embedding-3-small'])
  const [signature] = feed.signatures
  const forged: readonly FeedEnvelope[] = [
    { ...feed, document: other },
    { ...feed, document: { ...feed.document, sequence: feed.document.sequence + 1 } },
    { ...feed, signatures: [{ key: signature?.key ?? '', signature: 'AAAA' }] },
    { ...feed, signatures: [{ key: keyIdOf(aSigner().publicKey), signature: signature?.signature ?? '' }] },
  ]
  for (const one of forged) assert.throws(() => verifyFeed(one, [signer.publicKey]), isUntrusted)
  assert.throws(() => verifyFeed(feed, [aSigner().publicKey]), isUntrusted)
  assert.throws(() => verifyFeed(feed, []), isUntrusted)
})

test('while keys change, a feed with the signatures of both is trusted by either', () => {
  const next = aSigner()
  const both = {
    document: feed.document,
    signatures: [...feed.signatures, ...readEnvelope(next.sign(feed.document)).signatures],
  }
  for (const { publicKey } of [signer, next]) assert.equal(verifyFeed(both, [publicKey]), keyIdOf(publicKey))
})

test('a key of another kind signs nothing', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' })
  assert.throws(() => signFeed(feed.document, pem), /Ed25519/)
})
