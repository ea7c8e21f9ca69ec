import { readFileSync } from 'node:fs'
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.env.TORANA_BASE_URL, apiKey: process.env.TORANA_KEY })

const files = ['harbour', 'lighthouse', 'gull'].map((name) => `docs/pictures/${name}.png`)
const images = files.map((file) => {
  const url = `data:image/png;base64,${readFileSync(file, 'base64')}`
  return { content: [{ type: 'image_url', image_url: { url } }] }
})

const { data, usage } = await client.embeddings.create({
  model: 'gemini-embedding-2',
  input: ['a bird', ...images],
})
const dot = (a, b) => a.reduce((sum, value, index) => sum + value * b[index], 0)
const [bird, ...vectors] = data.map((item) => item.embedding)
for (const [index, vector] of vectors.entries()) console.log(dot(bird, vector).toFixed(3), files[index])
console.log('image tokens', usage.prompt_tokens_details.image_tokens)
