import { AzureOpenAI } from 'openai'

const client = new AzureOpenAI({
  endpoint: process.env.AZURE_OPENAI_ENDPOINT, // http://127.0.0.1:8080, without /v1
  apiKey: process.env.AZURE_OPENAI_API_KEY, // a key of Torana
  apiVersion: '2024-10-21', // any: Torana does not look at it
})

const { data } = await client.embeddings.create({ model: 'demo-embed', input: ['cat', 'kitten', 'car'] })
console.log(data.length, 'vectors of', data[0].embedding.length)
