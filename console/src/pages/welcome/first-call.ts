/** A real request with the key that was made on this page. */
import { useState } from 'react'
import { callImages } from '../../api/image-calls.ts'
import { playEmbeddings } from '../../api/queries/playground-embeddings.ts'
import { FIRST_PROMPT, FIRST_TEXTS } from '../../parts/snippets/first-call.ts'
import type { ModelToCall } from '../../parts/snippets/model-to-call.ts'
import { useAbort } from '../../ui/abort.ts'
import type { MadeKey } from './key-step.tsx'

export interface FirstAnswer {
  readonly model: string
  readonly tookMs: number
  readonly requestId: string | undefined
  readonly deployment: string | undefined
  /** null: the model has no price. */
  readonly costUsd: string | null
  /** Of an embedding model. */
  readonly vectors: readonly Float32Array[]
  /** Of an image model. */
  readonly image: Blob | undefined
}

interface FirstCalls {
  readonly answer: FirstAnswer | undefined
  readonly error: unknown
  readonly isRunning: boolean
  /** False: it failed, or was left. */
  readonly send: () => Promise<boolean>
}

export function useFirstCall(key: MadeKey, model: ModelToCall): FirstCalls {
  const [answer, setAnswer] = useState<FirstAnswer>()
  const [error, setError] = useState<unknown>()
  const [isRunning, setRunning] = useState(false)
  const abort = useAbort()
  const send = async (): Promise<boolean> => {
    const signal = abort.next()
    setRunning(true)
    setError(undefined)
    try {
      setAnswer(await callOf(key, model, signal))
      return true
    } catch (problem) {
      if (!signal.aborted) {
        setAnswer(undefined)
        setError(problem)
      }
      return false
    } finally {
      setRunning(false)
    }
  }
  return { answer, error, isRunning, send }
}

async function callOf(
  { id, secret }: MadeKey,
  model: ModelToCall,
  signal: AbortSignal,
): Promise<FirstAnswer> {
  const project = id.slice(0, id.indexOf('/'))
  const startedMs = performance.now()
  if (model.kind === 'image') {
    const { images, costUsd, ...head } = await callImages(
      project,
      { ...NO_FIELDS, model: model.id, prompt: FIRST_PROMPT },
      undefined,
      { signal, secret, onPreview: () => {} },
    )
    const tookMs = performance.now() - startedMs
    return { ...head, model: model.id, tookMs, costUsd: costUsd ?? null, vectors: [], image: images[0] }
  }
  const asked = { project, model: model.id, inputs: FIRST_TEXTS, inputType: undefined, secret }
  const { answer, space: _, ...head } = await playEmbeddings(asked, signal)
  return { ...head, model: model.id, vectors: vectorsOf(answer), image: undefined }
}

const NO_FIELDS = {
  n: 1,
  size: undefined,
  quality: undefined,
  background: undefined,
  output_format: undefined,
  partial_images: undefined,
}

function vectorsOf(answer: ArrayBuffer): readonly Float32Array[] {
  const { data } = JSON.parse(new TextDecoder().decode(answer)) as { data: { embedding: string }[] }
  return data.map(({ embedding }) => {
    const binary = atob(embedding)
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0))
    return new Float32Array(bytes.buffer)
  })
}

export function cosineOf(a: Float32Array, b: Float32Array): number {
  const dot = (one: Float32Array, other: Float32Array): number =>
    one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}
