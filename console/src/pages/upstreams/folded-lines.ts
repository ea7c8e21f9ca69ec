/** A long diff for a narrow panel: changed lines, the lines that say where they are, and how many are left out between. */
import type { DiffLine } from '../../api/queries/routing.ts'

export type ShownLine = { readonly line: DiffLine } | { readonly hidden: number; readonly indent: number }

/** Fewer hidden lines than this take no more room than the note that they are hidden. */
const MIN_HIDDEN = 2

export function foldedLines(lines: readonly DiffLine[]): readonly ShownLine[] {
  const kept = new Set<number>()
  lines.forEach((line, at) => {
    if (line.op === ' ') return
    kept.add(at)
    for (const parent of parentsOf(lines, at)) {
      kept.add(parent)
      for (const item of siblingsOf(lines, parent)) kept.add(item)
    }
  })
  const shown: ShownLine[] = []
  let from = 0
  while (from < lines.length) {
    let to = from
    while (to < lines.length && !kept.has(to)) to += 1
    const hidden = lines.slice(from, to)
    const [first] = hidden
    // What is before the first and behind the last kept line is not worth a note.
    const isBetween = from > 0 && to < lines.length
    if (isBetween && first !== undefined) {
      if (hidden.length < MIN_HIDDEN) shown.push(...hidden.map((line) => ({ line })))
      else shown.push({ hidden: hidden.length, indent: indentOf(first.text) })
    }
    const next = lines[to]
    if (next !== undefined) shown.push({ line: next })
    from = to + 1
  }
  return shown
}

/** The keys and list items that a line is inside of. */
function parentsOf(lines: readonly DiffLine[], at: number): readonly number[] {
  const parents: number[] = []
  let indent = indentOf(lines[at]?.text ?? '')
  for (let above = at - 1; above >= 0 && indent > 0; above -= 1) {
    const text = lines[above]?.text ?? ''
    if (text.trim() === '' || indentOf(text) >= indent) continue
    parents.push(above)
    indent = indentOf(text)
  }
  return parents
}

/** The first lines of the other items of a list: they say which one of them is changed. */
function siblingsOf(lines: readonly DiffLine[], at: number): readonly number[] {
  const indent = indentOf(lines[at]?.text ?? '')
  const isItem = (text: string): boolean => indentOf(text) === indent && text.trimStart().startsWith('- ')
  if (!isItem(lines[at]?.text ?? '')) return []
  const found: number[] = []
  for (const step of [-1, 1])
    for (let next = at + step; next >= 0 && next < lines.length; next += step) {
      const text = lines[next]?.text ?? ''
      if (text.trim() !== '' && indentOf(text) < indent) break
      if (isItem(text)) found.push(next)
    }
  return found
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length
}
