/** What the menu of an upstream does: the key at once, everything else as a pending change. */
import { useState } from 'react'
import { useChangeSearch } from '../../app/change-search.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import type { SearchOf } from '../../app/place.ts'
import type { Checks } from './checks.ts'
import { deploymentsIn } from './deployments.ts'
import { withChange, type Change, type Draft } from './draft.ts'
import { useDraft } from './draft-store.ts'
import type { upstreams as place } from './place.ts'
import type { UpstreamActions } from './upstream-list.tsx'
import { changeOf, type UpstreamRow } from './upstream-row.ts'

const AddressDialog = lazyPart(async () => (await import('./upstream-dialogs.tsx')).AddressDialog)
const RenameDialog = lazyPart(async () => (await import('./upstream-dialogs.tsx')).RenameDialog)
const CredentialDialog = lazyPart(async () => (await import('./credential-dialog.tsx')).CredentialDialog)

type Search = SearchOf<typeof place>

export interface OpenDialog {
  readonly what: 'rename' | 'address' | 'replace' | 'forget'
  readonly name: string
}

export function useUpstreamActions(
  draft: Draft,
  checks: Checks,
  rows: readonly UpstreamRow[],
  search: Search,
): {
  readonly actions: UpstreamActions
  readonly dialog: OpenDialog | undefined
  readonly close: () => void
} {
  const [, change] = useDraft()
  const changeSearch = useChangeSearch<Search>()
  const [opened, setOpened] = useState<OpenDialog>()
  const put = (next: Change): void => change((draft) => withChange(draft, next))
  // A link from another page opens the dialog of a key.
  const linked: OpenDialog | undefined =
    search.replace !== undefined
      ? { what: 'replace', name: search.replace }
      : search.forget !== undefined
        ? { what: 'forget', name: search.forget }
        : undefined
  const nameOf = ({ upstream }: UpstreamRow): string => upstream.name
  return {
    dialog: opened ?? (linked && rows.some((row) => nameOf(row) === linked.name) ? linked : undefined),
    close: () => {
      setOpened(undefined)
      if (linked !== undefined) changeSearch({ replace: undefined, forget: undefined }, { replace: true })
    },
    actions: {
      onRename: (row) => setOpened({ what: 'rename', name: nameOf(row) }),
      onAddress: (row) => setOpened({ what: 'address', name: nameOf(row) }),
      onReplaceKey: (row) => setOpened({ what: 'replace', name: nameOf(row) }),
      onForgetKey: (row) => setOpened({ what: 'forget', name: nameOf(row) }),
      onCheck: (row) => void checks.checkOne(nameOf(row)),
      onDelete: (row) => put({ ...changeOf(row), entry: null, renameTo: undefined }),
      onUndo: (row) => put({ ...changeOf(row), entry: changeOf(row).before, renameTo: undefined }),
      usersOf: (row) => usersOf(row, draft),
    },
  }
}

/** Models that run on an upstream once the pending changes are saved. */
function usersOf({ upstream: { name, deployments } }: UpstreamRow, draft: Draft): readonly string[] {
  const pending = [...draft.values()].filter(({ object }) => object === 'model')
  const stored = deployments
    .map((id) => id.slice(0, id.lastIndexOf(`/${name}`)))
    .filter((model) => pending.every((one) => one.name !== model))
  const used = pending
    .filter(({ entry }) => deploymentsIn(entry).some((one) => one['upstream'] === name))
    .map((one) => one.name)
  return [...new Set([...stored, ...used])]
}

interface UpstreamDialogsProps {
  readonly dialog: OpenDialog | undefined
  readonly rows: readonly UpstreamRow[]
  readonly onClose: () => void
}

export function UpstreamDialogs({ dialog, rows, onClose }: UpstreamDialogsProps) {
  const [, change] = useDraft()
  const row = rows.find(({ upstream }) => upstream.name === dialog?.name)
  if (dialog === undefined || row === undefined) return null
  const shared = { row, onChange: (next: Change) => change((draft) => withChange(draft, next)), onClose }
  switch (dialog.what) {
    case 'rename':
      return <RenameDialog {...shared} taken={rows.map((one) => one.change?.renameTo ?? one.upstream.name)} />
    case 'address':
      return <AddressDialog {...shared} />
    default:
      return <CredentialDialog upstream={row.upstream} what={dialog.what} onClose={onClose} />
  }
}
