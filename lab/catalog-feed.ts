/**
 * `npm run lab -- catalog-feed --out catalog.json`: writes the catalogue of this checkout as a signed feed. The private key comes from
 * CATALOG_SIGNING_KEY, or from the file that CATALOG_SIGNING_KEY_FILE names: Ed25519, PKCS #8 in PEM.
 *   --sequence <n>       default: that of the release
 *   --document <file>    another document, such as one with changed prices
 *   --add <feed>         the signed feed that gets one more signature, while keys change
 *   --new-key <file>     makes a key, writes it there and prints what server/catalog/release.json or catalog.keys takes
 */
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { catalogRelease, factsOfFeed, releaseDocument } from '../server/src/config/build/feed.ts'
import { readDocument, readEnvelope, type FeedEnvelope } from '../server/src/core/feed/document.ts'
import { keyIdOf, publicKeyText, signFeed } from '../server/src/runtime/feed-signature.ts'

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    sequence: { type: 'string' },
    document: { type: 'string' },
    add: { type: 'string' },
    'new-key': { type: 'string' },
  },
})

if (values['new-key'] !== undefined) writeKey(values['new-key'])
else writeFeed(values.out ?? 'catalog.json')

function writeKey(file: string): void {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  writeFileSync(file, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600, flag: 'wx' })
  const text = publicKeyText(publicKey)
  console.log(`${text}\nkey id: ${keyIdOf(text)}`)
}

function writeFeed(out: string): void {
  const { document, signatures } = unsigned()
  // A feed that no node could read must not be signed.
  factsOfFeed(document)
  const signature = signFeed(document, privateKey())
  const others = signatures.filter(({ key }) => key !== signature.key)
  writeFileSync(out, `${JSON.stringify({ document, signatures: [...others, signature] }, undefined, 1)}\n`)
  console.log(`${out}: sequence ${document.sequence} of ${document.made_on}, signed by ${signature.key}`)
}

function unsigned(): FeedEnvelope {
  const { add, document, sequence } = values
  if (add !== undefined) return readEnvelope(readFileSync(add, 'utf8'))
  const read =
    document === undefined
      ? releaseDocument(catalogRelease())
      : readDocument(JSON.parse(readFileSync(document, 'utf8')))
  const given = sequence === undefined ? read : { ...read, sequence: Number(sequence) }
  return { document: readDocument(given), signatures: [] }
}

function privateKey(): string {
  const { CATALOG_SIGNING_KEY: key, CATALOG_SIGNING_KEY_FILE: file } = process.env
  if (key) return key
  if (file) return readFileSync(file, 'utf8')
  throw new Error('CATALOG_SIGNING_KEY or CATALOG_SIGNING_KEY_FILE must hold the private key')
}
