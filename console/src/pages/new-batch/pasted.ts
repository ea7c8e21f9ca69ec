/** Pasted text as a file. Pure, tested. */

export const PASTED_FORMS = ['csv', 'jsonl', 'lines'] as const
export type PastedForm = (typeof PASTED_FORMS)[number]

/** The form that the first lines show, until the person chooses another. */
export function formOf(text: string): PastedForm {
  const [first = '', second = ''] = text.trim().split(/\r?\n/, 2)
  if (isObject(first)) return 'jsonl'
  // A header is short names; the row below it has the same separator.
  const [separator] = /[,;\t]/.exec(first) ?? []
  const names = first.split(separator ?? ',').map((name) => name.trim())
  const isHeader = names.every((name) => /^"?[\p{L}_][\p{L}\p{N}_ -]{0,40}"?$/u.test(name))
  if (separator !== undefined && isHeader && second.includes(separator)) return 'csv'
  return /^"?(?:text|content|input|document)"?$/i.test(first.trim()) ? 'csv' : 'lines'
}

export function fileOfText(text: string, form: PastedForm, name: string): File {
  if (form === 'jsonl') return new File([text], `${name}.jsonl`, { type: 'application/x-ndjson' })
  const rows = form === 'csv' ? text : csvOfLines(text)
  return new File([rows], `${name}.csv`, { type: 'text/csv' })
}

/** One text a line, under the name of a column that Torana takes for the text. */
function csvOfLines(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return ['text', ...lines.map((line) => `"${line.replaceAll('"', '""')}"`)].join('\n')
}

function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
