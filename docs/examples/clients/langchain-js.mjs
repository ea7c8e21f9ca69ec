import { OpenAIEmbeddings } from '@langchain/openai'

const embeddings = new OpenAIEmbeddings({
  model: 'demo-embed',
  apiKey: process.env.TORANA_KEY,
  configuration: { baseURL: process.env.TORANA_BASE_URL },
})

const vectors = await embeddings.embedDocuments(['cat', 'kitten', 'car'])
console.log(vectors.length, 'vectors of', vectors[0].length)
