import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.env.TORANA_BASE_URL, apiKey: process.env.TORANA_KEY })

const { data } = await client.embeddings.create({
  model: 'demo-embed',
  input: ['cat', 'kitten', 'car'],
  embedding_types: ['ubinary', 'float'],
  encoding_format: 'float',
})
const differentBits = (a, b) =>
  a.reduce((sum, byte, index) => sum + (byte ^ b[index]).toString(2).replaceAll('0', '').length, 0)

const [cat, kitten, car] = data.map((item) => item.embedding)
console.log('bytes', cat.length, 'floats', data[0].embeddings.float.length)
console.log('cat and kitten', differentBits(cat, kitten), 'different bits')
console.log('cat and car   ', differentBits(cat, car), 'different bits')
