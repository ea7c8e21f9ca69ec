/** What was typed, as texts in groups. Pure, with tests. */
import { inputOfLine, nameOfInput, type LineInput } from './content-lines.ts'

/** The texts of one run: more would not fit on a map, and the worker holds all pairs of them. */
export const MAX_TEXTS = 500

export interface TypedTexts {
  /** What each input is called: its text, or the name of its image. */
  readonly texts: readonly string[]
  readonly inputs: readonly LineInput[]
  /** For each input the number of its line, from 0. */
  readonly lineOf: readonly number[]
  /** For each text the place of its group in `groups`; −1: it is in none. */
  readonly groupOf: readonly number[]
  readonly groups: readonly TextGroup[]
  /** For each line that names a group, the place of it. By the number of the line, from 0. */
  readonly heads: ReadonlyMap<number, number>
}

interface TextGroup {
  readonly name: string
  readonly count: number
}

/** One text a line; a line that starts with `#` names the group of those after it, and `#` alone ends it. */
export function typedTexts(typed: string): TypedTexts {
  const inputs: LineInput[] = []
  const lineOf: number[] = []
  const groupOf: number[] = []
  const names = new Map<string, number>()
  const counts: number[] = []
  const heads = new Map<number, number>()
  let group = -1
  for (const [number, line] of typed.split(/\r\n|\r|\n/).entries()) {
    const text = line.trim()
    if (text === '') continue
    if (text.startsWith('#')) {
      const name = text.slice(1).trim()
      group = name === '' ? -1 : (names.get(name) ?? names.size)
      if (group >= 0) {
        names.set(name, group)
        heads.set(number, group)
      }
      continue
    }
    inputs.push(inputOfLine(text))
    lineOf.push(number)
    groupOf.push(group)
    if (group >= 0) counts[group] = (counts[group] ?? 0) + 1
  }
  const groups = Array.from(names.keys(), (name, place) => ({ name, count: counts[place] ?? 0 }))
  return { texts: inputs.map(nameOfInput), inputs, lineOf, groupOf, groups, heads }
}

/** A table with a text and, where it has one, a label in each row, as the lines that one would type. */
export function linesOfCsv(csv: string): string {
  const rows = csvRows(csv).filter((row) => row.some((cell) => cell.trim() !== ''))
  const [head] = rows
  const isHead = head !== undefined && head.some((cell) => /^(?:text|content|input)$/i.test(cell.trim()))
  const textAt = isHead
    ? Math.max(
        0,
        head.findIndex((cell) => /^(?:text|content|input)$/i.test(cell.trim())),
      )
    : 0
  const found = isHead ? head.findIndex((cell) => /^(?:label|group|class|category)$/i.test(cell.trim())) : 1
  const labelAt = found === textAt ? -1 : found
  const groups = new Map<string, string[]>()
  for (const row of isHead ? rows.slice(1) : rows) {
    const text = oneLine(row[textAt] ?? '')
    if (text === '') continue
    const label = labelAt < 0 ? '' : oneLine(row[labelAt] ?? '')
    const group = groups.get(label) ?? []
    // A text that starts with # would name a group.
    group.push(text.replace(/^#+\s*/, ''))
    groups.set(label, group)
  }
  const none = groups.get('') ?? []
  groups.delete('')
  return [...none, ...Array.from(groups, ([label, texts]) => [`#${label}`, ...texts]).flat()].join('\n')
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** Commas, semicolons or tabs, whichever its first line has most of; quotes as RFC 4180 has them. */
function csvRows(csv: string): string[][] {
  const firstLine = csv.split('\n', 1)[0] ?? ''
  const separator = [',', ';', '\t'].toSorted(
    (a, b) => firstLine.split(b).length - firstLine.split(a).length,
  )[0]
  const rows: string[][] = [[]]
  let cell = ''
  let isQuoted = false
  for (let at = 0; at < csv.length; at++) {
    const letter = csv[at]
    if (isQuoted) {
      if (letter !== '"') cell += letter
      else if (csv[at + 1] === '"') {
        cell += '"'
        at++
      } else isQuoted = false
    } else if (letter === '"' && cell === '') isQuoted = true
    else if (letter === separator) {
      rows.at(-1)?.push(cell)
      cell = ''
    } else if (letter === '\n') {
      rows.at(-1)?.push(cell.replace(/\r$/, ''))
      rows.push([])
      cell = ''
    } else cell += letter
  }
  rows.at(-1)?.push(cell)
  return rows
}
