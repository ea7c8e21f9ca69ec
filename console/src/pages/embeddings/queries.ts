/** A query is one more text, asked of the model that made the vectors; it never moves the others. */
import { useState } from 'react'
import { playEmbeddings } from '../../api/queries/playground-embeddings.ts'
import type { Run } from './run.ts'

export interface QueryState {
  /** What the star stands for. */
  readonly text: string | undefined
  readonly costUsd: string | null | undefined
  readonly isAsking: boolean
  readonly error: unknown
  readonly ask: (text: string) => void
  readonly forget: () => void
}

interface Asked {
  readonly of: Run
  readonly text: string
  readonly costUsd: string | null
}

/** `onChange`: the worker knows of it, so the view can be asked for anew. */
export function useAskedQuery(run: Run | undefined, onChange: () => void): QueryState {
  const [asked, setAsked] = useState<Asked>()
  const [isAsking, setAsking] = useState(false)
  const [error, setError] = useState<unknown>()
  const current = asked !== undefined && asked.of === run ? asked : undefined
  const ask = async (text: string): Promise<void> => {
    if (run === undefined || isAsking || text.trim() === '') return
    setAsking(true)
    setError(undefined)
    try {
      const { inputType } = run.asked
      const { answer, costUsd } = await playEmbeddings({
        ...run.asked,
        texts: [text.trim()],
        // Documents are looked for with queries; whatever else is compared with its own kind.
        inputType: inputType === 'document' ? 'query' : inputType,
      })
      await run.desk.ask('query', answer)
      setAsked({ of: run, text: text.trim(), costUsd })
      onChange()
    } catch (problem) {
      setError(problem)
    } finally {
      setAsking(false)
    }
  }
  const forget = async (): Promise<void> => {
    await run?.desk.ask('query', undefined)
    setAsked(undefined)
    onChange()
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
