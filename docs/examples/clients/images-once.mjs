import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.env.TORANA_BASE_URL, apiKey: process.env.TORANA_KEY })

const ask = () =>
  client.images
    .generate(
      { model: 'demo-image', prompt: 'a lighthouse in the fog', response_format: 'url' },
      { headers: { 'Idempotency-Key': 'cover-of-issue-12' } },
    )
    .withResponse()

const first = await ask()
const second = await ask()
console.log('first ', first.response.headers.get('x-torana-job'))
console.log('second', second.response.headers.get('x-torana-job'))
