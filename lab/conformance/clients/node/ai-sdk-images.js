/** The Vercel AI SDK: `generateImage`, which asks for base64, and one picture a call where it does not know the model. */
import { readFile } from 'node:fs/promises'
import { createOpenAI } from '@ai-sdk/openai'
import { generateImage } from 'ai'
import { answerPictures } from './pictures.js'
import { describeAiSdk } from './protocol.js'

async function ask({ baseUrl, apiKey, n, size, outputFormat, idempotencyKey, retries, ...asked }) {
  const { images } = await generateImage({
    model: createOpenAI({ baseURL: baseUrl, apiKey }).image(asked.model),
    prompt: asked.edit === undefined ? asked.prompt : await promptOf(asked.prompt, asked.edit),
    n,
    size,
    ...(outputFormat === undefined ? {} : { providerOptions: { openai: { outputFormat } } }),
    ...(idempotencyKey === undefined ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }),
    ...(retries ? {} : { maxRetries: 0 }),
  })
  const stranger = images.find(({ mediaType }) => outputFormat && mediaType !== `image/${outputFormat}`)
  if (stranger !== undefined) throw new TypeError(`a picture of the type ${stranger.mediaType}`)
  return { pictures: images.map(({ uint8Array }) => ({ bytes: uint8Array })) }
}

async function promptOf(text, { images, mask, giveAs }) {
  return {
    text,
    images: await Promise.all(images.map((file) => given(file, giveAs))),
    ...(mask === undefined ? {} : { mask: await given(mask, giveAs) }),
  }
}

async function given({ file, type }, way) {
  const bytes = await readFile(file)
  switch (way) {
    case 'bytes':
      return new Uint8Array(bytes)
    case 'buffer':
      return new Uint8Array(bytes).buffer
    case 'base64':
      return bytes.toString('base64')
    case 'data-url':
      return `data:${type};base64,${bytes.toString('base64')}`
    default:
      throw new Error(`the AI SDK can't be handed a file as ${way}`)
  }
}

await answerPictures(ask, describeAiSdk)
