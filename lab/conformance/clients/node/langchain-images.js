/** LangChain.js: `DallEAPIWrapper`, a tool of agents, which always says `style` and `quality`, and one picture a request. */
import { DallEAPIWrapper } from '@langchain/openai'
import { answerPictures, pictureOf } from './pictures.js'
import { describeOpenai } from './protocol.js'

async function ask({ baseUrl, apiKey, model, prompt, n, size, responseFormat, retries }) {
  const tool = new DallEAPIWrapper({
    baseUrl,
    apiKey,
    model,
    n,
    size,
    dallEResponseFormat: responseFormat,
  })
  // It has no setting for this.
  if (!retries) tool.client.maxRetries = 0
  const answer = await tool.invoke(prompt)
  return { pictures: await Promise.all(entriesOf(answer, responseFormat ?? 'url').map(pictureOf)) }
}

/** One picture is a text: its link or its base64. Several are parts of a message. */
function entriesOf(answer, form) {
  const texts =
    typeof answer === 'string' ? [answer] : answer.map(({ image_url: image }) => image.url ?? image)
  return texts.map((text) => ({ [form]: text }))
}

await answerPictures(ask, describeOpenai)
