/** The Vercel AI SDK: `embed` and `embedMany`, which ask for floats; at most 2,048 values a call. */
import { createOpenAI } from '@ai-sdk/openai'
import { embed as embedOne, embedMany } from 'ai'
import { describeAiSdk } from './protocol.js'
import { answerVectors } from './vectors.js'

async function embed({ baseUrl, apiKey, model, texts, single, dimensions, retries }) {
  const options = {
    model: createOpenAI({ baseURL: baseUrl, apiKey }).embeddingModel(model),
    ...(dimensions === undefined ? {} : { providerOptions: { openai: { dimensions } } }),
    ...(retries ? {} : { maxRetries: 0 }),
  }
  if (single) {
    const { embedding, usage } = await embedOne({ ...options, value: texts[0] })
    return { vectors: [embedding], tokens: usage.tokens }
  }
  const { embeddings, usage } = await embedMany({ ...options, values: texts })
  return { vectors: embeddings, tokens: usage.tokens }
}

await answerVectors(embed, describeAiSdk)
