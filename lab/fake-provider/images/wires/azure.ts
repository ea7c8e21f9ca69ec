import { Refusal } from '../../wire.ts'
import type { ImageTarget, ImageWire } from '../image-wire.ts'
import { openaiImageError, openaiImages, openaiTarget } from './openai.ts'

export const azureImages: ImageWire = {
  ...openaiImages,
  name: 'azure',
  base: 'azure/openai',
  credentials: { 'api-key': '' },
  locate(path, query): ImageTarget | null {
    const [, deployment, end = ''] =
      /^azure\/openai\/(?:v1|deployments\/([^/]+))(\/images\/\w+)$/.exec(path) ?? []
    const target = openaiTarget(end)
    if (target === null || deployment === undefined) return target
    if (!query.has('api-version')) throw new Refusal(404, 'Resource not found: api-version is missing.')
    return { ...target, model: decodeURIComponent(deployment) }
  },
  refuse(refusal) {
    const { error } = JSON.parse(openaiImageError(refusal)) as { error: object }
    return JSON.stringify({ error: { ...error, code: refusal.code ?? String(refusal.status) } })
  },
}
