/** openai-node's `images.generate`; the argument names which of the installed versions: `openai-4`, …, `openai-7`. */
import { answerPictures, pictureOf } from './pictures.js'
import { describeOpenai } from './protocol.js'

const { default: OpenAI } = await import(process.argv[2])

async function generate({ baseUrl, apiKey, retries, idempotencyKey, stream, ...asked }) {
  const client = new OpenAI({ baseURL: baseUrl, apiKey, ...(retries ? {} : { maxRetries: 0 }) })
  const options = idempotencyKey === undefined ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }
  const question = {
    model: asked.model,
    prompt: asked.prompt,
    n: asked.n,
    size: asked.size,
    response_format: asked.responseFormat,
    output_format: asked.outputFormat,
  }
  if (stream) return streamed(client, { ...question, partial_images: asked.partialImages }, options)
  const { data } = await client.images.generate(question, options)
  return { pictures: await Promise.all(data.map(pictureOf)) }
}

async function streamed(client, question, options) {
  const events = []
  for await (const event of await client.images.generate({ ...question, stream: true }, options))
    events.push(event)
  const previews = events.filter(({ type }) => type === 'image_generation.partial_image')
  return {
    pictures: await picturesOf(events.filter(({ type }) => type === 'image_generation.completed')),
    previews: await picturesOf(previews.toSorted((a, b) => a.partial_image_index - b.partial_image_index)),
  }
}

async function picturesOf(events) {
  return Promise.all(events.map(pictureOf))
}

await answerPictures(generate, describeOpenai)
