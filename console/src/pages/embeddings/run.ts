/** One call of the playground and its result. The vectors are in a worker of their own: one space, one worker. */
import { useEffect, useState } from 'react'
import {
  playEmbeddings,
  type EmbeddingsRequest,
  type PlayedEmbeddings,
} from '../../api/queries/playground-embeddings.ts'
import { noteError } from '../../app/outages.ts'
import { useAbort } from '../../ui/abort.ts'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { startVectorWorker, type Loaded, type VectorClient } from '../../workers/vectors.ts'
import { callInputs } from './content-call.ts'
import type { MediaFile } from './media-store.ts'
import type { TypedTexts } from './texts.ts'

export interface Run extends Omit<PlayedEmbeddings, 'answer'>, Loaded {
  /** Without its inputs: images would be held twice. */
  readonly request: RunSettings
  readonly typed: TypedTexts
  /** The media that the inputs name. */
  readonly files: ReadonlyMap<string, MediaFile>
  readonly answerBytes: number
  readonly vectors: VectorClient
}

type RunSettings = Omit<EmbeddingsRequest, 'inputs'>

interface Runs {
  readonly run: Run | undefined
  readonly isRunning: boolean
  readonly error: unknown
  readonly start: (request: RunSettings, typed: TypedTexts, files: ReadonlyMap<string, MediaFile>) => void
}

export function useRun(): Runs {
  const [run, setRun] = useState<Run>()
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<unknown>()
  const abort = useAbort()
  useEffect(() => () => run?.vectors.close(), [run])
  const start = async (
    request: RunSettings,
    typed: TypedTexts,
    files: ReadonlyMap<string, MediaFile>,
  ): Promise<void> => {
    const signal = abort.next()
    setRunning(true)
    setError(undefined)
    const vectors = startVectorWorker()
    const close = (): void => vectors.close()
    signal.addEventListener('abort', close)
    try {
      const inputs = await callInputs(typed.inputs, files)
      const { answer, ...played } = await playEmbeddings({ ...request, inputs }, signal)
      const answerBytes = answer.byteLength
      const loaded = await vectors.request('load', answer)
      signal.removeEventListener('abort', close)
      setRun({ ...played, ...loaded, request, typed, files, answerBytes, vectors })
    } catch (problem) {
      close()
      if (signal.aborted) toast(words.embeddings.leftRun(request.project), { mark: 'warn' })
      else {
        noteError(problem)
        setError(problem)
      }
    }
    if (!signal.aborted) setRunning(false)
  }
  return { run, isRunning, error, start: (request, typed, files) => void start(request, typed, files) }
}
