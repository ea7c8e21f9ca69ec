import { writeFileSync } from 'node:fs'
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.env.TORANA_BASE_URL, apiKey: process.env.TORANA_KEY })

const stream = await client.images.generate({
  model: 'demo-image',
  prompt: 'a lighthouse in the fog',
  stream: true,
  partial_images: 2,
})
for await (const event of stream) {
  const isDone = event.type === 'image_generation.completed'
  const file = isDone ? 'done.png' : `preview-${event.partial_image_index}.png`
  writeFileSync(file, Buffer.from(event.b64_json, 'base64'))
  console.log(event.type, file)
}
