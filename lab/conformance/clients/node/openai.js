/** openai-node; the argument names which of the installed versions: `openai-4`, …, `openai-7`. */
import { describeOpenai } from './protocol.js'
import { answerVectors } from './vectors.js'

const { default: OpenAI } = await import(process.argv[2])

async function embed({ baseUrl, apiKey, model, texts, single, dimensions, retries }) {
  const client = new OpenAI({ baseURL: baseUrl, apiKey, ...(retries ? {} : { maxRetries: 0 }) })
  const { data, usage } = await client.embeddings.create({
    model,
    input: single ? texts[0] : texts,
    dimensions,
  })
  return { vectors: data.map(({ embedding }) => embedding), tokens: usage.prompt_tokens }
}

await answerVectors(embed, describeOpenai)
