/** Runs in a separate process: reads files of requests, line by line, as their bytes arrive. */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { chunkListText } from '#core/files/chunk-list.ts'
import { FileScanner, type ScannedId } from '#core/files/scan.ts'
import type { ReadFile } from '#ports/file-scan.ts'
import { serve } from '#thread/serve.ts'
import { RepeatedIds } from './repeated-ids.ts'

const folder = process.argv[2]
if (folder === undefined) throw new Error('the process that reads files needs a folder for their names')
const namesFolder = folder

function textOf(bytes: Uint8Array): string | undefined {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  return isUtf8(line) ? line.toString('utf8') : undefined
}

class Reading {
  readonly #scanner = new FileScanner(textOf)
  readonly #ids = new RepeatedIds(namesFolder)
  readonly #sha256 = createHash('sha256')
  readonly #md5 = createHash('md5')

  push(segment: Uint8Array): void {
    this.#sha256.update(segment)
    this.#md5.update(segment)
    this.#note(this.#scanner.push(segment))
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

/** Undefined when the process that read the first `at` bytes of this file has ended. */
function readingOf(id: number, at: number): Reading | undefined {
  const known = readings.get(id)
  if (known !== undefined || at > 0) return known
  const reading = new Reading()
  readings.set(id, reading)
  return reading
}

function close(id: number): void {
  readings.get(id)?.close()
  readings.delete(id)
}

/** A file, and how many of its bytes were pushed before. */
interface Place {
  readonly id: number
  readonly at: number
}

const works = {
  push({ id, at, segment }: Place & { readonly segment: Uint8Array }): true | undefined {
    const reading = readingOf(id, at)
    reading?.push(segment)
    return reading && true
  },
  finish({ id, at }: Place): ReadFile | undefined {
    try {
      return readingOf(id, at)?.finish()
    } finally {
      close(id)
    }
  },
  discard: close,
}

export type FileScanWorks = typeof works
serve(works)
