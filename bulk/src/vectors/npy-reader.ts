/** Reads the rows of a NumPy matrix of float32 or float16, a block at a time. */
import { open } from 'node:fs/promises'
import { CommandProblem } from '../command-problem.ts'

const MAGIC = Buffer.from('\x93NUMPY', 'latin1')
/** The longest header: version 1 has two bytes for its length. */
const MAX_HEAD_BYTES = 65_536 + 10
const BLOCK_BYTES = 4 * 1024 * 1024

export async function* npyRows(file: string): AsyncGenerator<Float32Array> {
  await using handle = await open(file).catch(() => {
    throw new CommandProblem(`There is no file ${file}.`)
  })
  const head = Buffer.alloc(MAX_HEAD_BYTES)
  const { bytesRead } = await handle.read(head, 0, head.length, 0)
  const { numberBytes, rows, width, dataAt } = headerOf(head.subarray(0, bytesRead), file)
  const rowBytes = width * numberBytes
  const perBlock = Math.max(1, Math.floor(BLOCK_BYTES / rowBytes))
  for (let first = 0; first < rows; first += perBlock) {
    const count = Math.min(perBlock, rows - first)
    // New memory for each block: rows are views of it.
    const block = new Uint8Array(count * rowBytes)
    const { bytesRead: read } = await handle.read(block, 0, block.length, dataAt + first * rowBytes)
    if (read !== block.length) throw new CommandProblem(`${file} ends before its ${rows} rows do.`)
    for (let row = 0; row < count; row += 1)
      yield numberBytes === 4
        ? new Float32Array(block.buffer, row * rowBytes, width)
        : Float32Array.from(new Float16Array(block.buffer, row * rowBytes, width))
  }
}

function headerOf(head: Buffer, file: string) {
  const refused = (why: string) =>
    new CommandProblem(`${file} ${why}. Save a matrix of float32 or float16 with numpy.save.`)
  if (!head.subarray(0, MAGIC.length).equals(MAGIC)) throw refused('is no NumPy file')
  const isFirstVersion = head[MAGIC.length] === 1
  const textAt = isFirstVersion ? 10 : 12
  const length = isFirstVersion ? head.readUInt16LE(8) : head.readUInt32LE(8)
  const text = head.toString('latin1', textAt, textAt + length)
  const descr = /'descr': *'([^']*)'/.exec(text)?.[1] ?? ''
  const [, rows, width] = /'shape': *\((\d+), *(\d+),?\)/.exec(text) ?? []
  const numberBytes = descr === '<f4' ? 4 : descr === '<f2' ? 2 : undefined
  if (numberBytes === undefined) throw refused(`holds numbers of the type ${descr || 'unknown'}`)
  if (rows === undefined || Number(width) < 1) throw refused('holds no matrix')
  if (!text.includes("'fortran_order': False")) throw refused('is in column order')
  return { numberBytes, rows: Number(rows), width: Number(width), dataAt: textAt + length }
}
