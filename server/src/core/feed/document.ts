/**
 * The catalogue as a document: the facts of `server/catalog/` with a sequence and a day, signed as a whole. This file reads the
 * envelope and writes the bytes that are signed. `config/build/facts.ts` reads the facts, `runtime/feed-signature.ts` signs.
 */
import { Fault } from '../fault/fault.ts'

export const FEED_FORMAT = 'torana-catalog/1'

/** Bytes of an envelope. The built-in catalogue has 120 kB; ten times as many models still fit. */
export const MAX_FEED_BYTES = 4 * 1024 * 1024
/** Models of all providers together. Every node builds them after each change. */
export const MAX_FEED_MODELS = 5000
const MAX_FEED_PROVIDERS = 200
/** Levels of lists and mappings. The built-in catalogue has eight. */
const MAX_FEED_DEPTH = 16
/** Signatures of one envelope: those of a key and of its successor, and of mirrors that sign again. */
const MAX_FEED_SIGNATURES = 8

/** Age at which a fact is shown as old, so that a person reads its source again three times per year. */
const OLD_FACT_DAYS = 120
const DAY_MS = 86_400_000

export interface FeedDocument {
  readonly format: typeof FEED_FORMAT
  /** Grows with each document. */
  readonly sequence: number
  /** `2026-11-18`. */
  readonly made_on: string
  /** By id, each in the form of a file of `server/catalog/`. */
  readonly providers: Readonly<Record<string, unknown>>
}

export interface FeedSignature {
  /** The id of the key. */
  readonly key: string
  /** Ed25519, in base64. */
  readonly signature: string
}

export interface FeedEnvelope {
  readonly document: FeedDocument
  readonly signatures: readonly FeedSignature[]
}

/** Throws a fault that names the first thing wrong with it. It says nothing about the signatures or the facts. */
export function readEnvelope(text: string): FeedEnvelope {
  let envelope: unknown
  try {
    envelope = JSON.parse(text)
  } catch {
    throw invalid('it is not JSON')
  }
  const { document, signatures, ...others } = mappingOf(envelope, 'the feed')
  refuseOthers(others, 'the feed')
  return { document: readDocument(document), signatures: readSignatures(signatures) }
}

/** The same for the document alone. */
export function readDocument(value: unknown): FeedDocument {
  const { format, sequence, made_on: madeOn, providers, ...others } = mappingOf(value, 'document')
  if (format !== FEED_FORMAT)
    throw invalid(`its format is ${shown(format)}, and this version of Torana reads ${FEED_FORMAT}`)
  refuseOthers(others, 'document')
  if (typeof sequence !== 'number' || !Number.isSafeInteger(sequence) || sequence < 1)
    throw invalid('document.sequence is not a whole number above 0')
  if (typeof madeOn !== 'string' || !isDayText(madeOn)) throw invalid('document.made_on is not a day')
  const known = mappingOf(providers, 'document.providers')
  const count = Object.keys(known).length
  if (count > MAX_FEED_PROVIDERS)
    throw invalid(`it has ${count} providers, and a feed may have ${MAX_FEED_PROVIDERS}`)
  checkDepth(known, 2)
  return { format, sequence, made_on: madeOn, providers: known }
}

function readSignatures(value: unknown): readonly FeedSignature[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new Fault('catalog_feed_untrusted', 'The catalogue feed has no signature.')
  if (value.length > MAX_FEED_SIGNATURES)
    throw invalid(`it has ${value.length} signatures, and a feed may have ${MAX_FEED_SIGNATURES}`)
  return value.map((one: unknown) => {
    const { key, signature } = mappingOf(one, 'a signature')
    if (typeof key !== 'string' || typeof signature !== 'string')
      throw invalid('a signature lacks its key or its bytes')
    return { key, signature }
  })
}

/**
 * The text that is signed: JSON without spaces, with the keys of each mapping sorted by their UTF-16 code units. Equal values
 * have equal texts, however they were written.
 */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonicalText(one)}`).join(',')}}`
}

/** Where a fact was read, and when. */
export interface FactOrigin {
  readonly source?: string | undefined
  readonly asOf?: string | undefined
}

/** The origins of the facts of the catalogue about a deployment. What torana.yaml or the store says has none. */
export function originsOf(deployment: {
  readonly factsFrom?: FactOrigin | undefined
  readonly priceFrom?: ({ readonly from: string } & FactOrigin) | undefined
  readonly end?: FactOrigin | undefined
}): Readonly<Record<'facts' | 'price' | 'end', FactOrigin | undefined>> {
  const { factsFrom, priceFrom, end } = deployment
  return { facts: factsFrom, price: priceFrom?.from === 'catalog' ? priceFrom : undefined, end }
}

/** Whether a fact was read longer ago than facts stay true. False for a fact without a day. */
export function isOldFact(asOf: string | undefined, nowMs: number): boolean {
  return asOf !== undefined && nowMs - Date.parse(asOf) > OLD_FACT_DAYS * DAY_MS
}

export function invalid(what: string): Fault {
  return new Fault('catalog_feed_invalid', `The catalogue feed can't be used: ${what}.`)
}

function mappingOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`${what} is not a mapping`)
  return value as Readonly<Record<string, unknown>>
}

/** A later version may say something with them that must not be ignored. */
function refuseOthers(others: object, what: string): void {
  const [first] = Object.keys(others)
  if (first !== undefined)
    throw invalid(`${what} has the field ${shown(first)}, which this version of Torana does not know`)
}

function checkDepth(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > MAX_FEED_DEPTH) throw invalid(`it is nested deeper than ${MAX_FEED_DEPTH} levels`)
  for (const [key, one] of Object.entries(value)) {
    // An object made of it would have another prototype.
    if (key === '__proto__') throw invalid('a field has the name __proto__')
    checkDepth(one, depth + 1)
  }
}

function isDayText(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
}

/** A value of the feed in a message: short, and on one line. */
function shown(value: unknown): string {
  return (JSON.stringify(value) as string | undefined)?.slice(0, 60) ?? 'missing'
}
