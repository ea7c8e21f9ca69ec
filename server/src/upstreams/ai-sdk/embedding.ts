/**
 * Embeddings of upstreams whose wire is not OpenAI's, through the AI SDK's provider packages. A package parses and
 * validates number by number, which takes 40 to 360 ms for its largest batch: so whole calls run in a worker thread, and
 * the event loop only sees one block of memory come back.
 */
import type { Float32Vector } from '#core/embedding/vector.ts'
import type { EmbeddingUpstream } from '#ports/upstream.ts'
import type { FetchOptions } from '../connect/fetch.ts'
import { aiSdkThread } from './thread.ts'

const NO_FIELDS = Object.freeze({})

export function aiSdkEmbedding(options: FetchOptions): EmbeddingUpstream {
  const thread = aiSdkThread(options)
  return {
    async embed(call) {
      const { values, width, usage, model } = await thread.embed(call)
      const vectors = Array.from({ length: values.length / width }, (_, index): Float32Vector => {
        return { form: 'float32', values: values.subarray(index * width, (index + 1) * width) }
      })
      return { vectors, isFullWidth: width !== call.width, usage, model, extraFields: NO_FIELDS }
    },
  }
}
