import { Refusal, requiredString } from '../../wire.ts'
import type { ImageTarget, ImageWire } from '../image-wire.ts'
import { openaiImageError, openaiImageQuestion, openaiImages } from './openai.ts'

export const azureImages: ImageWire = {
  ...openaiImages,
  name: 'azure',
  base: 'azure/openai',
  credentials: { 'api-key': '' },
  locate(path, query): ImageTarget | null {
    const generate = { method: 'POST', operation: 'generate', jobId: null } as const
    if (path === 'azure/openai/v1/images/generations') return { ...generate, model: null }
    const deployment = /^azure\/openai\/deployments\/([^/]+)\/images\/generations$/.exec(path)?.[1]
    if (deployment === undefined) return null
    if (!query.has('api-version')) throw new Refusal(404, 'Resource not found: api-version is missing.')
    return { ...generate, model: decodeURIComponent(deployment) }
  },
  // A deployment in the path is the model, whatever the body says.
  read: (fields, { model }) => openaiImageQuestion(fields, model ?? requiredString(fields, 'model')),
  refuse(refusal) {
    const { error } = JSON.parse(openaiImageError(refusal)) as { error: object }
    return JSON.stringify({ error: { ...error, code: refusal.code ?? String(refusal.status) } })
  },
}
