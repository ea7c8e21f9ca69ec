/** LangChain.js: `OpenAIEmbeddings`, which sends 512 texts a call and puts spaces for newlines. */
import { OpenAIEmbeddings } from '@langchain/openai'
import { describeOpenai } from './protocol.js'
import { answerVectors } from './vectors.js'

async function embed({ baseUrl, apiKey, model, texts, single, dimensions, retries }) {
  const embeddings = new OpenAIEmbeddings({
    model,
    apiKey,
    configuration: { baseURL: baseUrl },
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(retries ? {} : { maxRetries: 0 }),
  })
  return {
    vectors: single ? [await embeddings.embedQuery(texts[0])] : await embeddings.embedDocuments(texts),
  }
}

await answerVectors(embed, describeOpenai)
