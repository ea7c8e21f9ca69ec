/** openai-node's `images.generate` and `images.edit`; the argument names which of the installed versions: `openai-4`, …. */
import { referenceTo, uploadable } from './openai-files.js'
import { answerPictures, pictureOf } from './pictures.js'
import { describeOpenai } from './protocol.js'

const library = await import(process.argv[2])

async function ask({ baseUrl, apiKey, retries, idempotencyKey, ...asked }) {
  const client = new library.default({ baseURL: baseUrl, apiKey, ...(retries ? {} : { maxRetries: 0 }) })
  const options = idempotencyKey === undefined ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }
  const question = {
    model: asked.model,
    prompt: asked.prompt,
    n: asked.n,
    size: asked.size,
    response_format: asked.responseFormat,
    output_format: asked.outputFormat,
    partial_images: asked.partialImages,
    ...(asked.stream ? { stream: true } : {}),
  }
  const answer = await (asked.edit === undefined
    ? client.images.generate(question, options)
    : edited(client, question, options, asked.edit))
  return asked.stream
    ? streamed(answer, asked.edit === undefined ? 'image_generation' : 'image_edit')
    : { pictures: await picturesOf(answer.data) }
}

async function edited(client, question, options, { images, mask, giveAs, json }) {
  if (json) {
    const body = {
      ...question,
      images: await Promise.all(images.map(referenceTo)),
      ...(mask === undefined ? {} : { mask: await referenceTo(mask) }),
    }
    return client.post('/images/edits', { body, ...options })
  }
  const files = await Promise.all(images.map((file) => uploadable(library, file, giveAs)))
  return client.images.edit(
    {
      ...question,
      // One picture is not wrapped by most users.
      image: files.length === 1 ? files[0] : files,
      ...(mask === undefined ? {} : { mask: await uploadable(library, mask, giveAs) }),
    },
    options,
  )
}

async function streamed(answer, kind) {
  const events = []
  for await (const event of answer) events.push(event)
  const stranger = events.find(({ type }) => !type.startsWith(`${kind}.`))
  if (stranger !== undefined) throw new TypeError(`an event of the type ${stranger.type}`)
  const previews = events.filter(({ type }) => type === `${kind}.partial_image`)
  return {
    pictures: await picturesOf(events.filter(({ type }) => type === `${kind}.completed`)),
    previews: await picturesOf(previews.toSorted((a, b) => a.partial_image_index - b.partial_image_index)),
  }
}

async function picturesOf(items) {
  return Promise.all(items.map(pictureOf))
}

await answerPictures(ask, describeOpenai)
