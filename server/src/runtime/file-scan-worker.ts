/** Runs in a worker thread: reads files of requests, line by line, as their bytes arrive. */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { workerData } from 'node:worker_threads'
import { chunkListText } from '#core/files/chunk-list.ts'
import { FileScanner, type ScannedId } from '#core/files/scan.ts'
import type { ReadFile } from '#ports/file-scan.ts'
import { serve } from '#thread/serve.ts'
import { RepeatedIds } from './repeated-ids.ts'

export interface ScanFolder {
  readonly folder: string
}

const { folder } = workerData as ScanFolder

function textOf(bytes: Uint8Array): string | undefined {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  return isUtf8(line) ? line.toString('utf8') : undefined
}

class Reading {
  readonly #scanner = new FileScanner(textOf)
  readonly #ids = new RepeatedIds(folder)
  readonly #sha256 = createHash('sha256')
  readonly #md5 = createHash('md5')

  push(piece: Uint8Array): void {
    this.#sha256.update(piece)
    this.#md5.update(piece)
    this.#note(this.#scanner.push(piece))
  }

  finish(): ReadFile {
    this.#note(this.#scanner.end())
    const { lines, count } = this.#ids.repeated()
    const { scan, chunks } = this.#scanner.result(lines, count)
    const [sha256, md5] = [this.#sha256.digest('hex'), this.#md5.digest('hex')]
    return { sha256, md5, scan, chunkList: chunkListText(chunks) }
  }

  close(): void {
    this.#ids.close()
  }

  #note(ids: readonly ScannedId[]): void {
    for (const { customId, line } of ids) this.#ids.add(customId, line)
  }
}

const readings = new Map<number, Reading>()

function readingOf(id: number): Reading {
  const reading = readings.get(id)
  if (reading === undefined) throw new Error('the thread that read the beginning of this file has ended')
  return reading
}

function close(id: number): void {
  readings.get(id)?.close()
  readings.delete(id)
}

const works = {
  begin: (id: number): void => void readings.set(id, new Reading()),
  push({ id, piece }: { readonly id: number; readonly piece: Uint8Array<ArrayBuffer> }): void {
    readingOf(id).push(piece)
    // The collector may be long in coming.
    piece.buffer.transfer(0)
  },
  finish(id: number): ReadFile {
    try {
      return readingOf(id).finish()
    } finally {
      close(id)
    }
  },
  discard: close,
}

export type FileScanWorks = typeof works
serve(works)
