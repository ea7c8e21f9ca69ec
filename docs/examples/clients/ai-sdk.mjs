import { createOpenAI } from '@ai-sdk/openai'
import { cosineSimilarity, embedMany } from 'ai'

const torana = createOpenAI({
  baseURL: process.env.TORANA_BASE_URL,
  apiKey: process.env.TORANA_KEY,
})

const { embeddings } = await embedMany({
  model: torana.embeddingModel('demo-embed'),
  values: ['cat', 'kitten', 'car'],
})
const [cat, kitten, car] = embeddings
console.log('cat and kitten', cosineSimilarity(cat, kitten).toFixed(3))
console.log('cat and car   ', cosineSimilarity(cat, car).toFixed(3))
