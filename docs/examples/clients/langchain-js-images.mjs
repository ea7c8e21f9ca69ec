import { writeFileSync } from 'node:fs'
import { DallEAPIWrapper } from '@langchain/openai'

const tool = new DallEAPIWrapper({
  model: 'gpt-image-2',
  baseUrl: process.env.TORANA_BASE_URL,
  apiKey: process.env.TORANA_KEY,
  size: '1024x1024',
})

const link = await tool.invoke('a lighthouse in the fog')
const answer = await fetch(link)
writeFileSync('lighthouse.png', Buffer.from(await answer.arrayBuffer()))
console.log('lighthouse.png')
