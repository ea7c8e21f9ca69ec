import { openaiBody, openaiQuestion } from '../openai-wire.ts'
import { Refusal, requiredString, type Target, type Wire } from '../wire.ts'

export const azure: Wire = {
  name: 'azure',
  base: 'azure/openai',
  credentials: ['api-key'],
  maxInputs: 2048,
  indexed: true,
  locate(path, query): Target | null {
    if (path === 'azure/openai/v1/embeddings') return { operation: 'v1', model: null }
    const deployment = /^azure\/openai\/deployments\/([^/]+)\/embeddings$/.exec(path)?.[1]
    if (deployment === undefined) return null
    if (!query.has('api-version')) throw new Refusal(404, 'Resource not found: api-version is missing.')
    return { operation: 'deployment', model: decodeURIComponent(deployment) }
  },
  // A deployment in the path is the model, whatever the body says.
  read: (fields, { model }) => openaiQuestion(fields, model ?? requiredString(fields, 'model')),
  write: (answer) => ({ body: openaiBody(answer) }),
  refuse: ({ status, message, code }) => JSON.stringify({ error: { code: code ?? String(status), message } }),
}
