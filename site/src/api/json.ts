/** JSON as a person writes it: what fits a line is on one line. */

/** Lines of code are not longer, so that they fit the column. */
const MAX_LINE_CHARACTERS = 56

export function jsonText(value: unknown, indent = ''): string {
  const short = inline(value)
  if (indent !== '' && indent.length + short.length <= MAX_LINE_CHARACTERS) return short
  if (typeof value !== 'object' || value === null) return short
  const inner = `${indent}  `
  const isList = Array.isArray(value)
  const lines = isList
    ? value.map((item) => `${inner}${jsonText(item, inner)}`)
    : Object.entries(value).map(([name, item]) => `${inner}${JSON.stringify(name)}: ${jsonText(item, inner)}`)
  const [open, close] = isList ? '[]' : '{}'
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${inline(item)}`)
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}
