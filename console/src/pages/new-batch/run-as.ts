/** Whose name the batch runs under: a key of the project, or the person's own. */
import { useQuery } from '@tanstack/react-query'
import { keyQueries } from '../../api/queries/keys.ts'
import { words } from '../../words/words.ts'

/** Ids of keys have a slash. */
const OWN = 'own'

export interface RunAs {
  readonly options: readonly { readonly value: string; readonly label: string }[]
  readonly value: string
  /** As the API takes it. null: under the person's own name. */
  readonly key: string | null
}

export function useRunAs(project: string | undefined, chosen: string | undefined): RunAs {
  const found = useQuery({ ...keyQueries.ofProject(project ?? ''), enabled: project !== undefined })
  if (project === undefined) return { options: [], value: '', key: null }
  const keys = (found.data?.data ?? []).filter(
    ({ revoked_at: revoked, scopes }) =>
      revoked === null && (scopes === null || scopes.includes('embeddings')),
  )
  const key = keys.find(({ id }) => id === chosen)?.id ?? null
  return {
    options: [
      { value: OWN, label: words.newBatch.options.me(project) },
      ...keys.map(({ id }) => ({ value: id, label: id })),
    ],
    value: key ?? OWN,
    key,
  }
}

/** As the address has it. */
export function keyOf(value: string): string | undefined {
  return value === OWN ? undefined : value
}
