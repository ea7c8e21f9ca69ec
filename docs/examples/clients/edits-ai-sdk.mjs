import { readFileSync, writeFileSync } from 'node:fs'
import { createOpenAI } from '@ai-sdk/openai'
import { generateImage } from 'ai'

const torana = createOpenAI({
  baseURL: process.env.TORANA_BASE_URL,
  apiKey: process.env.TORANA_KEY,
})

const { image } = await generateImage({
  model: torana.imageModel('demo-image'),
  prompt: {
    text: 'a rowing boat',
    images: [readFileSync('docs/pictures/harbour.png')],
    mask: readFileSync('docs/pictures/harbour-mask.png'),
  },
})
writeFileSync('rowing-boat.png', image.uint8Array)
console.log('rowing-boat.png')
