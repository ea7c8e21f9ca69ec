import type { FileScan } from '#core/files/scan-result.ts'
import { scanText } from '#core/files/scan-text.ts'
import type { Clock } from '#ports/clock.ts'
import {
  ARRIVAL_MS,
  MAX_ARRIVAL_MS,
  type ArrivedFile,
  type BegunFile,
  type DueFile,
  type FileBounds,
  type FileHold,
  type FileQuery,
  type Files,
  type FileSegment,
  type KeptByProject,
  type ListedFile,
  type OutputFile,
  type StoredFile,
} from '#ports/files.ts'

interface Row {
  readonly id: string
  readonly project: string
  readonly keyId: string
  readonly createdAtMs: number
  /** Undefined while it arrives. */
  file: StoredFile | undefined
  scan?: string
  segments: readonly FileSegment[]
  announcedBytes: number
  receivedBytes: number
  /** Of a file that arrives. */
  arrivesUntilMs: number
  isDeleted: boolean
  /** Until when, by holder. */
  readonly holds: Map<string, number>
}

/** What the store of batches knows of results. */
interface ResultsBeside {
  readonly bytesOf: (project: string) => number
  readonly isOpen: (batchId: string) => boolean
  /** They count no longer. */
  readonly forget: (batchId: string) => void
}

/** Files in memory, gone with the process. */
export class MemoryFiles implements Files {
  readonly #clock: Clock
  readonly #rows = new Map<string, Row>()
  #results: ResultsBeside = { bytesOf: () => 0, isOpen: () => false, forget() {} }

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async begin(file: BegunFile, { maxFiles, maxBytes }: FileBounds): ReturnType<Files['begin']> {
    if (this.#rows.has(file.id)) return 'begun'
    const { id, project, keyId, announcedBytes } = file
    const kept = this.keptNow(project)
    if (kept.files >= maxFiles) return 'too-many-files'
    if (kept.bytes + Math.max(1, announcedBytes) > maxBytes) return 'too-many-bytes'
    const createdAtMs = this.#clock.nowMs()
    const sizes = { announcedBytes, receivedBytes: 0, arrivesUntilMs: createdAtMs + ARRIVAL_MS }
    const row = { id, project, keyId, createdAtMs, file: undefined, isDeleted: false, holds: new Map() }
    this.#rows.set(id, { ...row, ...sizes, segments: [] })
    return 'begun'
  }

  async receive(
    id: string,
    bytes: number,
    { maxBytes }: Pick<FileBounds, 'maxBytes'>,
  ): ReturnType<Files['receive']> {
    const row = this.#rows.get(id)
    if (row === undefined || row.file !== undefined || !this.#isThere(row)) return 'over'
    const grows = Math.max(row.announcedBytes, row.receivedBytes + bytes) - countedOf(row)
    if (grows > 0 && this.keptNow(row.project).bytes + grows > maxBytes) return 'too-many-bytes'
    row.receivedBytes += bytes
    row.arrivesUntilMs = Math.min(this.#clock.nowMs() + ARRIVAL_MS, row.createdAtMs + MAX_ARRIVAL_MS)
    return 'received'
  }

  async giveBack(id: string, bytes: number): Promise<void> {
    const row = this.#rows.get(id)
    if (row !== undefined && row.file === undefined)
      row.receivedBytes = Math.max(0, row.receivedBytes - bytes)
  }

  async kept(project: string): Promise<KeptByProject> {
    return this.keptNow(project)
  }

  /** For the store of batches beside this one, whose results count for their project. */
  countResultsBy(results: ResultsBeside): void {
    this.#results = results
  }

  async arrived(id: string, arrived: ArrivedFile): Promise<StoredFile | undefined> {
    const row = this.#rows.get(id)
    if (row === undefined || !this.#isThere(row)) return undefined
    const { project, keyId, createdAtMs } = row
    const { purpose, filename, bytes, sha256, scan, segments, expiresAfterMs, keptBytes } = arrived
    const expiresAtMs = expiresAfterMs === undefined ? undefined : createdAtMs + expiresAfterMs
    const source = { kind: 'uploaded', sha256 } as const
    const text = scanText(scan)
    row.file ??= { id, project, keyId, purpose, filename, bytes, createdAtMs, expiresAtMs, source }
    row.scan = text
    row.segments = segments
    Object.assign(row, { announcedBytes: 0, receivedBytes: keptBytes })
    return row.file
  }

  async giveUp(id: string): Promise<void> {
    const row = this.#rows.get(id)
    if (row !== undefined && row.file === undefined) row.isDeleted = true
  }

  /** For stores beside this one: a file that a batch writes, within their own step. What is there already gets the new size. */
  addOutput(file: OutputFile): void {
    const { id, project, keyId, createdAtMs } = file
    const before = this.#rows.get(id)
    const isDeleted = before?.isDeleted ?? false
    const row = { id, project, keyId, createdAtMs, file, segments: [], isDeleted, holds: new Map() }
    this.#rows.set(id, { ...row, announcedBytes: 0, receivedBytes: 0, arrivesUntilMs: createdAtMs })
  }

  /** The results of a batch became fewer. Without effect where there are none. */
  resize(id: string, bytes: number): void {
    const row = this.#rows.get(id)
    if (row?.file) this.#rows.set(id, { ...row, file: { ...row.file, bytes } })
  }

  async find(id: string, project: string): Promise<StoredFile | undefined> {
    return this.#found(id, project)?.file
  }

  async scan(id: string): Promise<FileScan | undefined> {
    const text = this.#rows.get(id)?.scan
    return text === undefined ? undefined : (JSON.parse(text) as FileScan)
  }

  async segments(id: string): Promise<readonly FileSegment[]> {
    return this.#rows.get(id)?.segments ?? []
  }

  async list({ project, purpose, after, order, limit }: FileQuery): ReturnType<Files['list']> {
    if (after !== undefined && this.#found(after, project) === undefined) return undefined
    const sign = order === 'asc' ? 1 : -1
    const files = [...this.#rows.values()]
      .flatMap(({ id }) => this.#found(id, project)?.file ?? [])
      .filter((file) => purpose === undefined || file.purpose === purpose)
      .toSorted((left, right) => (left.id < right.id ? -sign : sign))
    const isBehind = ({ id }: StoredFile): boolean =>
      after === undefined || (order === 'asc' ? id > after : id < after)
    const rest = files.filter(isBehind)
    return { files: rest.slice(0, limit).map(listedOf), hasMore: rest.length > limit }
  }

  async hold(id: string, project: string, { holder, untilMs }: FileHold): Promise<StoredFile | undefined> {
    const row = this.#found(id, project)
    row?.holds.set(holder, untilMs)
    return row?.file
  }

  async release(id: string, holder: string): Promise<void> {
    this.#rows.get(id)?.holds.delete(holder)
  }

  async delete(id: string, project: string): Promise<boolean> {
    const row = this.#found(id, project)
    if (row === undefined) return false
    row.isDeleted = true
    return true
  }

  async due(limit: number): Promise<readonly DueFile[]> {
    const due = [...this.#rows.values()].filter(
      (row) => !this.#isThere(row) && !this.#isHeld(row) && !this.#isOfOpenBatch(row),
    )
    return due.slice(0, limit).map((row) => {
      const { id, project } = row
      return { id, project, batchId: batchOf(row), endsResults: this.#endsResults(row) }
    })
  }

  async forgotten(id: string): Promise<void> {
    const row = this.#rows.get(id)
    if (row === undefined) return
    const batchId = batchOf(row)
    if (batchId !== undefined && this.#endsResults(row)) this.#results.forget(batchId)
    this.#rows.delete(id)
  }

  /** For stores beside this one, within their own step. */
  keptNow(project: string): KeptByProject {
    const own = [...this.#rows.values()].filter(
      (row) => row.project === project && batchOf(row) === undefined,
    )
    const files = own.filter((row) => this.#isThere(row))
    const onDisk = own.filter((row) => this.#isThere(row) || this.#isHeld(row))
    const bytes = onDisk.reduce((sum, row) => sum + countedOf(row), this.#results.bytesOf(project))
    return { files: files.length, bytes }
  }

  #isHeld({ holds }: Row): boolean {
    return [...holds.values()].some((untilMs) => untilMs > this.#clock.nowMs())
  }

  #isOfOpenBatch(row: Row): boolean {
    const batchId = batchOf(row)
    return batchId !== undefined && this.#results.isOpen(batchId)
  }

  #endsResults(row: Row): boolean {
    const batchId = batchOf(row)
    return (
      batchId !== undefined &&
      row.isDeleted &&
      ![...this.#rows.values()].some((other) => batchOf(other) === batchId && this.#isThere(other))
    )
  }

  #found(id: string, project: string): Row | undefined {
    const row = this.#rows.get(id)
    return row?.file !== undefined && row.project === project && this.#isThere(row) ? row : undefined
  }

  #isThere({ file, isDeleted, arrivesUntilMs }: Row): boolean {
    const nowMs = this.#clock.nowMs()
    if (isDeleted) return false
    if (file === undefined) return nowMs < arrivesUntilMs
    return file.expiresAtMs === undefined || file.expiresAtMs > nowMs
  }
}

function batchOf({ file }: Row): string | undefined {
  return file?.source.kind === 'batch' ? file.source.batchId : undefined
}

function countedOf({ file, announcedBytes, receivedBytes }: Row): number {
  return Math.max(file?.bytes ?? 0, announcedBytes, receivedBytes)
}

function listedOf({
  id,
  project,
  keyId,
  bytes,
  filename,
  purpose,
  createdAtMs,
  expiresAtMs,
}: StoredFile): ListedFile {
  return { id, project, keyId, bytes, filename, purpose, createdAtMs, expiresAtMs }
}
