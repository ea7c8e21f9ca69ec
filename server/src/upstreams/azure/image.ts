import type { ImageCall } from '#ports/image-upstream.ts'
import type { Target } from '../openai/embedding.ts'
import { imageOperation, imagePath } from '../openai/image.ts'

export function azureImagePath(target: Target, call: ImageCall): string {
  if (!target.basePath.endsWith('/deployments')) return imagePath(target, call)
  const deployment = encodeURIComponent(call.deployment.upstreamModel)
  return `${target.basePath}/${deployment}/images/${imageOperation(call)}${target.query}`
}
