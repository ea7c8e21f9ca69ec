import type { Clock } from '#ports/clock.ts'
import {
  ARRIVAL_MS,
  type ArrivedFile,
  type BegunFile,
  type DueFile,
  type FileBounds,
  type FileHold,
  type FileQuery,
  type Files,
  type FileSegment,
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
  segments: readonly FileSegment[]
  isDeleted: boolean
  /** Until when, by holder. */
  readonly holds: Map<string, number>
}

/** Files in memory, gone with the process. */
export class MemoryFiles implements Files {
  readonly #clock: Clock
  readonly #rows = new Map<string, Row>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async begin(file: BegunFile, { maxFiles, maxBytes }: FileBounds): ReturnType<Files['begin']> {
    if (this.#rows.has(file.id)) return 'begun'
    const own = [...this.#rows.values()].filter(
      (row) => row.project === file.project && row.file?.source.kind !== 'batch' && this.#isThere(row),
    )
    if (own.length >= maxFiles) return 'too-many-files'
    if (own.reduce((sum, row) => sum + (row.file?.bytes ?? 0), 0) >= maxBytes) return 'too-many-bytes'
    const createdAtMs = this.#clock.nowMs()
    const { id, project, keyId } = file
    const row = { id, project, keyId, createdAtMs, file: undefined, isDeleted: false, holds: new Map() }
    this.#rows.set(id, { ...row, segments: [] })
    return 'begun'
  }

  async arrived(id: string, arrived: ArrivedFile): Promise<StoredFile | undefined> {
    const row = this.#rows.get(id)
    if (row === undefined || !this.#isThere(row)) return undefined
    const { project, keyId, createdAtMs } = row
    const { purpose, filename, bytes, sha256, scan, segments, expiresAfterMs } = arrived
    const expiresAtMs = expiresAfterMs === undefined ? undefined : createdAtMs + expiresAfterMs
    const source = { kind: 'uploaded', sha256, scan } as const
    row.file ??= { id, project, keyId, purpose, filename, bytes, createdAtMs, expiresAtMs, source }
    row.segments = segments
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
    this.#rows.set(id, { id, project, keyId, createdAtMs, file, segments: [], isDeleted, holds: new Map() })
  }

  /** The results of a batch became fewer. Without effect where there are none. */
  resize(id: string, bytes: number): void {
    const row = this.#rows.get(id)
    if (row?.file) this.#rows.set(id, { ...row, file: { ...row.file, bytes } })
  }

  async find(id: string, project: string): Promise<StoredFile | undefined> {
    return this.#found(id, project)?.file
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
    const nowMs = this.#clock.nowMs()
    const due = [...this.#rows.values()].filter(
      (row) => !this.#isThere(row) && [...row.holds.values()].every((untilMs) => untilMs <= nowMs),
    )
    return due.slice(0, limit).map(({ id, project, file }) => {
      return { id, project, batchId: file?.source.kind === 'batch' ? file.source.batchId : undefined }
    })
  }

  async forgotten(id: string): Promise<void> {
    this.#rows.delete(id)
  }

  #found(id: string, project: string): Row | undefined {
    const row = this.#rows.get(id)
    return row?.file !== undefined && row.project === project && this.#isThere(row) ? row : undefined
  }

  #isThere({ file, isDeleted, createdAtMs }: Row): boolean {
    const nowMs = this.#clock.nowMs()
    if (isDeleted) return false
    if (file === undefined) return nowMs - createdAtMs < ARRIVAL_MS
    return file.expiresAtMs === undefined || file.expiresAtMs > nowMs
  }
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
