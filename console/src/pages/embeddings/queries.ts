/** A query is one more text for the model that made the vectors; it never moves the others. */
import { useEffect, useState } from 'react'
import { playEmbeddings } from '../../api/queries/playground-embeddings.ts'
import { useAbort } from '../../ui/abort.ts'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { callInputs } from './content-call.ts'
import type { MediaFile } from './media-store.ts'
import type { Run } from './run.ts'

export interface QueryState {
  /** The text of the star on the map, or the name of its image. */
  readonly text: string | undefined
  readonly image: MediaFile | undefined
  readonly costUsd: string | null | undefined
  readonly isAsking: boolean
  readonly error: unknown
  readonly ask: (query: string | MediaFile) => void
  readonly forget: () => void
}

interface AnsweredQuery {
  readonly of: Run
  readonly text: string
  readonly image: MediaFile | undefined
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
  const ask = async (asked: string | MediaFile): Promise<void> => {
    const image = typeof asked === 'string' ? undefined : asked
    const text = typeof asked === 'string' ? asked.trim() : asked.name
    if (text === '') return
    const signal = abort.next()
    setAsking(true)
    setError(undefined)
    const { inputType } = run.request
    const input = image ? { text: '', media: [image] } : { text, media: [] }
    try {
      const inputs = await callInputs([input], new Map(image && [[image.id, image]]))
      const { answer, costUsd } = await playEmbeddings(
        // Documents are searched with queries; other types are compared with their own.
        { ...run.request, inputs, inputType: inputType === 'document' ? 'query' : inputType },
        signal,
      )
      await run.vectors.request('query', answer)
      if (!signal.aborted) {
        setAnswered({ of: run, text, image, costUsd })
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
    image: current?.image,
    costUsd: current?.costUsd,
    isAsking,
    error,
    ask: (query) => void ask(query),
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
