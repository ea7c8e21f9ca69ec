/** Which project pays for a run of a playground, or owns a new key, until the person chooses: never just the first of a list. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { shellQueries } from '../api/queries/shell.ts'
import { useSession } from './session.ts'
import { remember, remembered } from './stored.ts'

/** The project in scope, else the last one used, else the only one. Undefined: the person must choose. */
export function defaultProject(
  names: readonly string[],
  scope: string | undefined,
  last = remembered('last-project'),
): string | undefined {
  return names.find((name) => name === scope) ?? names.find((name) => name === last) ?? onlyOne(names)
}

export function rememberProject(name: string): void {
  remember('last-project', name)
}

const NO_NAMES: readonly string[] = []

/** `names` is undefined until the projects are known. */
export function usePayingProject(scope: string | undefined) {
  const { projects: own } = useSession()
  const listed = useQuery(shellQueries.projects())
  const names = listed.data?.data.map(({ name }) => name) ?? own ?? undefined
  const [chosen, setChosen] = useState<{ readonly name: string; readonly scope: string | undefined }>()
  const choice = chosen !== undefined && chosen.scope === scope ? chosen.name : undefined
  const project = names?.find((name) => name === choice) ?? defaultProject(names ?? NO_NAMES, scope)
  return { names, project, setProject: (name: string) => setChosen({ name, scope }), error: listed.error }
}

function onlyOne(names: readonly string[]): string | undefined {
  return names.length === 1 ? names[0] : undefined
}
