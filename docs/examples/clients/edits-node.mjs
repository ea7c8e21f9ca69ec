import { createReadStream, writeFileSync } from 'node:fs'
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.env.TORANA_BASE_URL, apiKey: process.env.TORANA_KEY })

const { data } = await client.images.edit({
  model: 'demo-image',
  prompt: 'a rowing boat',
  image: createReadStream('docs/pictures/harbour.png'),
  mask: createReadStream('docs/pictures/harbour-mask.png'),
})
writeFileSync('rowing-boat.png', Buffer.from(data[0].b64_json, 'base64'))
console.log('rowing-boat.png')
