/** Entries of dropped days, read from their files. */
import { readSigned, type Manifest, type ManifestFile } from '#core/money/lake.ts'
import { DAY_MS, HIGHEST_ID, lowestIdAt } from '#core/money/id-range.ts'
import { momentOf } from '#core/money/ledger.ts'
import type { BlobStore } from '#ports/blobs.ts'
import { LedgerFilesUnreachable, type ColdEntries, type LakeStore } from '#ports/lake.ts'
import type { LedgerFiles, LedgerFileSource, StoredEntry } from '#ports/ledger-files.ts'
import { StoreUnreachable } from '#ports/store.ts'

export interface ColdParts {
  readonly store: LakeStore
  readonly blobs: BlobStore
  readonly files: LedgerFiles
}

export class LakeReader implements ColdEntries {
  readonly #parts: ColdParts

  constructor(parts: ColdParts) {
    this.#parts = parts
  }

  async keptFromMs(): Promise<number | undefined> {
    const day = await this.#parts.store.keptFrom()
    return day === undefined ? undefined : Date.parse(day)
  }

  /** Day by day, entries and corrections of a day in one order. */
  async *entries(fromMs: number, endMs: number): AsyncGenerator<readonly StoredEntry[]> {
    for (let dayMs = Math.floor(fromMs / DAY_MS) * DAY_MS; dayMs < endMs; dayMs += DAY_MS)
      yield* this.#ofDay(dayMs, lowestIdAt(fromMs), lowestIdAt(endMs))
  }

  async ofRequest(requestId: string): Promise<readonly StoredEntry[]> {
    const moment = momentOf(requestId)
    const keptFromMs = await this.keptFromMs()
    if (keptFromMs === undefined || moment >= keptFromMs) return []
    const found: StoredEntry[] = []
    for await (const entries of this.#ofDay(moment, requestId, following(requestId))) found.push(...entries)
    return found
  }

  async *#ofDay(atMs: number, fromId: string, endId: string): AsyncGenerator<readonly StoredEntry[]> {
    const { store } = this.#parts
    const written = await store.manifestOf(new Date(atMs).toISOString().slice(0, 10))
    const manifest = written && readSigned(written.text)?.manifest
    if (manifest === undefined) return
    const within = (kind: ManifestFile['kind']): readonly ManifestFile[] =>
      manifest.files.filter((file) => file.kind === kind && file.first_id < endId && file.last_id >= fromId)
    const corrections = within('corrections').map((file) => this.#rows([file], fromId, endId))
    yield* merged([this.#rows(within('entries'), fromId, endId), ...corrections])
  }

  async *#rows(
    files: readonly ManifestFile[],
    fromId: string,
    endId: string,
  ): AsyncGenerator<readonly StoredEntry[]> {
    for (const file of files) yield* this.#parts.files.entries(this.#source(file), fromId, endId)
  }

  #source({ name, bytes }: Manifest['files'][number]): LedgerFileSource {
    const { blobs } = this.#parts
    return {
      size: bytes,
      read: (first, end) => reachable(bytesOf(blobs, name, first, end)),
    }
  }
}

/** One order of streams that have it each. What comes first of all streams goes on as it came, or row by row where they overlap. */
async function* merged(
  streams: readonly AsyncGenerator<readonly StoredEntry[]>[],
): AsyncGenerator<readonly StoredEntry[]> {
  const heads = await Promise.all(streams.map(headOf))
  for (;;) {
    const open = heads.filter(({ rows }) => rows.length > 0)
    if (open.length === 0) return
    const [first, second] = open.toSorted((left, right) => (isBefore(left.rows[0], right.rows[0]) ? -1 : 1))
    if (first === undefined) return
    const bound = second?.rows[0]
    const end = bound === undefined ? first.rows.length : first.rows.findIndex((row) => !isBefore(row, bound))
    const taken = end === -1 ? first.rows.length : Math.max(1, end)
    yield first.rows.slice(0, taken)
    first.rows = first.rows.slice(taken)
    if (first.rows.length === 0) first.rows = (await headOf(first.stream)).rows
  }
}

interface Head {
  readonly stream: AsyncGenerator<readonly StoredEntry[]>
  rows: readonly StoredEntry[]
}

/** The next rows of a stream; none at its end. */
async function headOf(stream: AsyncGenerator<readonly StoredEntry[]>): Promise<Head> {
  for (;;) {
    const { value, done } = await stream.next()
    if (done === true) return { stream, rows: [] }
    if (value.length > 0) return { stream, rows: value }
  }
}

function isBefore(left: StoredEntry | undefined, right: StoredEntry | undefined): boolean {
  if (left === undefined || right === undefined) return right === undefined
  if (left.request_id !== right.request_id) return left.request_id < right.request_id
  if (left.attempt !== right.attempt) return left.attempt < right.attempt
  return left.kind < right.kind
}

/** The id after this one. */
function following(id: string): string {
  const next = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  if (next.length > 32) return HIGHEST_ID
  return `${next.slice(0, 8)}-${next.slice(8, 12)}-${next.slice(12, 16)}-${next.slice(16, 20)}-${next.slice(20)}`
}

async function bytesOf(blobs: BlobStore, name: string, first: number, end: number): Promise<Uint8Array> {
  const blob = await blobs.open(name, { first, last: end - 1 })
  if (blob === undefined) throw new StoreUnreachable(`${name} is missing`)
  const read = new Uint8Array(end - first)
  let at = 0
  for await (const part of blob.bytes) {
    read.set(part, at)
    at += part.length
  }
  return read
}

/** An outage of the bucket is not one of PostgreSQL, and the answer says which. */
async function reachable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (error instanceof StoreUnreachable) throw new LedgerFilesUnreachable(error.message, { cause: error })
    throw error
  }
}
