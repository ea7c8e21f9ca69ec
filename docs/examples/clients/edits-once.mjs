import { createReadStream, readFileSync } from 'node:fs'
import OpenAI from 'openai'

const client = new OpenAI({ baseURL: process.env.TORANA_BASE_URL, apiKey: process.env.TORANA_KEY })
const picture = 'docs/pictures/harbour.png'
const asked = { model: 'demo-image', prompt: 'make it night', response_format: 'url' }
const headers = { 'Idempotency-Key': 'harbour-at-night' }

const form = await client.images
  .edit({ ...asked, image: createReadStream(picture) }, { headers })
  .withResponse()

const image_url = `data:image/png;base64,${readFileSync(picture, 'base64')}`
const json = await client
  .post('/images/edits', { body: { ...asked, images: [{ image_url }] }, headers })
  .withResponse()

console.log('form', form.response.headers.get('x-torana-job'))
console.log('json', json.response.headers.get('x-torana-job'))
