/** The Vercel AI SDK: `generateImage`, which asks for base64, and one picture a call where it does not know the model. */
import { createOpenAI } from '@ai-sdk/openai'
import { generateImage } from 'ai'
import { answerPictures } from './pictures.js'
import { describeAiSdk } from './protocol.js'

async function generate({ baseUrl, apiKey, model, prompt, n, size, outputFormat, idempotencyKey, retries }) {
  const { images } = await generateImage({
    model: createOpenAI({ baseURL: baseUrl, apiKey }).image(model),
    prompt,
    n,
    size,
    ...(outputFormat === undefined ? {} : { providerOptions: { openai: { outputFormat } } }),
    ...(idempotencyKey === undefined ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }),
    ...(retries ? {} : { maxRetries: 0 }),
  })
  return { pictures: images.map(({ uint8Array }) => ({ bytes: uint8Array })) }
}

await answerPictures(generate, describeAiSdk)
