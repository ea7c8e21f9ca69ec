/** Ed25519 signatures of the catalogue feed, by `node:crypto`. */
import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import {
  canonicalText,
  type FeedDocument,
  type FeedEnvelope,
  type FeedSignature,
} from '#core/feed/document.ts'
import { Fault } from '#core/fault/fault.ts'

/** Begins what is signed, so that no signature of anything else is one of a feed. */
const DOMAIN = 'torana catalogue feed 1\n'
/** What precedes the 32 bytes of an Ed25519 key in DER. */
const PUBLIC_DER = Buffer.from('302a300506032b6570032100', 'hex')
const PUBLIC_KEY = /^ed25519:([A-Za-z0-9+/]{43}=)$/

/** `ed25519:` and the 32 bytes in base64: the form of public keys in torana.yaml and in the package. */
export function publicKeyText(key: KeyObject): string {
  const own = key.type === 'private' ? createPublicKey(key) : key
  const der = own.export({ format: 'der', type: 'spki' })
  return `ed25519:${der.subarray(PUBLIC_DER.length).toString('base64')}`
}

/** What a signature calls its key: 16 hex digits of its SHA-256. */
export function keyIdOf(publicKey: string): string {
  return createHash('sha256').update(bytesIn(publicKey)).digest('hex').slice(0, 16)
}

/** SHA-256 of what is signed, in hex. */
export function feedDigest(document: FeedDocument): string {
  return createHash('sha256').update(canonicalText(document)).digest('hex')
}

/** `pem` is the private key in PKCS #8. */
export function signFeed(document: FeedDocument, pem: string): FeedSignature {
  const key = createPrivateKey(pem)
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('the key that signs a feed is an Ed25519 key')
  return {
    key: keyIdOf(publicKeyText(key)),
    signature: sign(null, signedBytes(document), key).toString('base64'),
  }
}

/** The id of the trusted key that signed the document. Throws a fault when none did. */
export function verifyFeed({ document, signatures }: FeedEnvelope, trusted: readonly string[]): string {
  const bytes = signedBytes(document)
  for (const publicKey of trusted) {
    const id = keyIdOf(publicKey)
    const key = createPublicKey({
      key: Buffer.concat([PUBLIC_DER, bytesIn(publicKey)]),
      format: 'der',
      type: 'spki',
    })
    const isSigned = signatures.some(
      (one) => one.key === id && verify(null, bytes, key, Buffer.from(one.signature, 'base64')),
    )
    if (isSigned) return id
  }
  const by = signatures.map(({ key }) => key.slice(0, 16)).join(', ')
  const known = trusted.map(keyIdOf).join(', ')
  throw new Fault(
    'catalog_feed_untrusted',
    `The catalogue feed has no valid signature of a trusted key. It names ${by}; trusted are ${known || 'none'}. Check its source; to trust another key, write its public key under catalog.keys in torana.yaml.`,
  )
}

function signedBytes(document: FeedDocument): Buffer {
  return Buffer.from(DOMAIN + canonicalText(document))
}

function bytesIn(publicKey: string): Buffer {
  const [, base64] = PUBLIC_KEY.exec(publicKey) ?? []
  if (base64 === undefined) throw new Error(`${publicKey} is no public key of a catalogue feed`)
  return Buffer.from(base64, 'base64')
}
