/** A folder as one compressed file: how the package ships a prepared database. */
import {
  closeSync,
  createReadStream,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { constants, createZstdDecompress, zstdCompressSync } from 'node:zlib'

/** In the order of the bytes that follow. A folder has no size, and comes before its contents. */
interface Entry {
  readonly path: string
  readonly size?: number
}

const LENGTH_BYTES = 4

export function packFolder(folder: string): Buffer {
  const entries: Entry[] = []
  const contents: Buffer[] = []
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
  for (const found of names.sort((one, other) => (pathOf(one) < pathOf(other) ? -1 : 1))) {
    const path = pathOf(found).slice(folder.length + 1)
    if (found.isDirectory()) {
      entries.push({ path })
      continue
    }
    const bytes = readFileSync(pathOf(found))
    entries.push({ path, size: bytes.length })
    contents.push(bytes)
  }
  const list = Buffer.from(JSON.stringify(entries))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(list.length)
  // Packed once, read by every installation.
  const params = { [constants.ZSTD_c_compressionLevel]: 19 }
  return zstdCompressSync(Buffer.concat([length, list, ...contents]), { params })
}

/** The folder must not exist yet. Only its user may read it. It is read in parts, since it has some forty megabytes. */
export async function unpackFolder(file: string, folder: string): Promise<void> {
  const bytes = new Bytes(createReadStream(file).pipe(createZstdDecompress()))
  const length = await bytes.read(LENGTH_BYTES)
  const list = await bytes.read(length.readUInt32BE(0))
  mkdirSync(folder, { mode: 0o700 })
  for (const { path, size } of JSON.parse(list.toString()) as readonly Entry[]) {
    if (size === undefined) {
      mkdirSync(join(folder, path), { mode: 0o700 })
      continue
    }
    const handle = openSync(join(folder, path), 'wx', 0o600)
    try {
      for await (const part of bytes.take(size)) writeSync(handle, part)
    } finally {
      closeSync(handle)
    }
  }
}

/** A stream that is read by a given number of bytes. */
class Bytes {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  async *take(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0;) {
      if (this.#rest.length === 0) {
        const next = await this.#chunks.next()
        if (next.done) throw new Error('the packed folder ends too early')
        this.#rest = next.value
      }
      const part = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(part.length)
      left -= part.length
      yield part
    }
  }

  async read(count: number): Promise<Buffer> {
    return Buffer.concat(await Array.fromAsync(this.take(count)))
  }
}

function pathOf({ parentPath, name }: { readonly parentPath: string; readonly name: string }): string {
  return join(parentPath, name)
}
