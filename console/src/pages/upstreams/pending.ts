/** The pending changes as a whole: what they would do, saving them, and what to do when another admin saved first. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { FaultError } from '../../api/faults.ts'
import { routingQueries, type ConfigurationChange, type Preview } from '../../api/queries/routing.ts'
import { useWrite } from '../../api/write.ts'
import { failureText } from '../../ui/failure.ts'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import {
  bodyOf,
  changesOf,
  countOf,
  keyOf,
  NO_CHANGES,
  rebased,
  type Change,
  type Draft,
  type Stored,
} from './draft.ts'
import { useDraft } from './draft-store.ts'

export interface Pending {
  readonly draft: Draft
  readonly count: number
  readonly preview: Preview | undefined
  /** The preview answers an earlier set of changes. */
  readonly isStale: boolean
  readonly previewError: unknown
  readonly busy: boolean
  /** Who changed what in the meantime. Saving is refused until the changes are rebased. */
  readonly conflict: string | undefined
  readonly problem: string | undefined
  /** Why it can't be saved now. */
  readonly why: string | undefined
  readonly save: () => Promise<void>
  readonly discard: () => void
  readonly rebase: () => Promise<void>
}

/** One types on while the node checks. */
const PAUSE_MS = 250

/** What shows upstreams and models. */
export const TOUCHED = {
  touches: [
    '/api/v1/upstreams',
    '/api/v1/routing/{model}',
    '/api/v1/models',
    '/api/v1/deployments',
    '/api/v1/prices',
    '/api/v1/credentials',
  ],
} as const

export function usePending(): Pending {
  const [draft, change] = useDraft()
  const readStored = useReadStored()
  const write = useWrite('post', '/api/v1/configuration/changes', TOUCHED)
  const [problem, setProblem] = useState<string>()
  const [conflict, setConflict] = useState<string>()
  const asked = useSettled(draft)
  const preview = useQuery({ ...routingQueries.preview(asked), enabled: asked.length > 0 })
  const count = countOf(draft)
  const isStale = preview.isPlaceholderData || asked.length !== draft.size || preview.isFetching
  const say = words.routing.changes
  const discard = (): void => {
    setProblem(undefined)
    setConflict(undefined)
    change(() => NO_CHANGES)
  }
  return {
    draft,
    count,
    preview: count === 0 ? undefined : (preview.data ?? undefined),
    isStale,
    previewError: preview.error,
    busy: write.busy,
    conflict: conflict ?? staleIn(preview.data ?? undefined),
    problem,
    why: preview.data?.check.ok === false ? say.fix : undefined,
    discard,
    save: async () => {
      if (write.busy || count === 0) return
      setProblem(undefined)
      try {
        await write.send({ body: { changes: [...bodyOf(draft)] } })
      } catch (error) {
        const changed = conflictOf(error)
        if (changed === undefined) setProblem(failureText(error))
        else setConflict(changed)
        return
      }
      discard()
      toast(say.saved, { text: say.savedText })
    },
    rebase: async () => {
      try {
        const next = new Map<string, Change>()
        for (const one of draft.values()) {
          const own = rebased(one, await readStored(one))
          if (changesOf(own) > 0) next.set(keyOf(own), own)
        }
        change(() => next)
        setConflict(undefined)
        setProblem(undefined)
        toast(next.size === 0 ? say.nothingLeft : say.rebased)
      } catch (error) {
        setProblem(failureText(error))
      }
    },
  }
}

function conflictOf(error: unknown): string | undefined {
  return error instanceof FaultError && error.code === 'configuration_changed' ? error.message : undefined
}

/** The preview knows it before anything is saved. */
function staleIn(preview: Preview | undefined): string | undefined {
  return preview?.check.errors.find((error) => error.is_stale)?.message
}

/** Asks for what is stored of an object now, past the cache. */
export function useReadStored(): (of: Pick<Change, 'object' | 'name'>) => Promise<Stored> {
  const queries = useQueryClient()
  return async ({ object, name }) => {
    if (object === 'model') {
      const routing = await queries.fetchQuery({ ...routingQueries.routing(name), staleTime: 0 })
      return { base: routing.revision, entry: routing.entry }
    }
    const { data } = await queries.fetchQuery({ ...routingQueries.upstreams(), staleTime: 0 })
    const found = data.find((one) => one.name === name)
    return { base: found?.revision ?? null, entry: found?.entry ?? null }
  }
}

/** The changes once no more are made for a moment. */
function useSettled(draft: Draft): readonly ConfigurationChange[] {
  const [settled, setSettled] = useState(() => bodyOf(draft))
  useEffect(() => {
    const timer = setTimeout(() => setSettled(bodyOf(draft)), draft.size === 0 ? 0 : PAUSE_MS)
    return () => clearTimeout(timer)
  }, [draft])
  return settled
}
