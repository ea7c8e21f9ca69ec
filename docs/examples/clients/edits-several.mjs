import { createReadStream, writeFileSync } from 'node:fs'
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.env.TORANA_BASE_URL, apiKey: process.env.TORANA_KEY })

const { data } = await client.images.edit({
  model: 'demo-image',
  prompt: 'put the gull into the harbour',
  image: [createReadStream('docs/pictures/harbour.png'), createReadStream('docs/pictures/gull.png')],
})
writeFileSync('gull-in-harbour.png', Buffer.from(data[0].b64_json, 'base64'))
console.log('gull-in-harbour.png')
