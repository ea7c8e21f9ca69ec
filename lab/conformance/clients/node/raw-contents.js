/** No library at all: numbers as JSON. */
import { answerCases, describeRefused, Refused } from './protocol.js'
import { base64Of } from './vectors.js'

await answerCases(async ({ baseUrl, apiKey, model, fields }) => {
  const answer = await fetch(`${baseUrl}/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, ...fields }),
  })
  if (!answer.ok) throw new Refused(answer, (await answer.json()).error)
  const { data, usage } = await answer.json()
  return { vectors: data.map(({ embedding }) => base64Of(embedding)), tokens: usage.prompt_tokens }
}, describeRefused)
