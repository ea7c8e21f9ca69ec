/** Reads a YAML file into plain data that still knows the position of each value. */
import { basename } from 'node:path'
import { CST, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, Parser } from 'yaml'
import type { Document, Pair, Scalar, YAMLMap } from 'yaml'
import { holdsReference, interpolate } from './interpolate.ts'
import { pathText } from './problem.ts'
import type { Path, Report } from './problem.ts'
import type { VariableValue } from './variable.ts'

export interface Source {
  readonly data: unknown
  readonly report: Report
  /** Whether the value came out of a `${VAR}`: such a value is text, and must not be shown. */
  readonly isInterpolated: (path: Path) => boolean
}

/**
 * Inside `{ }` YAML reads the braces of `${VAR}` as a nested mapping. These characters replace YAML's own ones within a
 * reference while the text is parsed: one for one, so that positions stay true, and noncharacters of Unicode, which no file
 * may hold.
 */
const YAML_MARKS = '{}[],#:'
const STAND_INS = '\uFDD0\uFDD1\uFDD2\uFDD3\uFDD4\uFDD5\uFDD6'

export const hide = (text: string) =>
  text.replaceAll(/\$\{[^{}\n]*\}/g, (reference) =>
    reference.replaceAll(/[{}[\],#:]/g, (mark) => STAND_INS.charAt(YAML_MARKS.indexOf(mark))),
  )
export const reveal = (text: string) =>
  // Nearly every text has none, and there may be a million.
  /[\uFDD0-\uFDD6]/.test(text)
    ? text.replaceAll(/[\uFDD0-\uFDD6]/g, (standIn) => YAML_MARKS.charAt(STAND_INS.indexOf(standIn)))
    : text

/** Without `lookUp` dollars mean nothing, as in the built-in facts. */
export function parseSource(name: string, text: string, lookUp?: (name: string) => VariableValue): Source {
  const lines = new LineCounter()
  // Repeated keys are found by the walk below, which knows their paths.
  const document = parseDocument(hide(text), { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
  const report = reportOn(name, document, lines)
  const interpolated = new WeakSet<Scalar>()
  const source = (data: unknown): Source => ({
    data,
    report,
    isInterpolated: (path) => {
      const found = find(document, path).node
      const node = isAlias(found) ? found.resolve(document) : found
      return isScalar(node) && interpolated.has(node)
    },
  })

  // Unknown tags come as warnings; read as plain text they would silently mean something else.
  const syntax = [...document.errors, ...document.warnings]
  const standIn = text.search(/[\uFDD0-\uFDD6]/)
  if (standIn >= 0) report.at(standIn, 'has an invalid Unicode character. Is this a text file?')
  const unclosed = syntax.length > 0 ? findUnclosed(hide(text)) : undefined
  if (unclosed !== undefined) {
    const { offset, mark } = unclosed
    report.at(offset, `this ${mark} is never closed${excerpt(text, lines, offset)}`)
    return source(undefined)
  }
  // One mistake often has two errors at one place: the first one says it.
  const first = syntax.filter(
    ({ pos }, index) => !syntax.slice(0, index).some((one) => one.pos[0] === pos[0]),
  )
  for (const error of first)
    report.at(
      error.pos[0],
      `${PLAIN.get(error.code) ?? reveal(error.message)}${excerpt(text, lines, error.pos[0])}`,
    )
  if (syntax.length > 0) return source(undefined)

  /** Of the node that is walked: one list for all of them, because there may be a million. */
  const path: (string | number)[] = []

  function walk(node: unknown): void {
    if (isScalar(node) && typeof node.value === 'string') {
      const revealed = reveal(node.value)
      node.value = revealed
      if (lookUp && revealed.includes('$')) resolve(node as Scalar<string>, lookUp)
    } else if (isMap(node)) {
      const seen = new Set<string>()
      for (const pair of node.items) {
        const key = keyOf(pair)
        path.push(key)
        if (isScalar(pair.key) && typeof pair.key.value === 'string') pair.key.value = key
        if (!isScalar(pair.key)) report.problem([...path], 'keys must be plain text', 'key')
        else if (lookUp && holdsReference(key))
          report.problem([...path], 'a key cannot contain a variable; only values can', 'key')
        else if (seen.has(key)) report.at(pair.key.range?.[0] ?? 0, 'appears twice: keep one', [...path])
        seen.add(key)
        walk(pair.value)
        path.pop()
      }
    } else if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) {
        path.push(index)
        walk(item)
        path.pop()
      }
    }
  }

  function resolve(scalar: Scalar<string>, find: (name: string) => VariableValue): void {
    const result = interpolate(scalar.value, find)
    if ('problems' in result) report.problem([...path], result.problems.join('; '))
    else {
      if (holdsReference(scalar.value)) interpolated.add(scalar)
      scalar.value = result.text
    }
  }

  walk(document.contents)
  try {
    return source(document.toJS())
  } catch (error) {
    report.at(0, error instanceof Error ? error.message : String(error))
    return source(undefined)
  }
}

/** The innermost `{` or `[` without its end: what the parser says instead is about the line where it gave up. */
function findUnclosed(text: string): { readonly offset: number; readonly mark: string } | undefined {
  let innermost: { readonly offset: number; readonly mark: string } | undefined
  for (const document of new Parser().parse(text)) {
    if (document.type !== 'document') continue
    CST.visit(document, ({ value }) => {
      if (value?.type !== 'flow-collection') return
      const { source: mark, offset } = value.start
      const end = mark === '{' ? 'flow-map-end' : 'flow-seq-end'
      if (value.end[0]?.type !== end) innermost = { offset, mark }
    })
  }
  return innermost
}

const INDENTATION = 'check the indentation: the fields of one mapping start in the same column'
/** For errors that the parser explains in the words of its own functions. */
const PLAIN: ReadonlyMap<string, string> = new Map([
  ['BLOCK_AS_IMPLICIT_KEY', INDENTATION],
  ['BAD_INDENT', INDENTATION],
  ['MULTIPLE_DOCS', 'the file has several documents: keep one'],
  ['TAB_AS_INDENT', 'a tab cannot indent: use spaces'],
])

/**
 * The faulty line with its neighbours, since the indentation of one of them is often the mistake. Only the names of fields
 * are shown: problems are logged, and values may be credentials.
 */
function excerpt(text: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset)
  const all = text.split(/\r?\n/)
  const shown = [line - 1, line, line + 1].flatMap((number) => {
    const content = all[number - 1]
    if (content === undefined || content.trim() === '') return []
    const mark = number === line && col <= MAX_SHOWN ? [`      | ${' '.repeat(col - 1)}^`] : []
    return [`${String(number).padStart(5)} | ${withoutValue(content)}`, ...mark]
  })
  return ['', ...shown].join('\n')
}

/** Characters of a line that are shown: a terminal's width. */
const MAX_SHOWN = 100

/** A tab takes one column, so that the mark points at it. */
function withoutValue(line: string): string {
  const [, indentation = '', field = ''] = /^(\s*)((?:- )?[\w./-]+:(?=\s|$))?/.exec(line) ?? []
  const hasMore = indentation.length + field.length < line.trimEnd().length
  return `${indentation}${field}${hasMore ? ' …' : ''}`.slice(0, MAX_SHOWN).replaceAll('\t', '→')
}

interface PlacedText {
  readonly offset: number
  readonly text: string
}

function reportOn(name: string, document: Document, lines: LineCounter) {
  const problems: PlacedText[] = []
  const warnings: PlacedText[] = []
  const paths = new Map<string, Path>()
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), col: Math.max(1, col) }
  }
  const line = (offset: number, path: Path, message: string) => {
    const { line, col } = place(offset)
    return {
      offset,
      text: `${name}:${line}:${col}${path.length > 0 ? ` ${pathText(path)}` : ''}: ${message}`,
    }
  }
  const inOrder = (list: PlacedText[]) => list.toSorted((a, b) => a.offset - b.offset).map(({ text }) => text)
  return {
    at(offset: number, message: string, path: Path = []) {
      problems.push(line(offset, path, message))
    },
    problem(path, message, at = 'value') {
      if (paths.has(pathText(path))) return
      paths.set(pathText(path), path)
      const found = find(document, path)
      problems.push(line(at === 'key' ? found.keyOffset : found.offset, path, message))
    },
    warning: (path, message) => void warnings.push(line(find(document, path).offset, path, message)),
    isBroken: (path) =>
      [...paths.values()].some((broken) => path.every((step, index) => broken[index] === step)),
    // Only the name of the file: its folder is not disclosed.
    place: (path) => `${basename(name)}:${place(find(document, path).keyOffset).line}`,
    problems: () => inOrder(problems),
    warnings: () => inOrder(warnings),
  } satisfies Report & { at(offset: number, message: string, path?: Path): void }
}

/** The value at a path, or the nearest existing thing around it: for a missing field, its parent. */
function find(document: Document, path: Path): { node: unknown; offset: number; keyOffset: number } {
  let node: unknown = document.contents
  let offset = 0
  let keyOffset = 0
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document)
    if (isMap(node)) {
      const pair = pairsOf(node).get(String(step))
      if (!pair) return { node: undefined, offset: keyOffset, keyOffset }
      keyOffset = startOf(pair.key) ?? keyOffset
      node = pair.value
    } else if (isSeq(node) && typeof step === 'number' && step < node.items.length) {
      node = node.items[step]
      keyOffset = startOf(node) ?? keyOffset
    } else return { node: undefined, offset: keyOffset, keyOffset }
    // A block starts one line below its name; the name is the better place.
    const isBlock = (isMap(node) || isSeq(node)) && !node.flow
    offset = isBlock ? keyOffset : (startOf(node) ?? keyOffset)
  }
  return { node, offset, keyOffset }
}

const knownPairs = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>()

/** By key. The last of repeated keys counts. Built once, because each of many keys looks up its position. */
function pairsOf(map: YAMLMap): ReadonlyMap<string, Pair> {
  const known = knownPairs.get(map)
  if (known) return known
  const pairs = new Map(map.items.map((pair) => [keyOf(pair), pair]))
  knownPairs.set(map, pairs)
  return pairs
}

/** Nothing for values that were left empty: their position is the next line's. */
function startOf(node: unknown): number | undefined {
  if (node === null || typeof node !== 'object' || !('range' in node)) return undefined
  const range = node.range as readonly number[] | null | undefined
  return range && range[0] !== range[1] ? range[0] : undefined
}

function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? reveal(String(pair.key.value)) : String(pair.key)
}
