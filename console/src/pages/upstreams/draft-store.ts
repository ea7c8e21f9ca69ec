/** The pending changes of this tab: they survive a visit to another page, and each person has their own. */
import { useEffect, useSyncExternalStore } from 'react'
import { useSession } from '../../app/session.ts'
import { NO_CHANGES, type Draft } from './draft.ts'

/** By the id of the member; tokens share one. */
const drafts = new Map<string, Draft>()
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useDraft(): readonly [draft: Draft, change: (next: (before: Draft) => Draft) => void] {
  const owner = useSession().member?.id ?? ''
  const draft = useSyncExternalStore(subscribe, () => drafts.get(owner) ?? NO_CHANGES)
  const isDirty = draft.size > 0
  useEffect(() => {
    if (!isDirty) return
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [isDirty])
  const change = (next: (before: Draft) => Draft): void => {
    drafts.set(owner, next(drafts.get(owner) ?? NO_CHANGES))
    for (const listener of listeners) listener()
  }
  return [draft, change]
}
