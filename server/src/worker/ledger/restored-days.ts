/** Whether the bucket has the dropped days that a restored ledger names. */
import { folderOfDay, manifestName, readSigned, type Manifest } from '#core/money/lake.ts'
import type { LakeStore, WrittenManifest } from '#ports/lake.ts'
import { bytesOf } from './lake-bytes.ts'
import type { ProofParts } from './lake-proof.ts'

const CHAIN_PAGE = 20
/** Files of one day, at most: those of ten billion entries. */
const MAX_FILES = 10_000

export interface RestoredDays {
  readonly checked: number
  /** A sentence for each day whose files are not those that this ledger knows. Every byte is for the doctor. */
  readonly problems: readonly string[]
}

type RestoredParts = Pick<ProofParts, 'store' | 'blobs' | 'hashing'>

export async function checkRestoredDays(parts: RestoredParts): Promise<RestoredDays> {
  const problems: string[] = []
  let checked = 0
  for await (const day of droppedDays(parts.store)) {
    checked += 1
    const problem = await dayProblem(day, parts)
    if (problem !== undefined) problems.push(problem)
  }
  return { checked, problems }
}

interface KnownDay {
  readonly manifest: Manifest
  readonly sha256: string
}

/** The newest manifest of each dropped day. */
async function* droppedDays(store: LakeStore): AsyncGenerator<KnownDay> {
  const keptFrom = await store.keptFrom()
  if (keptFrom === undefined) return
  let after = 0
  for (;;) {
    const page = await store.chain(after, CHAIN_PAGE)
    for (const written of page) {
      after = written.sequence
      const { day, number } = manifestIn(written)
      // Each day has one manifest with this number.
      const newest = number === 1 && day < keptFrom ? await store.manifestOf(day) : undefined
      if (newest !== undefined) yield { manifest: manifestIn(newest), sha256: newest.sha256 }
    }
    if (page.length < CHAIN_PAGE) return
  }
}

function manifestIn({ text }: WrittenManifest): Manifest {
  const read = readSigned(text)
  if (read === undefined) throw new Error('a manifest of the ledger can not be read')
  return read.manifest
}

async function dayProblem(
  { manifest, sha256: known }: KnownDay,
  { blobs, hashing }: RestoredParts,
): Promise<string | undefined> {
  const { day, number, sequence, files } = manifest
  const name = manifestName(day, number)
  const listed = await blobs.list({ prefix: folderOfDay(day), limit: MAX_FILES })
  const sizes = new Map(listed.map((blob) => [blob.name, blob.size]))
  const newer = listed.find((blob) => blob.name > name && /manifest-\d+\.json$/.test(blob.name))
  if (newer !== undefined) return `${newer.name} is newer than the last manifest of this day in the backup`
  const bytes = await bytesOf(blobs, name)
  if (bytes === undefined) return `${name} is missing`
  const sha256 = hashing.sha256(bytes)
  if (sha256 !== known) {
    const found = readSigned(new TextDecoder().decode(bytes))?.manifest.sequence ?? 'unknown'
    return `${name} is another manifest: sequence ${found}, sha256 ${sha256}; the backup has sequence ${sequence}, sha256 ${known}`
  }
  const missing = files.find((file) => sizes.get(file.name) !== file.bytes)
  return missing && `${missing.name} ${sizes.has(missing.name) ? 'has another size' : 'is missing'}`
}
