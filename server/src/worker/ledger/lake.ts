/** Writes sealed days of the ledger to the blob store, and drops their partitions when they may go. One node does it for all. */
import {
  fileName,
  manifestName,
  manifestText,
  readSigned,
  signedText,
  type LedgerTotals,
  type Manifest,
  type ManifestFile,
} from '#core/money/lake.ts'
import { hoursIn, manifestOf, sealedDifference } from '#core/money/lake-manifest.ts'
import { HOUR_MS } from '#core/money/ledger.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { StoreClock } from '#ports/clock.ts'
import type { EntryPlace, ExportedRows, LakeStore, ManifestSigner, WrittenManifest } from '#ports/lake.ts'
import type { EntryPage, LedgerFile, LedgerFiles } from '#ports/ledger-files.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { bytesOf, type LakeHashing } from './lake-bytes.ts'
import { verifyDay } from './lake-proof.ts'

const DAY_MS = 24 * HOUR_MS
/** Entries of one statement: about 2 MB of text, which take the event loop a few milliseconds. */
const PAGE_ROWS = 8192
/** Days of one round. The next round begins at once while there are more. */
const DAYS_PER_ROUND = 10
/** Age at which corrections are exported: each export is a file and a manifest, and most corrections of a day come together. */
const CORRECTIONS_WAIT_MS = DAY_MS

/** The bucket has something else than this ledger. A person must look at it: nothing is overwritten. */
class LakeProblem extends Error {
  override readonly name = 'LakeProblem'
}

export interface LakeParts {
  readonly nodeId: string
  readonly store: LakeStore
  readonly blobs: BlobStore
  readonly files: LedgerFiles
  readonly signer: ManifestSigner
  readonly hashing: LakeHashing
  readonly clock: Pick<StoreClock, 'storeMs'>
  /** Whether the store's clock can be believed: nothing is dropped before. */
  readonly isClockSteady: () => boolean
  readonly keepDays: number | 'forever'
  readonly events: LakeEvents
}

interface LakeEvents {
  exported(day: string, manifest: Manifest): void
  dropped(partition: string): void
}

export class Lake {
  readonly #parts: LakeParts
  #isStopped = false

  constructor(parts: LakeParts) {
    this.#parts = parts
  }

  /** Leaves what is not done for the next round. */
  stop(): void {
    this.#isStopped = true
  }

  /** Exports and drops what is due. Any node may call it at any time: it does nothing while another one does it. */
  async round(): Promise<void> {
    const { store, nodeId } = this.#parts
    if (!(await store.hold(nodeId))) return
    try {
      await this.#export()
      await this.#drop()
      await store.note(undefined)
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) await store.note((error as Error).message)
      throw error
    }
  }

  async #export(): Promise<void> {
    const { store, clock } = this.#parts
    for (;;) {
      const due = await store.daysDue(DAYS_PER_ROUND)
      const writtenBeforeMs = (await clock.storeMs()) - CORRECTIONS_WAIT_MS
      const corrected = await store.correctedDays(writtenBeforeMs, DAYS_PER_ROUND)
      for (const day of [...due, ...corrected]) {
        if (this.#isStopped) return
        await this.exportDay(day)
      }
      if (due.length + corrected.length === 0) return
    }
  }

  /** The next manifest of a day. After a kill at any point, the next call ends in the same files. */
  async exportDay(day: string): Promise<Manifest> {
    const { store, blobs, events } = this.#parts
    const known = await store.manifestOf(day)
    const before = known && manifestIn(known)
    const last = await store.lastManifest()
    const number = (before?.number ?? 0) + 1
    const found = await this.#foundIn(day, number)
    const claimed = await store.claimCorrections(day, number)
    const sealed = before === undefined ? await store.sealedHours(day) : []
    const written = found ?? (await this.#write(day, { before, last, number, claimed, sealed }))
    const manifest = manifestIn(written)
    if (manifest.sequence !== (last?.sequence ?? 0) + 1 || manifest.previous !== (last?.sha256 ?? null))
      throw new LakeProblem(
        `${manifestName(day, number)} follows another manifest than the last one of this database: it is of a newer ledger than this one`,
      )
    const difference = before === undefined ? sealedDifference(hoursIn(manifest), sealed) : undefined
    if (difference !== undefined)
      throw new LakeProblem(`${manifestName(day, number)} is not what was sealed: ${difference}`)
    if (found === undefined)
      await blobs.put(manifestName(day, number), new TextEncoder().encode(written.text))
    await store.record(manifest, written)
    events.exported(day, manifest)
    return manifest
  }

  /** A manifest of this number that a node wrote and did not live to record. */
  async #foundIn(day: string, number: number): Promise<WrittenManifest | undefined> {
    const { blobs, signer, hashing } = this.#parts
    const name = manifestName(day, number)
    const bytes = await bytesOf(blobs, name)
    if (bytes === undefined) return undefined
    const text = new TextDecoder().decode(bytes)
    const read = readSigned(text)
    if (read === undefined || signer.verify(manifestText(read.manifest), read.signature) !== 'good')
      throw new LakeProblem(`${name} is in the bucket and was not signed by this install`)
    return { text, sha256: hashing.sha256(bytes) }
  }

  async #write(
    day: string,
    known: {
      readonly before: Manifest | undefined
      readonly last: { readonly sequence: number; readonly sha256: string } | undefined
      readonly number: number
      readonly claimed: number
      readonly sealed: readonly { readonly hourMs: number }[]
    },
  ): Promise<WrittenManifest> {
    const { signer, hashing } = this.#parts
    const { before, last, number, claimed, sealed } = known
    const files: ManifestFile[] = []
    const hours = sealed.map(({ hourMs }) => hourMs)
    const entries =
      before === undefined ? await this.#writeFiles(day, { kind: 'entries' }, hours, files, 1) : undefined
    const firstNumber = 1 + (before?.files.filter(({ kind }) => kind === 'corrections').length ?? 0)
    const rows: ExportedRows = { kind: 'corrections', manifest: number }
    const corrections =
      claimed > 0 ? await this.#writeFiles(day, rows, [Date.parse(day)], files, firstNumber) : undefined
    if (corrections !== undefined && corrections.sums.entries !== BigInt(claimed))
      throw new LakeProblem(
        `${claimed} corrections of ${day} have ${corrections.sums.entries} entries in the ledger`,
      )
    const manifest = manifestOf({ day, before, last, files, entries, corrections })
    const text = signedText(manifest, signer.sign(manifestText(manifest)))
    return { text, sha256: hashing.sha256(new TextEncoder().encode(text)) }
  }

  /** `starts`: of the hours to read, or of the day. */
  async #writeFiles(
    day: string,
    rows: ExportedRows,
    starts: readonly number[],
    files: ManifestFile[],
    firstNumber: number,
  ): Promise<LedgerTotals> {
    const { blobs, store, nodeId } = this.#parts
    const writer = this.#parts.files.write()
    let number = firstNumber
    const keep = async (file: LedgerFile): Promise<void> => {
      const name = fileName(day, rows.kind, number)
      number += 1
      const { sha256, rows: count, firstId, lastId } = file
      files.push({
        name,
        kind: rows.kind,
        rows: count,
        bytes: file.bytes.length,
        sha256,
        first_id: firstId,
        last_id: lastId,
      })
      await blobs.put(name, file.bytes)
      if (!(await store.hold(nodeId))) throw new StoreUnreachable('another node exports the ledger')
    }
    try {
      for await (const page of this.#pages(rows, starts)) {
        const file = await writer.take(page)
        if (file !== undefined) await keep(file)
      }
      const { file, totals } = await writer.end()
      if (file !== undefined) await keep(file)
      return totals
    } finally {
      await writer.discard()
    }
  }

  /** The next page is read while one is written. */
  async *#pages(rows: ExportedRows, starts: readonly number[]): AsyncGenerator<EntryPage> {
    const { store } = this.#parts
    const lengthMs = rows.kind === 'entries' ? HOUR_MS : DAY_MS
    for (const fromMs of starts) {
      const span = { fromMs, endMs: fromMs + lengthMs }
      let next: Promise<EntryPage> | undefined = store.page(rows, span, undefined, PAGE_ROWS)
      while (next !== undefined) {
        if (this.#isStopped) throw new StoreUnreachable('this node stops')
        const page: EntryPage = await next
        next = page.rows < PAGE_ROWS ? undefined : store.page(rows, span, lastOf(page), PAGE_ROWS)
        // Its failure is that of the next turn.
        next?.catch(() => {})
        if (page.rows > 0) yield page
      }
    }
  }

  /** Oldest first: what PostgreSQL keeps has no gap. */
  async #drop(): Promise<void> {
    const { store, clock, isClockSteady, keepDays, events } = this.#parts
    if (keepDays === 'forever' || !isClockSteady()) return
    const beforeMs = (await clock.storeMs()) - keepDays * DAY_MS
    for (;;) {
      const partition = await store.oldestPartition()
      if (partition === undefined || partition.endMs > beforeMs || this.#isStopped) return
      for (const { day } of partition.days) if (await store.hasCorrections(day)) await this.exportDay(day)
      const current = await store.oldestPartition()
      if (current?.name !== partition.name) return
      for (const { manifest } of current.days) await this.#verify(manifest)
      const outcome = await store.dropPartition(current)
      if (outcome === 'has other entries')
        throw new LakeProblem(`${partition.name} has entries that its files lack: it is not dropped`)
      if (outcome !== 'dropped') return
      events.dropped(partition.name)
    }
  }

  async #verify(written: WrittenManifest): Promise<void> {
    const { store, nodeId } = this.#parts
    const problem = await verifyDay(written, this.#parts, () => store.hold(nodeId))
    if (problem !== undefined) throw new LakeProblem(problem)
  }
}

function manifestIn({ text }: WrittenManifest): Manifest {
  const read = readSigned(text)
  if (read === undefined) throw new LakeProblem('a manifest of the ledger can not be read')
  return read.manifest
}

function lastOf({ request_ids: ids, attempts, kinds, rows }: EntryPage): EntryPlace {
  const hex = Uint8Array.fromBase64(ids ?? '')
    .subarray(-16)
    .toHex()
  const requestId = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  const bytes = Uint8Array.fromBase64(attempts ?? '')
  const attempt = Number(new DataView(bytes.buffer).getBigInt64((rows - 1) * 8))
  return { requestId, attempt, kind: (JSON.parse(kinds ?? '[]') as string[])[rows - 1] ?? '' }
}
