/** Every byte of every type, compared with sentence-transformers, numpy and pgvector. */
import { execFileSync, type StdioOptions } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { typedOf, type TypeView } from '../../../server/src/core/embedding/vector-types/view.ts'

const PACKAGE = 'sentence-transformers==6.2.0'

/** Where the Python with numpy is, and the package without what it needs: torch alone would be two gigabytes. */
function preparedPython(cache: string): { readonly python: string; readonly packages: string } {
  const folder = join(cache, 'python')
  const packages = join(cache, 'packages')
  const python = join(folder, 'bin', 'python')
  if (!existsSync(packages)) {
    mkdirSync(cache, { recursive: true })
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
    const options = { cwd: import.meta.dirname, stdio: ['ignore', 2, 2] as StdioOptions }
    execFileSync('python3', ['-m', 'venv', folder], options)
    execFileSync(python, [...pip, '-r', 'requirements.txt'], options)
    execFileSync(python, [...pip, '--no-deps', '--target', packages, PACKAGE], options)
  }
  return { python, packages }
}

export interface Equality {
  readonly type: string
  readonly against: string
  readonly vectors: number
  readonly differing: number
}

export function comparedWithPython(cache: string, count: number): readonly Equality[] {
  const { python, packages } = preparedPython(cache)
  const out = join(cache, 'made')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out)
  execFileSync(python, [join(import.meta.dirname, 'quantize.py'), packages, out, String(count)], {
    stdio: ['ignore', 2, 2],
  })
  const { rows, width, values } = matrixIn(join(out, 'vectors.npy'))
  const views: readonly TypeView[] = [
    { type: 'binary', scale: 'gt0' },
    { type: 'ubinary', scale: 'gt0' },
    { type: 'float16' },
  ]
  return views.map((view) => {
    const expected = bytesIn(join(out, `${view.type}.npy`))
    const rowBytes = expected.length / rows
    let differing = 0
    for (let row = 0; row < rows; row += 1) {
      const typed = typedOf(values.subarray(row * width, (row + 1) * width), view)
      const own = Buffer.from(typed.buffer, typed.byteOffset, typed.byteLength)
      if (!own.equals(expected.subarray(row * rowBytes, (row + 1) * rowBytes))) differing += 1
    }
    const against = view.type === 'float16' ? 'numpy' : 'quantize_embeddings'
    return { type: view.type, against, vectors: rows, differing }
  })
}

const ROWS_PER_QUERY = 1000

/** pgvector reads the numbers as text, so they are its own float32 before they are quantised. */
export async function comparedWithPgvector(cache: string, count: number): Promise<Equality> {
  const { width, values } = matrixIn(join(cache, 'made', 'vectors.npy'))
  const database = await PGlite.create({ extensions: { vector } })
  await database.exec('CREATE EXTENSION vector')
  let differing = 0
  for (let first = 0; first < count; first += ROWS_PER_QUERY) {
    const own = Array.from({ length: Math.min(ROWS_PER_QUERY, count - first) }, (_, index) =>
      values.subarray((first + index) * width, (first + index + 1) * width),
    )
    const { rows } = await database.query<{ readonly bits: string }>(
      'SELECT binary_quantize(text::vector)::text AS bits FROM unnest($1::text[]) WITH ORDINALITY AS given (text, place) ORDER BY place',
      [own.map((vector) => `[${vector.join()}]`)],
    )
    for (const [index, vector] of own.entries()) {
      const bytes = typedOf(vector, { type: 'ubinary', scale: 'gt0' })
      const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
      if (rows[index]?.bits !== bits) differing += 1
    }
  }
  await database.close()
  return { type: 'ubinary', against: 'binary_quantize of pgvector', vectors: count, differing }
}

const HEAD_LENGTH_AT = 8

function bytesIn(file: string): Buffer {
  const bytes = readFileSync(file)
  return bytes.subarray(HEAD_LENGTH_AT + 2 + bytes.readUInt16LE(HEAD_LENGTH_AT))
}

function matrixIn(file: string) {
  const head = readFileSync(file).toString('latin1', 0, 200)
  const [, rows, width] = /'shape': \((\d+), (\d+)\)/.exec(head) ?? []
  const bytes = new Uint8Array(bytesIn(file))
  return { rows: Number(rows), width: Number(width), values: new Float32Array(bytes.buffer) }
}
