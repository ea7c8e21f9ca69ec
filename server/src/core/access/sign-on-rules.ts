/** From an identity provider's claims about a person to that person's role. */
import { ROLES, type Role } from './permission.ts'

/** A person with this value in the claim has the role. */
export interface SignOnRule {
  /** A name, or a path such as `realm_access.roles`. */
  readonly claim: string
  /** One value of the claim. `*`: any. */
  readonly value: string
  readonly role: Role
  /** Of a developer. null: all. */
  readonly projects: readonly string[] | null
}

export type Claims = Readonly<Record<string, unknown>>

export interface Standing {
  readonly role: Role
  /** null: all. */
  readonly projects: readonly string[] | null
}

/**
 * Of all matching rules, the highest role counts, so their order does not matter. A developer has the projects of all
 * matching rules for developers. Undefined: none matches.
 */
export function standingOf(claims: Claims, rules: readonly SignOnRule[]): Standing | undefined {
  const fitting = rules.filter((rule) => fits(claims, rule))
  const role = ROLES.findLast((one) => fitting.some((rule) => rule.role === one))
  if (role === undefined) return undefined
  if (role !== 'developer') return { role, projects: null }
  return { role, projects: [...new Set(fitting.flatMap(({ projects }) => projects ?? []))].sort() }
}

function fits(claims: Claims, { claim, value }: SignOnRule): boolean {
  const found = claimAt(claims, claim)
  const values = Array.isArray(found) ? (found as readonly unknown[]) : [found]
  return values.some((one) => {
    const text = textOf(one)
    return text !== undefined && (value === '*' || text === value)
  })
}

/** The claim of that name; otherwise the name is a path into nested claims. Names of claims may contain dots themselves. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  let found: unknown = claims
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Claims)[name]
  }
  return found
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
