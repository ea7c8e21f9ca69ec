import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.env.TORANA_BASE_URL, apiKey: process.env.TORANA_KEY })

const { data, usage } = await client.embeddings.create({
  model: 'demo-embed',
  input: ['cat', 'kitten', 'car'],
})
const [cat, kitten, car] = data.map((item) => item.embedding)

const cosine = (a, b) =>
  a.reduce((sum, value, index) => sum + value * b[index], 0) / Math.hypot(...a) / Math.hypot(...b)
console.log('width', cat.length, 'tokens', usage.prompt_tokens)
console.log('cat and kitten', cosine(cat, kitten).toFixed(3))
console.log('cat and car   ', cosine(cat, car).toFixed(3))
