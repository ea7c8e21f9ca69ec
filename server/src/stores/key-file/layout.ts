/**
 * The parts of a packed key file, in their order:
 *
 *   bodies   one of each project and key: its fields, and where its terms are
 *   terms    limits, budgets, models and bounds as JSON, each distinct one mostly once
 *   digests  rows of 44 bytes, sorted: digest, place of the key's body, end of the secret
 *   names    rows of 12 bytes, sorted: start of the SHA-256 of `key:<id>` or `project:<name>`, place of the body
 *   footer   512 bytes of JSON: state and sizes
 *   32 bytes of HMAC-SHA-256 over all before
 *
 * Places count units of eight bytes from the start of their part.
 */
import { hash } from 'node:crypto'
import type { HeldKey, HeldProject } from '#ports/key-file.ts'
import { budgetFrom, budgetJson, type BudgetJson } from '../key-change.ts'

export const UNIT_BYTES = 8
export const FOOTER_BYTES = 512
export const MAC_BYTES = 32

export interface RowForm {
  readonly bytes: number
  /** The first bytes of a row, by which rows are sorted. */
  readonly keyBytes: number
}
export const DIGESTS: RowForm = { bytes: 44, keyBytes: 32 }
export const NAMES: RowForm = { bytes: 12, keyBytes: 8 }

export const FORMAT = 'torana packed keys 1'

export interface Footer {
  readonly format: string
  readonly version: string
  readonly mark: string
  readonly verifiedAtMs: number
  readonly bodyBytes: number
  readonly termsBytes: number
  readonly digests: number
  readonly names: number
  readonly keys: number
}

export function footerBytes(footer: Footer): Buffer {
  const text = JSON.stringify(footer)
  if (text.length > FOOTER_BYTES) throw new Error(`the footer of a key file has ${text.length} characters`)
  return Buffer.from(text.padEnd(FOOTER_BYTES))
}

/** The offsets of a body's fields. */
const [BYTES, KIND, TEXT_BYTES, TERMS, PROJECT_BYTES, EXPIRES, VERSION, TEXT] = [
  0, 4, 6, 8, 12, 16, 24, 32,
] as const
/** The bytes of a body that say how long it is. */
export const HEAD_BYTES = TEXT
const [KEY, PROJECT] = [1, 2] as const
/** The largest id that a body holds: its length takes two bytes. */
const MAX_TEXT_BYTES = 0xffff

/** `terms`: the place of its terms; undefined: it has none. */
export function keyBody(key: HeldKey, terms: number | undefined): Buffer {
  if (key.id !== `${key.project}/${key.name}`)
    throw new Error(`the id of key ${key.id} is not its project and name`)
  const body = bodyOf(KEY, key.id, terms, key.version)
  body.writeUInt32LE(Buffer.byteLength(key.project), PROJECT_BYTES)
  body.writeDoubleLE(key.expiresAtMs ?? Number.NaN, EXPIRES)
  return body
}

export function projectBody(project: HeldProject, terms: number | undefined): Buffer {
  return bodyOf(PROJECT, project.name, terms, project.version)
}

function bodyOf(kind: number, text: string, terms: number | undefined, version: bigint): Buffer {
  const textBytes = Buffer.byteLength(text)
  if (textBytes > MAX_TEXT_BYTES)
    throw new Error(`the name ${text.slice(0, 100)}… is too long for a key file`)
  const body = Buffer.alloc(padded(TEXT + textBytes))
  body.writeUInt32LE(body.length, BYTES)
  body[KIND] = kind
  body.writeUInt16LE(textBytes, TEXT_BYTES)
  body.writeUInt32LE(terms === undefined ? 0 : terms + 1, TERMS)
  body.writeBigInt64LE(version, VERSION)
  body.write(text, TEXT)
  return body
}

export function bodyLength(head: Buffer): number {
  return head.readUInt32LE(BYTES)
}

/** The text by which a body is found in `names`. */
export function nameIn(body: Buffer): string {
  return `${body[KIND] === KEY ? 'key' : 'project'}:${textIn(body)}`
}

export function keyIn(body: Buffer, termsAt: (place: number) => TermsJson): HeldKey {
  const id = textIn(body)
  const expiresAtMs = body.readDoubleLE(EXPIRES)
  const project = body.toString('utf8', TEXT, TEXT + body.readUInt32LE(PROJECT_BYTES))
  return {
    id,
    project,
    name: id.slice(project.length + 1),
    expiresAtMs: Number.isNaN(expiresAtMs) ? undefined : expiresAtMs,
    version: body.readBigInt64LE(VERSION),
    ...heldTerms(body, termsAt),
  }
}

export function projectIn(body: Buffer, termsAt: (place: number) => TermsJson): HeldProject {
  const { limits, budget } = heldTerms(body, termsAt)
  return { name: textIn(body), version: body.readBigInt64LE(VERSION), limits, budget }
}

function textIn(body: Buffer): string {
  return body.toString('utf8', TEXT, TEXT + body.readUInt16LE(TEXT_BYTES))
}

type HeldTerms = Pick<HeldKey, 'models' | 'limits' | 'budget' | 'scopes' | 'maxCallsAtOnce' | 'addresses'>

/** Absent: none. */
export type TermsJson = Partial<Omit<HeldTerms, 'budget'>> & { readonly budget?: BudgetJson }

function heldTerms(body: Buffer, termsAt: (place: number) => TermsJson): HeldTerms {
  const place = body.readUInt32LE(TERMS)
  const { models, limits = {}, budget, scopes, maxCallsAtOnce, addresses } = place ? termsAt(place - 1) : {}
  return { models, limits, budget: budgetFrom(budget ?? null), scopes, maxCallsAtOnce, addresses }
}

/** Undefined: there are none. */
export function termsText(terms: Partial<HeldTerms>): string | undefined {
  const { models, limits = {}, budget, scopes, maxCallsAtOnce, addresses } = terms
  const given = Object.keys(limits).length > 0 ? limits : undefined
  const ofBudget = budgetJson(budget) ?? undefined
  const json = { models, limits: given, budget: ofBudget, scopes, maxCallsAtOnce, addresses }
  const text = JSON.stringify(json)
  return text === '{}' ? undefined : text
}

/** Terms in their part: the length of the text, and the text. */
export function termsBytes(text: string): Buffer {
  const bytes = Buffer.alloc(padded(4 + Buffer.byteLength(text)))
  bytes.writeUInt32LE(Buffer.byteLength(text), 0)
  bytes.write(text, 4)
  return bytes
}

function padded(bytes: number): number {
  return Math.ceil(bytes / UNIT_BYTES) * UNIT_BYTES
}

/** The first bytes of a row of `names`. */
export function nameKey(name: string): Buffer {
  return hash('sha256', name, 'buffer').subarray(0, NAMES.keyBytes)
}

export function nameRow(name: string, place: number): Buffer {
  const row = Buffer.alloc(NAMES.bytes)
  row.set(nameKey(name))
  row.writeUInt32LE(place, NAMES.keyBytes)
  return row
}

export interface DigestRow {
  readonly digest: string
  readonly validUntilMs: number | undefined
}

export function digestRow({ digest, validUntilMs }: DigestRow, place: number): Buffer {
  const row = Buffer.alloc(DIGESTS.bytes)
  row.write(digest, 'base64')
  row.writeUInt32LE(place, DIGESTS.keyBytes)
  // Zero: no end.
  row.writeUIntLE(validUntilMs ?? 0, DIGESTS.keyBytes + 4, 6)
  return row
}

export function validUntilIn(row: Buffer): number | undefined {
  return row.readUIntLE(DIGESTS.keyBytes + 4, 6) || undefined
}

/** The place that a row of either form names. */
export function placeIn(rows: Buffer, at: number, { keyBytes }: RowForm): number {
  return rows.readUInt32LE(at + keyBytes)
}

export function setPlace(rows: Buffer, at: number, { keyBytes }: RowForm, place: number): void {
  rows.writeUInt32LE(place, at + keyBytes)
}
