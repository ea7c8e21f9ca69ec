/** Signed catalogue feeds for tests, made from the built-in catalogue with a key of their own. */
import { generateKeyPairSync } from 'node:crypto'
import { catalogRelease, releaseDocument } from '#config/build/feed.ts'
import type { FeedDocument } from '#core/feed/document.ts'
import { publicKeyText, signFeed } from '#runtime/feed-signature.ts'

export interface Signer {
  /** As torana.yaml has it under `catalog.keys`. */
  readonly publicKey: string
  /** The text of a feed. */
  sign(document: FeedDocument): string
}

export function aSigner(): Signer {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' })
  return {
    publicKey: publicKeyText(publicKey),
    sign: (document) => JSON.stringify({ document, signatures: [signFeed(document, pem)] }),
  }
}

/** The parts of a provider that tests change. */
export interface TestProvider {
  readonly capabilities: Record<string, unknown>
  readonly models: Record<string, Record<string, unknown>>
  retired: Record<string, unknown>
  baseUrl?: string
}

/** The built-in catalogue, `later` sequences on, with a change to providers. What holds for a model everywhere is equal in all of them. */
export function changedDocument(
  later: number,
  change: (provider: TestProvider) => void = () => {},
  providers: readonly string[] = ['openai'],
): FeedDocument {
  const { sequence, made_on: madeOn } = catalogRelease()
  const document = structuredClone(releaseDocument({ sequence: sequence + later, made_on: madeOn }))
  for (const provider of providers) {
    const facts = document.providers[provider] as TestProvider
    facts.retired ??= {}
    change(facts)
  }
  return document
}

const SOURCE = { source: 'https://example.com/prices', asOf: '2026-11-18' }

export function tokenPrice(usdPerMillionTokens: number): Record<string, unknown> {
  return { usdPerMillionTokens, ...SOURCE }
}
