/** The pending change of one model: its entry as it will be saved, beside the one that is stored. */
import type { Routing } from '../../api/queries/routing.ts'
import { useMay } from '../../app/session.ts'
import { words } from '../../words/words.ts'
import { deploymentsIn } from './deployments.ts'
import { keyOf, withChange } from './draft.ts'
import { useDraft } from './draft-store.ts'
import { identityOf, withValue, type Entry } from './entry.ts'
import { lockedBy } from './upstream-row.ts'

export interface ModelEdit {
  readonly model: string
  /** null: nothing is stored of it, or it is deleted. */
  readonly entry: Entry | null
  readonly before: Entry | null
  /** Why nothing of it can be changed by this person. */
  readonly forbidden: string | undefined
  /** Why the settings of the model can't be changed here. Deployments can be added all the same. */
  readonly locked: string | undefined
  readonly set: (path: readonly string[], value: unknown) => void
  readonly setDeployment: (key: string, path: readonly string[], value: unknown) => void
  readonly setDeployments: (deployments: readonly Entry[]) => void
  /** As it is stored. */
  readonly undo: () => void
}

export function useModelEdit(routing: Routing): ModelEdit {
  const [draft, change] = useDraft()
  const may = useMay()
  const { model: name } = routing
  const pending = draft.get(keyOf({ object: 'model', name }))
  const entry = pending === undefined ? routing.entry : pending.entry
  const before = pending === undefined ? routing.entry : pending.before
  const put = (next: Entry | null): void =>
    change((draft) =>
      withChange(draft, {
        object: 'model',
        name,
        base: pending === undefined ? routing.revision : pending.base,
        before,
        entry: next,
      }),
    )
  const setDeployments = (deployments: readonly Entry[]): void =>
    // A model without deployments is none.
    put(deployments.length === 0 ? null : { ...entry, deployments })
  const forbidden = may('upstreams.write') ? undefined : words.routing.onlyAdmins
  return {
    model: name,
    entry,
    before,
    forbidden,
    locked: forbidden ?? lockedBy(routing.source),
    set: (path, value) => put(withValue(entry ?? {}, path, value)),
    setDeployment: (key, path, value) =>
      setDeployments(
        deploymentsIn(entry).map((one) => (identityOf(one) === key ? withValue(one, path, value) : one)),
      ),
    setDeployments,
    undo: () => put(before),
  }
}
