/** The ledger in the lake: files of sealed days, and the manifests that say what is in them. */

/** The sums of entries, by the names that tables and manifests give them. */
export const SUM_NAMES = [
  'entries',
  'posts',
  'tokens',
  'images',
  'amount_nano',
  'requests',
  'hits',
  'saved_nano',
  'unknown_nano',
] as const
export type SumName = (typeof SUM_NAMES)[number]
export type EntrySums = Readonly<Record<SumName, bigint>>

/** The sums of a manifest are decimal texts: JSON readers round large numbers. */
export type SumTexts = Readonly<Record<SumName, string>>

export interface HourTotals {
  /** Unix milliseconds of its start. */
  readonly hourMs: number
  readonly sums: EntrySums
  /** SHA-256 of its entries, in hex. */
  readonly hash: string
}

export interface GroupTotals {
  readonly project: string
  readonly model: string
  readonly sums: EntrySums
}

/** What some entries add up to. */
export interface LedgerTotals {
  readonly sums: EntrySums
  /** Hours with entries, in order. */
  readonly hours: readonly HourTotals[]
  readonly groups: readonly GroupTotals[]
}

export interface ManifestFile {
  readonly name: string
  readonly kind: 'entries' | 'corrections'
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
  readonly first_id: string
  readonly last_id: string
}

/** A day of the ledger in the lake. A manifest with a higher number replaces those before it. */
export interface Manifest {
  readonly format: typeof MANIFEST_FORMAT
  readonly day: string
  /** 1 for the day as it was sealed; one more for each export of corrections. */
  readonly number: number
  /** Place in the chain of all manifests, without gaps. */
  readonly sequence: number
  /** SHA-256 of the manifest before it in the chain. Null: it is the first. */
  readonly previous: string | null
  /** Of the entries without corrections. */
  readonly sums: SumTexts
  /** As in `sealed_hours`. */
  readonly hours: readonly (SumTexts & { readonly hour: string; readonly hash: string })[]
  /** Of the corrections. */
  readonly corrections: SumTexts
  /** Entries and corrections, by project and model. What is beyond the first `MAX_GROUPS` is in `others`. */
  readonly groups: readonly (SumTexts & { readonly project: string; readonly model: string })[]
  readonly others: SumTexts
  readonly files: readonly ManifestFile[]
}

export const MANIFEST_FORMAT = 'torana-ledger/1'

/** Groups of one manifest: about 3 MB, which a table and a reader hold without trouble. */
export const MAX_GROUPS = 10_000

export interface Signature {
  /** Names the key: the first bytes of a digest of it. */
  readonly key: string
  /** HMAC-SHA-256 of the text of the manifest, in hex. */
  readonly hmac_sha256: string
}

/** The bytes that are signed: the manifest as JSON without spaces. */
export function manifestText(manifest: Manifest): string {
  return JSON.stringify(manifest)
}

/** The file. Its SHA-256 is the next manifest's `previous`. */
export function signedText(manifest: Manifest, signature: Signature): string {
  return `{"manifest":${manifestText(manifest)},"signature":${JSON.stringify(signature)}}\n`
}

/** Undefined: the text is no manifest of this format. */
export function readSigned(
  text: string,
): { readonly manifest: Manifest; readonly signature: Signature } | undefined {
  try {
    const { manifest, signature } = JSON.parse(text) as { manifest: Manifest; signature: Signature }
    return manifest.format === MANIFEST_FORMAT && typeof signature.hmac_sha256 === 'string'
      ? { manifest, signature }
      : undefined
  } catch {
    return undefined
  }
}

/** The folder of the lake in the blob store. Nothing in it is deleted. */
const LAKE_FOLDER = 'ledger/v1/'

export function folderOfDay(day: string): string {
  return `${LAKE_FOLDER}day=${day}/`
}

/** The name of the file `number` of a day, counted from 1. */
export function fileName(day: string, kind: ManifestFile['kind'], number: number): string {
  return `${folderOfDay(day)}${kind === 'entries' ? 'part' : 'corrections'}-${padded(number)}.parquet`
}

export function manifestName(day: string, number: number): string {
  return `${folderOfDay(day)}manifest-${padded(number)}.json`
}

function padded(number: number): string {
  return String(number).padStart(4, '0')
}

export const NO_SUMS: EntrySums = sumsFrom(() => 0n)

export function sumsFrom(value: (name: SumName) => bigint): EntrySums {
  return Object.fromEntries(SUM_NAMES.map((name) => [name, value(name)])) as Record<SumName, bigint>
}

export function sumTexts(sums: EntrySums): SumTexts {
  return Object.fromEntries(SUM_NAMES.map((name) => [name, String(sums[name])])) as Record<SumName, string>
}

export function sumsIn(texts: SumTexts): EntrySums {
  return sumsFrom((name) => BigInt(texts[name]))
}

export function addedUp(all: readonly EntrySums[]): EntrySums {
  return all.reduce((sum, one) => sumsFrom((name) => sum[name] + one[name]), NO_SUMS)
}

/** The names of the sums that differ. */
export function differingSums(one: EntrySums, other: EntrySums): readonly SumName[] {
  return SUM_NAMES.filter((name) => one[name] !== other[name])
}
