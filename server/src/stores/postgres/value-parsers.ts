/** Values of the database as those of JavaScript. */
import { types } from 'pg'

/**
 * By type number. Money is a bigint and stays exact. A calendar day and a time without a zone stay text: as a `Date` they would
 * depend on the time zone of this machine. pg itself reads `timestamptz` as a `Date` and leaves `numeric` as text.
 */
const PARSERS = new Map<number, (text: string) => unknown>([
  [20, BigInt], // int8
  [1016, (text) => text.slice(1, -1).split(',').filter(Boolean).map(readBigint)], // int8[]
  [1082, String], // date
  [1114, String], // timestamp
])

export function findParser(type: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return PARSERS.get(type) ?? types.getTypeParser(type, format)
}

function readBigint(text: string): bigint | null {
  return text === 'NULL' ? null : BigInt(text)
}
