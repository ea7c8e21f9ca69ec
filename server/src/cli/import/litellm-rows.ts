/** Exports of keys and teams: what LiteLLM's API answers (JSON), or its tables as CSV. */
import { isMapping, listOf, type Fields } from './litellm-read.ts'
import type { Place } from './notes.ts'

export interface Row {
  readonly place: Place
  readonly fields: Fields
}

/** Throws a `SyntaxError` for text that is neither. */
export function readRows(name: string, text: string): Row[] {
  return /^\s*[[{]/.test(text) ? jsonRows(name, text) : csvRows(name, text)
}

/** A list, or an answer that holds one; entries may be bare hashes. */
function jsonRows(name: string, text: string): Row[] {
  const data: unknown = JSON.parse(text)
  const list = isMapping(data)
    ? [data['keys'], data['teams'], data['info'], data['data'], [data]].find(Array.isArray)
    : data
  return listOf(list).map((item, index) => ({
    place: `${name}[${index}]`,
    fields: isMapping(item) ? item : { token: item },
  }))
}

function csvRows(name: string, text: string): Row[] {
  const [head, ...rows] = csvRecords(text)
  const columns = head?.cells.map((cell) => cell.trim()) ?? []
  return rows.map(({ line, cells }) => ({
    place: `${name}:${line}`,
    fields: Object.fromEntries(columns.map((column, index) => [column, cells[index]])),
  }))
}

interface CsvRecord {
  readonly line: number
  readonly cells: string[]
}

/** RFC 4180: cells in double quotes hold commas, newlines and doubled quotes. Empty lines are skipped. */
export function csvRecords(text: string): CsvRecord[] {
  const records: CsvRecord[] = []
  let cells: string[] = []
  let line = 1
  let startLine = 1
  const pattern = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r?\n|\r|$)/y
  // A byte order mark is no part of the first column's name.
  const plain = text.replace(/^\uFEFF/, '')
  while (pattern.lastIndex < plain.length || cells.length > 0) {
    const match = pattern.exec(plain)
    if (!match) throw new SyntaxError(`line ${line}: a quote that does not end, or text behind one that does`)
    const [whole, quoted, bare = '', end] = match
    cells.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'))
    line += whole.match(/\r?\n|\r/g)?.length ?? 0
    if (end === ',') continue
    if (cells.some((cell) => cell !== '')) records.push({ line: startLine, cells })
    cells = []
    startLine = line
  }
  return records
}

/** A list as JSON, as PostgreSQL writes arrays (`{a,"b c"}`), or as it is. */
export function namesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.filter((name) => typeof name === 'string')
  const text = typeof value === 'string' ? value.trim() : ''
  if (text.startsWith('[')) {
    try {
      return namesOf(JSON.parse(text))
    } catch (error) {
      if (error instanceof SyntaxError) return []
      throw error
    }
  }
  const inside = /^\{(.*)\}$/s.exec(text)?.[1]
  if (inside === undefined) return text === '' ? [] : [text]
  return [...inside.matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/g)].map(
    ([, quoted, bare = '']) => quoted?.replaceAll(/\\(.)/g, '$1') ?? bare.trim(),
  )
}
