/** A query is one more text for the model that made the vectors; it never moves the others. */
import { useEffect, useState } from 'react'
import { playEmbeddings } from '../../api/queries/playground-embeddings.ts'
import { useAbort } from '../../ui/abort.ts'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import type { Run } from './run.ts'

export interface QueryState {
  /** The text of the star on the map. */
  readonly text: string | undefined
  readonly costUsd: string | null | undefined
  readonly isAsking: boolean
  readonly error: unknown
  readonly ask: (text: string) => void
  readonly forget: () => void
}

interface AnsweredQuery {
  readonly of: Run
  readonly text: string
  readonly costUsd: string | null
}

/** `onChange`: the worker has a new query, so the view must be requested again. */
export function useSearchQuery(run: Run, onChange: () => void): QueryState {
  const [answered, setAnswered] = useState<AnsweredQuery>()
  const [isAsking, setAsking] = useState(false)
  const [error, setError] = useState<unknown>()
  const abort = useAbort()
  // A query of vectors that are no longer shown.
  // oxlint-disable-next-line react/exhaustive-effect-dependencies -- The next run ends the query of this one.
  useEffect(() => () => abort.stop(), [abort, run])
  const current = answered !== undefined && answered.of === run ? answered : undefined
  const ask = async (typed: string): Promise<void> => {
    const text = typed.trim()
    if (text === '') return
    const signal = abort.next()
    setAsking(true)
    setError(undefined)
    const { inputType } = run.request
    try {
      const { answer, costUsd } = await playEmbeddings(
        // Documents are searched with queries; other types are compared with their own.
        { ...run.request, texts: [text], inputType: inputType === 'document' ? 'query' : inputType },
        signal,
      )
      await run.vectors.request('query', answer)
      if (!signal.aborted) {
        setAnswered({ of: run, text, costUsd })
        onChange()
      }
    } catch (problem) {
      if (signal.aborted) toast(words.embeddings.leftRun(run.request.project), { mark: 'warn' })
      else setError(problem)
    }
    // The next query, or the next run, is in progress then.
    if (!signal.aborted || abort.isIdle) setAsking(false)
  }
  const forget = async (): Promise<void> => {
    abort.stop()
    setError(undefined)
    try {
      await run.vectors.request('query', undefined)
      setAnswered(undefined)
      onChange()
    } catch (problem) {
      setError(problem)
    }
  }
  return {
    text: current?.text,
    costUsd: current?.costUsd,
    isAsking,
    error,
    ask: (text) => void ask(text),
    forget: () => void forget(),
  }
}

export interface Ranked {
  readonly index: number
  readonly cosine: number
}

/** Nearest first; of equals the one that was typed first. */
export function ranked(cosines: ArrayLike<number>): Ranked[] {
  return Array.from(cosines, (cosine, index) => ({ index, cosine })).toSorted(
    (a, b) => b.cosine - a.cosine || a.index - b.index,
  )
}
