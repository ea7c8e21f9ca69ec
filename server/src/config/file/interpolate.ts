/**
 * References to environment variables inside a text: `${VAR}`, `${VAR:-default}`, `${VAR:?message}`, and `$$` for a literal
 * dollar. A dollar before anything else is just a dollar. The value of a variable is not searched for references.
 */
import type { VariableValue } from './variable.ts'

export type Interpolation = { readonly text: string } | { readonly problems: readonly string[] }

const PIECE = /\$\$|\$\{([^{}]*)\}|\$\{/g
const REFERENCE = /^([A-Za-z_][A-Za-z0-9_]*)(?::([-?])(.*))?$/s

export function holdsReference(text: string): boolean {
  return text.replaceAll('$$', '').includes('${')
}

/** The names of all variables that a text refers to. */
export function referencesIn(text: string): string[] {
  const inside = Array.from(text.matchAll(PIECE), ([, reference]) => REFERENCE.exec(reference ?? '')?.[1])
  return inside.filter((name) => name !== undefined)
}

export function interpolate(text: string, lookUp: (name: string) => VariableValue): Interpolation {
  const problems: string[] = []
  const result = text.replaceAll(PIECE, (piece, inside: string | undefined) => {
    if (piece === '$$') return '$'
    const reference = inside === undefined ? null : REFERENCE.exec(inside)
    if (!reference) {
      problems.push(
        `"${piece}" is not a variable: write \${VAR}, \${VAR:-default} or \${VAR:?message} (without braces in the default), or $$ for a dollar`,
      )
      return ''
    }
    const [, name = '', operator, rest = ''] = reference
    const found = lookUp(name)
    if ('problem' in found) {
      problems.push(found.problem)
      return ''
    }
    if (operator === '-') return found.value || rest
    if (operator === '?' && !found.value) problems.push(`${name} is not set: ${rest || 'it must be'}`)
    else if (found.value === undefined) {
      problems.push(
        `${name} is not set: set ${name} or ${name}_FILE, or write a default as in \${${name}:-default}`,
      )
    }
    return found.value ?? ''
  })
  return problems.length > 0 ? { problems } : { text: result }
}
