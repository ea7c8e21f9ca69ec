import { writeFileSync } from 'node:fs'
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.env.TORANA_BASE_URL, apiKey: process.env.TORANA_KEY })

const { data } = await client.images.generate({
  model: 'demo-image',
  prompt: 'a lighthouse in the fog',
  size: '512x512',
})
writeFileSync('lighthouse.png', Buffer.from(data[0].b64_json, 'base64'))
console.log('lighthouse.png')
