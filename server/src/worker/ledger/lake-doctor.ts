/** Checks the lake for the doctor: its chain, its manifests, that their files are in the bucket, and, if asked, every byte of them. */
import { readSigned, type Manifest } from '#core/money/lake.ts'
import type { Clock } from '#ports/clock.ts'
import type { LakeDoctor, LakeFindings } from '#ports/lake.ts'
import { filesProblem, manifestProblem, missingFiles, type ProofParts } from './lake-proof.ts'

/** Manifests of a usual check, the newest ones. */
const RECENT_MANIFESTS = 3
const CHAIN_PAGE = 20
/** Longest full check: the command that asks waits ten minutes. */
const FULL_CHECK_MS = 8 * 60_000
/** Problems of one report: more need the same action. */
const MAX_PROBLEMS = 20

export interface LakeDoctorParts extends ProofParts {
  readonly isExported: boolean
  readonly clock: Pick<Clock, 'monotonicMs'>
}

export class LedgerLakeDoctor implements LakeDoctor {
  readonly #parts: LakeDoctorParts

  constructor(parts: LakeDoctorParts) {
    this.#parts = parts
  }

  async check(span: 'recent' | 'all'): Promise<LakeFindings> {
    const { store, clock, isExported } = this.#parts
    const status = await store.status()
    const last = await store.lastManifest()
    const endMs = clock.monotonicMs() + FULL_CHECK_MS
    const problems: string[] = span === 'all' ? [...(await store.coldDifferences(MAX_PROBLEMS))] : []
    let after = span === 'all' ? 0 : Math.max(0, (last?.sequence ?? 0) - RECENT_MANIFESTS)
    let previous: string | null | undefined = after === 0 ? null : undefined
    let [manifests, bytes, isPartial] = [0, 0, false]
    for (;;) {
      const page = await store.chain(after, CHAIN_PAGE)
      for (const written of page) {
        const manifest = readSigned(written.text)?.manifest
        const isLinked = previous === undefined || manifest?.previous === previous
        if (!isLinked || manifest?.sequence !== written.sequence || written.sequence !== after + 1)
          problems.push(`manifest ${written.sequence} does not follow the one before it`)
        const problem = await manifestProblem(written, this.#parts)
        if (problem !== undefined) problems.push(problem)
        if (manifest !== undefined) bytes += await this.#files(manifest, span, problems)
        previous = written.sha256
        after = written.sequence
        manifests += 1
        isPartial = clock.monotonicMs() > endMs
        if (isPartial || problems.length >= MAX_PROBLEMS)
          return { isExported, status, manifests, bytes, problems, isPartial: true }
      }
      if (page.length < CHAIN_PAGE) return { isExported, status, manifests, bytes, problems, isPartial }
    }
  }

  /** The files that came with this manifest: those of the ones before were checked with them. Returns their bytes. */
  async #files(manifest: Manifest, span: 'recent' | 'all', problems: string[]): Promise<number> {
    const { number, files, day } = manifest
    const known = number === 1 ? undefined : await this.#before(day, number)
    const own = { ...manifest, files: files.slice(known?.files.length ?? 0) }
    if (span === 'recent') {
      problems.push(...(await missingFiles(own, this.#parts)).map((name) => `${name} is missing`))
      return 0
    }
    let bytes = 0
    const problem = await filesProblem(own, this.#parts, (file) => (bytes += file.bytes))
    if (problem !== undefined) problems.push(problem)
    return bytes
  }

  async #before(day: string, number: number): Promise<Manifest | undefined> {
    const written = await this.#parts.store.manifestOf(day, number - 1)
    return written && readSigned(written.text)?.manifest
  }
}
