import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.env.TORANA_BASE_URL, apiKey: process.env.TORANA_KEY })

const { data, response } = await client.embeddings
  .create(
    {
      model: 'demo-embed',
      input: 'What is the capital of France?',
      input_type: 'query',
    },
    { headers: { 'x-torana-unsupported': 'drop' } },
  )
  .withResponse()
console.log(data.data[0].embedding.length)
console.log('space   ', response.headers.get('x-torana-space'))
console.log('emulated', response.headers.get('x-torana-emulated'))
console.log('dropped ', response.headers.get('x-torana-dropped'))
