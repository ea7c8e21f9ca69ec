/** openai-node; the argument names which of the installed versions: `openai-4`, …, `openai-7`. */
import { answerCases, describeOpenai } from './protocol.js'
import { base64Of } from './vectors.js'

const { default: OpenAI } = await import(process.argv[2])

await answerCases(async ({ baseUrl, apiKey, model, fields }) => {
  const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 })
  const { data, usage } = await client.embeddings.create({ model, ...fields })
  return { vectors: data.map(({ embedding }) => base64Of(embedding)), tokens: usage.prompt_tokens }
}, describeOpenai)
