/** The file of a backup: written once, read several times, and checked before it is used. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { once } from 'node:events'
import { open, type FileHandle } from 'node:fs/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { TableReport, WriteLine } from '#ports/backup.ts'
import { BackupProblem, FORMAT, inFiles, readLine, type BackupHead, type Line } from './backup-format.ts'

/** A backup contains the ledger and the digests of keys: only its owner may read it. */
const OWNER_ONLY = 0o600
/** A row with the longest trace, or a part of an image, has far less. */
const MAX_LINE_BYTES = 64 * 1024 * 1024
const NEWLINE = 10

/** A new file that only its owner may read; an existing file is not overwritten. The caller closes it. */
export function openBackupFile(path: string): Promise<FileHandle> {
  return open(path, 'wx+', OWNER_ONLY)
}

/** Resolves once the file is complete, with the SHA-256 of its bytes: what `sha256sum` prints for a copy of it. */
export async function writeBackupFile(
  file: FileHandle,
  work: (write: WriteLine) => Promise<void>,
): Promise<string> {
  const gzip = createGzip()
  const hash = createHash('sha256')
  const full = new AbortController()
  const writing = async (): Promise<void> => {
    for await (const part of gzip as AsyncIterable<Buffer>) {
      hash.update(part)
      await file.writeFile(part)
    }
  }
  // A line that waits for room must not wait for a file that failed.
  const written = writing().finally(() => full.abort())
  // It is awaited below, after the work.
  written.catch(() => {})
  try {
    await work(async (line) => {
      if (!gzip.write(`${line}\n`)) await once(gzip, 'drain', { signal: full.signal })
    })
    gzip.end()
  } catch (error) {
    gzip.destroy(error as Error)
  }
  // Rejects with the first error: of the disk, or of the work.
  await written
  return hash.digest('hex')
}

export async function* linesOf(path: string): AsyncGenerator<{ readonly text: string; readonly line: Line }> {
  const file = createReadStream(path)
  const gunzip = createGunzip()
  file.on('error', (error) => gunzip.destroy(error))
  let rest: Buffer[] = []
  let restBytes = 0
  try {
    for await (const chunk of file.pipe(gunzip) as AsyncIterable<Buffer>) {
      let from = 0
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        const text = Buffer.concat([...rest, chunk.subarray(from, at)]).toString()
        ;[rest, restBytes, from] = [[], 0, at + 1]
        yield { text, line: readLine(text) }
      }
      rest.push(chunk.subarray(from))
      restBytes += chunk.length - from
      if (restBytes > MAX_LINE_BYTES) throw new BackupProblem('a line is longer than any of a backup')
    }
  } catch (error) {
    throw isOfGzip(error) ? new BackupProblem('it is cut, or not a gzip file') : error
  } finally {
    file.destroy()
  }
}

function isOfGzip(error: unknown): boolean {
  return /^(?:Z_|ERR_)/.test((error as NodeJS.ErrnoException).code ?? '')
}

export interface CheckedBackup {
  readonly head: BackupHead
  readonly tables: readonly TableReport[]
  readonly blobs: number
}

/** Reads the whole file once: a truncated or changed file is refused before anything is restored from it. */
export async function checkBackupFile(path: string): Promise<CheckedBackup> {
  let head: BackupHead | undefined
  let hash = createHash('sha256')
  let rows = 0
  let blobs = 0
  const tables: TableReport[] = []
  for await (const { text, line } of linesOf(path)) {
    if (head === undefined && line.kind !== 'head') throw new BackupProblem('it is not a backup of Torana')
    switch (line.kind) {
      case 'head':
        head = line.head
        if (head.torana_backup !== FORMAT)
          throw new BackupProblem(`its format is ${head.torana_backup}; this version reads ${FORMAT}`)
        break
      case 'table':
        hash = createHash('sha256')
        rows = 0
        break
      case 'row':
        hash.update(`${text}\n`)
        rows += 1
        break
      case 'end': {
        const sha256 = hash.digest('hex')
        if (sha256 !== line.end.sha256 || rows !== line.end.rows)
          throw new BackupProblem(`the rows of ${line.end.end} were changed`)
        tables.push({ table: line.end.end, rows, sha256, ...inFiles(line.end.in_files_before) })
        break
      }
      case 'blob':
        if (line.blob.from === undefined) blobs += 1
        break
      case 'complete':
        if (head !== undefined && line.complete.tables === tables.length) return { head, tables, blobs }
        throw new BackupProblem('tables are missing')
    }
  }
  throw new BackupProblem('it is cut: its last line is missing')
}
