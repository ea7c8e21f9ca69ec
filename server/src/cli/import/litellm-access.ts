/** Which models a key may use: the lists of key and team, in Torana's names. */

export interface KnownModels {
  /** LiteLLM's names that callers may go on using, aliases included. */
  readonly names: ReadonlySet<string>
  readonly accessGroups: ReadonlyMap<string, readonly string[]>
}

/** `none` is not an empty list: in both files that would mean all models. */
export type Allowed = 'all' | 'none' | readonly string[]

export function allowedModels(key: readonly string[], team: readonly string[], known: KnownModels): Allowed {
  const ofTeam = oneList(team, 'all', known)
  const ofKey = oneList(key, ofTeam, known)
  if (ofKey === 'all') return ofTeam
  if (ofTeam === 'all' || ofKey === 'none') return ofKey
  const both = ofTeam === 'none' ? [] : ofKey.filter((name) => ofTeam.includes(name))
  return both.length === 0 ? 'none' : both
}

function oneList(list: readonly string[], ofTeam: Allowed, { names, accessGroups }: KnownModels): Allowed {
  if (list.length === 0 || list.includes('all-proxy-models') || list.includes('*')) return 'all'
  if (list.includes('all-team-models')) return ofTeam
  const found = list.flatMap((name) => (names.has(name) ? [name] : (accessGroups.get(name) ?? [])))
  return found.length === 0 ? 'none' : [...new Set(found)]
}
