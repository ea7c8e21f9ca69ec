/** Proves that a day in the lake is what was sealed. */
import {
  addedUp,
  differingSums,
  folderOfDay,
  manifestName,
  manifestText,
  readSigned,
  sumsIn,
  type Manifest,
  type ManifestFile,
} from '#core/money/lake.ts'
import { hoursIn, sealedDifference } from '#core/money/lake-manifest.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { LakeStore, ManifestSigner, WrittenManifest } from '#ports/lake.ts'
import type { LedgerFiles } from '#ports/ledger-files.ts'
import { bytesOf, hashOf, type LakeHashing } from './lake-bytes.ts'

export interface ProofParts {
  readonly store: LakeStore
  readonly blobs: BlobStore
  readonly files: LedgerFiles
  readonly signer: ManifestSigner
  readonly hashing: LakeHashing
}

/**
 * Reads every file of a day back and adds up its entries: sums and hashes must be those of the sealed hours. Returns the problem.
 * `goOn` is called before each file.
 */
export async function verifyDay(
  written: WrittenManifest,
  parts: ProofParts,
  goOn: () => Promise<unknown>,
): Promise<string | undefined> {
  const { store, blobs, files, hashing } = parts
  const problem = await manifestProblem(written, parts)
  if (problem !== undefined) return problem
  const manifest = readSigned(written.text)?.manifest as Manifest
  let broken: string | undefined
  async function* checked(kept: readonly ManifestFile[]): AsyncGenerator<Uint8Array> {
    for (const { name, sha256 } of kept) {
      await goOn()
      const found = await bytesOf(blobs, name)
      if (found !== undefined && hashing.sha256(found) === sha256) yield found
      else broken ??= `${name} ${found === undefined ? 'is missing' : 'was changed'}`
    }
  }
  const entries = await files.totals(checked(manifest.files.filter(({ kind }) => kind === 'entries')))
  const corrections = []
  // One by one: their ids overlap.
  for (const file of manifest.files)
    if (file.kind === 'corrections') corrections.push(await files.totals(checked([file])))
  if (broken !== undefined) return broken
  const difference = sealedDifference(entries.hours, await store.sealedHours(manifest.day))
  if (difference !== undefined) return `the files of ${manifest.day} are not what was sealed: ${difference}`
  const [corrected] = differingSums(
    addedUp(corrections.map(({ sums }) => sums)),
    sumsIn(manifest.corrections),
  )
  return corrected && `${corrected} of the corrections of ${manifest.day} is not what its manifest says`
}

/** Whether the manifest in the bucket is the recorded one, was signed by this install, and has the sealed sums. */
export async function manifestProblem(
  written: WrittenManifest,
  { store, blobs, signer, hashing }: Omit<ProofParts, 'files'>,
): Promise<string | undefined> {
  const read = readSigned(written.text)
  if (read === undefined) return 'a recorded manifest can not be read'
  const { manifest, signature } = read
  const name = manifestName(manifest.day, manifest.number)
  if (hashing.sha256(new TextEncoder().encode(written.text)) !== written.sha256)
    return `the recorded text of ${name} was changed`
  if (signer.verify(manifestText(manifest), signature) === 'bad') return `${name} has a wrong signature`
  const inBucket = await hashOf(blobs, name, hashing)
  if (inBucket === undefined) return `${name} is missing`
  if (inBucket !== written.sha256) return `${name} was changed`
  const difference = sealedDifference(hoursIn(manifest), await store.sealedHours(manifest.day))
  return difference && `${name} is not what was sealed: ${difference}`
}

/** Names in one look at the bucket. */
const LISTED = 1000

/** The files of a manifest that the bucket does not list. */
export async function missingFiles(
  { day, files }: Manifest,
  { blobs }: Pick<ProofParts, 'blobs'>,
): Promise<readonly string[]> {
  const missing = new Set(files.map(({ name }) => name))
  for (let after: string | undefined; missing.size > 0;) {
    const page = await blobs.list({ prefix: folderOfDay(day), after, limit: LISTED })
    for (const { name } of page) missing.delete(name)
    if (page.length < LISTED) break
    after = page.at(-1)?.name
  }
  return [...missing]
}

/** Whether the files of a manifest have their hashes. `onFile` is called after each. */
export async function filesProblem(
  { files }: Manifest,
  { blobs, hashing }: Pick<ProofParts, 'blobs' | 'hashing'>,
  onFile: (file: ManifestFile) => void,
): Promise<string | undefined> {
  for (const file of files) {
    const found = await hashOf(blobs, file.name, hashing)
    if (found === undefined) return `${file.name} is missing`
    if (found !== file.sha256) return `${file.name} was changed`
    onFile(file)
  }
  return undefined
}
