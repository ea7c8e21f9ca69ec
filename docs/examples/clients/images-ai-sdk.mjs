import { writeFileSync } from 'node:fs'
import { createOpenAI } from '@ai-sdk/openai'
import { generateImage } from 'ai'

const torana = createOpenAI({
  baseURL: process.env.TORANA_BASE_URL,
  apiKey: process.env.TORANA_KEY,
})

const { image } = await generateImage({
  model: torana.imageModel('demo-image'),
  prompt: 'a lighthouse in the fog',
  size: '512x512',
})
writeFileSync('lighthouse.png', image.uint8Array)
console.log('lighthouse.png')
