/** Columns as PostgreSQL array literals. A driver would quote every value; here only text needs it, and it repeats. */

/** More distinct names than models, keys and deployments in one batch; beyond it a quoted form is made anew. */
const QUOTED_MAX = 20_000
const quotedForms = new Map<string, string>()

export function textArray(values: readonly string[]): string {
  let literal = '{'
  for (let index = 0; index < values.length; index += 1)
    literal += (index === 0 ? '' : ',') + quoted(values[index] as string)
  return `${literal}}`
}

/** Numbers, UUIDs and other values that need no quotes; undefined is NULL. */
export function plainArray(values: readonly (string | number | bigint | undefined)[]): string {
  let literal = '{'
  for (let index = 0; index < values.length; index += 1)
    literal += `${index === 0 ? '' : ','}${values[index] ?? 'NULL'}`
  return `${literal}}`
}

function quoted(text: string): string {
  const known = quotedForms.get(text)
  if (known !== undefined) return known
  // PostgreSQL knows no NUL in text.
  const form = `"${text.replaceAll('\0', '').replaceAll(/["\\]/g, (character) => `\\${character}`)}"`
  if (quotedForms.size >= QUOTED_MAX) quotedForms.clear()
  quotedForms.set(text, form)
  return form
}
