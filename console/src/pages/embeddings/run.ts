/** One call of the playground and what came of it. Its vectors are in a worker of their own: one space, one worker. */
import { useEffect, useRef, useState } from 'react'
import {
  playEmbeddings,
  type EmbeddingsQuestion,
  type PlayedEmbeddings,
} from '../../api/queries/playground-embeddings.ts'
import { noteError } from '../../app/outages.ts'
import { VectorsDesk, type Loaded } from '../../workers/vectors.ts'
import type { TypedTexts } from './texts.ts'

export interface Run extends Omit<PlayedEmbeddings, 'answer'>, Loaded {
  readonly asked: EmbeddingsQuestion
  readonly typed: TypedTexts
  readonly answerBytes: number
  readonly desk: VectorsDesk
}

interface Runs {
  readonly run: Run | undefined
  readonly isRunning: boolean
  readonly error: unknown
  readonly start: (asked: Omit<EmbeddingsQuestion, 'texts'>, typed: TypedTexts) => void
}

export function useRun(): Runs {
  const [run, setRun] = useState<Run>()
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<unknown>()
  const desk = useRef<VectorsDesk>(undefined)
  useEffect(() => () => desk.current?.close(), [])
  const start = async (asked: Omit<EmbeddingsQuestion, 'texts'>, typed: TypedTexts): Promise<void> => {
    if (isRunning) return
    setRunning(true)
    setError(undefined)
    const next = new VectorsDesk()
    try {
      const question = { ...asked, texts: typed.texts }
      const { answer, ...played } = await playEmbeddings(question)
      const answerBytes = answer.byteLength
      const loaded = await next.ask('load', answer)
      desk.current?.close()
      desk.current = next
      setRun({ ...played, ...loaded, asked: question, typed, answerBytes, desk: next })
    } catch (problem) {
      next.close()
      noteError(problem)
      setError(problem)
    } finally {
      setRunning(false)
    }
  }
  return { run, isRunning, error, start: (asked, typed) => void start(asked, typed) }
}
