/** Pages of a Parquet file. hyparquet-writer's Thrift writer writes their headers. */
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { encodeText, joinBytes } from '../bytes.ts'

export const MAGIC = encodeText('PAR1')

type Compress = (plain: Uint8Array) => Uint8Array

export interface PageForm {
  readonly encoding?: 'PLAIN' | 'RLE_DICTIONARY'
  /** Undefined: the page is not compressed. */
  readonly compress?: Compress | undefined
}

/** A page with its header, and the size that it would have uncompressed. */
export interface WrittenPage {
  readonly bytes: Uint8Array
  readonly plainBytes: number
}

/** A data page of version 1, which every reader supports. */
export function dataPage(
  values: number,
  parts: readonly Uint8Array[],
  { encoding = 'PLAIN', compress }: PageForm = {},
): WrittenPage {
  return written(parts, compress, {
    type: 'DATA_PAGE',
    data_page_header: {
      num_values: values,
      encoding,
      definition_level_encoding: 'RLE',
      repetition_level_encoding: 'RLE',
    },
  })
}

export function dictionaryPage(
  values: number,
  parts: readonly Uint8Array[],
  { compress }: PageForm = {},
): WrittenPage {
  return written(parts, compress, {
    type: 'DICTIONARY_PAGE',
    dictionary_page_header: { num_values: values, encoding: 'PLAIN' },
  })
}

type PageKind = Omit<Parameters<typeof writePageHeader>[1], 'uncompressed_page_size' | 'compressed_page_size'>

function written(parts: readonly Uint8Array[], compress: Compress | undefined, kind: PageKind): WrittenPage {
  const plain = joinBytes(parts)
  const kept = compress?.(plain) ?? plain
  const header = new ByteWriter()
  writePageHeader(header, {
    ...kind,
    uncompressed_page_size: plain.length,
    compressed_page_size: kept.length,
  })
  const head = header.getBytes()
  return { bytes: joinBytes([head, kept]), plainBytes: head.length + plain.length }
}

export function withLength(bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(4 + bytes.length)
  new DataView(whole.buffer).setUint32(0, bytes.length, true)
  whole.set(bytes, 4)
  return whole
}

/** Run-length encoding of one value of at most eight bits: the count as a varint, then the value. */
export function run(count: number, value: number): Uint8Array {
  return Uint8Array.from([...varint(count * 2), value])
}

/** Values of `width` bits each, at most 24, as one run of groups of eight. */
export function packed(values: ArrayLike<number>, width: number): Uint8Array {
  const groups = Math.ceil(values.length / 8)
  const head = varint(groups * 2 + 1)
  const bytes = new Uint8Array(head.length + groups * width)
  bytes.set(head)
  let [at, held, bits] = [head.length, 0, 0]
  for (let index = 0; index < values.length; index += 1) {
    held |= (values[index] as number) << bits
    bits += width
    for (; bits >= 8; bits -= 8) {
      bytes[at] = held & 0xff
      at += 1
      held >>>= 8
    }
  }
  if (bits > 0) bytes[at] = held & 0xff
  return bytes
}

export function varint(value: number): readonly number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return [...bytes, rest]
}
