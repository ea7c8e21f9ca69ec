import type { ImageCall } from '#ports/image-upstream.ts'
import type { Target } from '../openai/embedding.ts'
import { imagePath } from '../openai/image.ts'

export function azureImagePath(target: Target, call: ImageCall): string {
  if (!target.basePath.endsWith('/deployments')) return imagePath(target, call)
  return `${target.basePath}/${encodeURIComponent(call.deployment.upstreamModel)}/images/generations${target.query}`
}
