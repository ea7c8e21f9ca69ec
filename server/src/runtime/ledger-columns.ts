/** The columns of ledger files, and the pages of a store as their values. */
import type { ColumnValues, TableColumn } from 'torana-bulk/table'
import type { EntryPage } from '#ports/ledger-files.ts'

/** Of all columns: `long` where a sum may be large. */
export const LEDGER_COLUMNS = [
  { name: 'request_id', type: 'uuid', isRequired: true },
  { name: 'attempt', type: 'integer', isRequired: true },
  { name: 'kind', type: 'text', isRequired: true },
  { name: 'call_id', type: 'uuid', isRequired: true },
  { name: 'node_id', type: 'uuid', isRequired: true },
  { name: 'project', type: 'text', isRequired: true },
  { name: 'key_id', type: 'text', isRequired: true },
  { name: 'model', type: 'text', isRequired: true },
  { name: 'deployment', type: 'text', isRequired: true },
  { name: 'usage', type: 'text', isRequired: true },
  { name: 'tokens', type: 'long', isRequired: false },
  { name: 'images', type: 'integer', isRequired: true },
  { name: 'amount_nano', type: 'long', isRequired: false },
  { name: 'requests', type: 'integer', isRequired: false },
  { name: 'inputs', type: 'integer', isRequired: false },
  { name: 'hits', type: 'integer', isRequired: false },
  { name: 'saved_nano', type: 'long', isRequired: false },
  { name: 'unknown_nano', type: 'long', isRequired: false },
  { name: 'batch_id', type: 'text', isRequired: false },
  { name: 'end_user', type: 'text', isRequired: false },
  { name: 'tags', type: 'text', isRequired: false },
  { name: 'remarks', type: 'text', isRequired: false },
  { name: 'written_at', type: 'time', isRequired: true },
] as const satisfies readonly TableColumn[]
type LedgerColumn = (typeof LEDGER_COLUMNS)[number]['name']

/** Microseconds between 1970 and 2000, from which PostgreSQL counts. */
const POSTGRES_EPOCH_US = 946_684_800_000_000n

/** Ids of a page: 16 bytes each. */
function idsOf(base64: string | null): Buffer {
  return Buffer.from(base64 ?? '', 'base64')
}

/** Numbers of a page as little-endian longs. The smallest number stands for null. */
class Longs {
  readonly bytes: Uint8Array
  readonly #low: Uint32Array
  readonly #high: Int32Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#low = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
    this.#high = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  }

  static read(base64: string | null): Longs {
    // A copy at the start of a buffer: a part of the shared pool may begin anywhere.
    const bytes = new Uint8Array(Buffer.from(base64 ?? '', 'base64'))
    Buffer.from(bytes.buffer).swap64()
    return new Longs(bytes)
  }

  get length(): number {
    return this.bytes.length / 8
  }

  isNull(row: number): boolean {
    return this.#high[row * 2 + 1] === -0x80_00_00_00 && this.#low[row * 2] === 0
  }

  /** Undefined for null. Exact up to 2^53, a bigint beyond. */
  at(row: number): number | bigint | undefined {
    const high = this.#high[row * 2 + 1] as number
    const low = this.#low[row * 2] as number
    if (high === -0x80_00_00_00 && low === 0) return undefined
    if (high < 0x20_00_00 && high >= -0x20_00_00) return high * 0x1_00_00_00_00 + low
    return (BigInt(high) << 32n) | BigInt(low)
  }
}

/** A page, decoded. */
export interface DecodedPage {
  readonly rows: number
  readonly ids: Readonly<Record<'request_id' | 'call_id' | 'node_id', Buffer>>
  readonly longs: Readonly<
    Record<'attempt' | 'tokens' | 'images' | 'amount_nano' | 'requests' | 'inputs' | 'written_at', Longs>
  >
  readonly texts: Readonly<
    Record<'kind' | 'project' | 'key_id' | 'model' | 'deployment' | 'usage', readonly string[]>
  >
  readonly sparse: Readonly<
    Record<'hits' | 'saved_nano' | 'unknown_nano' | 'batch_id' | 'end_user' | 'tags' | 'remarks', Sparse>
  >
}

/** Values as texts, by their row. */
type Sparse = ReadonlyMap<number, string>

export function decoded(page: EntryPage): DecodedPage {
  const texts = (json: string | null): readonly string[] => JSON.parse(json ?? '[]') as string[]
  const sparse = (json: string | null): Sparse =>
    new Map(json === null ? [] : (JSON.parse(json) as [number, string][]))
  const written = Longs.read(page.written_at)
  const micros = new BigInt64Array(written.bytes.buffer)
  for (let row = 0; row < micros.length; row += 1) micros[row] = (micros[row] as bigint) + POSTGRES_EPOCH_US
  return {
    rows: page.rows,
    ids: {
      request_id: idsOf(page.request_ids),
      call_id: idsOf(page.call_ids),
      node_id: idsOf(page.node_ids),
    },
    longs: {
      attempt: Longs.read(page.attempts),
      tokens: Longs.read(page.tokens),
      images: Longs.read(page.images),
      amount_nano: Longs.read(page.amounts),
      requests: Longs.read(page.requests),
      inputs: Longs.read(page.inputs),
      written_at: written,
    },
    texts: {
      kind: texts(page.kinds),
      project: texts(page.projects),
      key_id: texts(page.key_ids),
      model: texts(page.models),
      deployment: texts(page.deployments),
      usage: texts(page.usages),
    },
    sparse: {
      hits: sparse(page.hits),
      saved_nano: sparse(page.saved),
      unknown_nano: sparse(page.unknown_amounts),
      batch_id: sparse(page.batch_ids),
      end_user: sparse(page.end_users),
      tags: sparse(page.tags),
      remarks: sparse(page.remarks),
    },
  }
}

/** The values of all columns of a row group, which is made of whole pages. */
export function valuesOf(pages: readonly DecodedPage[]): readonly ColumnValues[] {
  const rows = pages.reduce((sum, page) => sum + page.rows, 0)
  return LEDGER_COLUMNS.map(({ name, type, isRequired }) => {
    if (type === 'uuid')
      return idValues(
        pages.map(({ ids }) => ids[name]),
        name === 'request_id',
      )
    if (isDense(name))
      return longValues(
        pages.map(({ longs }) => longs[name]),
        rows,
        type,
        isRequired,
      )
    if (type === 'text' && isRequired) return textValues(pages.flatMap(({ texts }) => texts[name]))
    return sparseValues(pages, name, rows, type)
  })
}

type SparseColumn = keyof DecodedPage['sparse']

function isDense(name: LedgerColumn): name is keyof DecodedPage['longs'] {
  return DENSE.has(name)
}
const DENSE: ReadonlySet<string> = new Set([
  'attempt',
  'tokens',
  'images',
  'amount_nano',
  'requests',
  'inputs',
  'written_at',
] satisfies (keyof DecodedPage['longs'])[])

function idValues(parts: readonly Buffer[], isOrdered: boolean): ColumnValues {
  const bytes = Buffer.concat(parts)
  return isOrdered
    ? { bytes, bounds: { lowest: bytes.subarray(0, 16), highest: bytes.subarray(-16) } }
    : { bytes }
}

function longValues(
  parts: readonly Longs[],
  rows: number,
  type: 'integer' | 'long' | 'time' | 'text',
  isRequired: boolean,
): ColumnValues {
  const width = type === 'integer' ? 4 : 8
  const bytes = new Uint8Array(rows * width)
  const words = new Int32Array(bytes.buffer)
  const present = isRequired ? undefined : new Uint8Array(rows)
  let [row, values] = [0, 0]
  for (const part of parts) {
    const own = new Int32Array(part.bytes.buffer, part.bytes.byteOffset, part.bytes.length / 4)
    for (let at = 0; at < part.length; at += 1, row += 1) {
      if (present !== undefined) {
        if (part.isNull(at)) continue
        present[row] = 1
      }
      if (width === 4) words[values] = own[at * 2] as number
      else {
        words[values * 2] = own[at * 2] as number
        words[values * 2 + 1] = own[at * 2 + 1] as number
      }
      values += 1
    }
  }
  return { bytes: bytes.subarray(0, values * width), present: values === rows ? undefined : present }
}

function textValues(texts: readonly string[], present?: Uint8Array): ColumnValues {
  const known = new Map<string, number>()
  const places = new Uint32Array(texts.length)
  for (const [row, text] of texts.entries()) {
    let place = known.get(text)
    if (place === undefined) {
      place = known.size
      known.set(text, place)
    }
    places[row] = place
  }
  return { dictionary: [...known.keys()], places, present }
}

function sparseValues(
  pages: readonly DecodedPage[],
  name: SparseColumn,
  rows: number,
  type: 'integer' | 'long' | 'time' | 'text',
): ColumnValues {
  const present = new Uint8Array(rows)
  const values: string[] = []
  let first = 0
  for (const { rows: own, sparse } of pages) {
    for (const [row, value] of sparse[name]) {
      present[first + row] = 1
      values.push(value)
    }
    first += own
  }
  if (type === 'text') return textValues(values, present)
  const bytes =
    type === 'integer'
      ? new Uint8Array(Int32Array.from(values, Number).buffer)
      : new Uint8Array(BigInt64Array.from(values, BigInt).buffer)
  return { bytes, present }
}
