/** Columns as PostgreSQL array literals. A driver would quote every value; here only text is quoted, and quoted forms are cached. */

/** Cached quoted forms: more than the models, keys and deployments of one batch. Beyond it, texts are quoted each time. */
const MAX_QUOTED = 20_000
const quotedForms = new Map<string, string>()

export function textArray(values: readonly string[]): string {
  let literal = '{'
  for (let index = 0; index < values.length; index += 1)
    literal += (index === 0 ? '' : ',') + quoted(values[index] as string)
  return `${literal}}`
}

/** For numbers, UUIDs and other values that need no quotes; undefined is NULL. */
export function plainArray(values: readonly (string | number | bigint | undefined)[]): string {
  let literal = '{'
  for (let index = 0; index < values.length; index += 1)
    literal += `${index === 0 ? '' : ','}${values[index] ?? 'NULL'}`
  return `${literal}}`
}

function quoted(text: string): string {
  const known = quotedForms.get(text)
  if (known !== undefined) return known
  // PostgreSQL texts cannot contain NUL.
  const form = `"${text.replaceAll('\0', '').replaceAll(/["\\]/g, (character) => `\\${character}`)}"`
  if (quotedForms.size >= MAX_QUOTED) quotedForms.clear()
  quotedForms.set(text, form)
  return form
}
