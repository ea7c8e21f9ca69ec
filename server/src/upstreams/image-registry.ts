import type { DialectName } from '#core/catalog/catalog.ts'
import type { ImageUpstream } from '#ports/image-upstream.ts'
import { azureTarget } from './azure/embedding.ts'
import { azureImagePath } from './azure/image.ts'
import type { UpstreamHttp } from './connect/http.ts'
import { exchangeImage, type ImageParts } from './openai/image-exchange.ts'
import { openaiTarget } from './openai/embedding.ts'
import { imagePath } from './openai/image.ts'

/** Every dialect by name; a call goes to the dialect of its deployment's upstream. */
export function imageRegistry(
  http: UpstreamHttp,
  parts: ImageParts & {
    readonly others: Record<Exclude<DialectName, 'openai' | 'azure'>, ImageUpstream>
  },
): ImageUpstream {
  const dialects: Record<DialectName, ImageUpstream> = {
    openai: exchangeImage({ target: openaiTarget, path: imagePath }, http, parts),
    azure: exchangeImage({ target: azureTarget, path: azureImagePath }, http, parts),
    ...parts.others,
  }
  return {
    generate: (call, events) => dialects[call.deployment.upstream.dialect].generate(call, events),
  }
}
