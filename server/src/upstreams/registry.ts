import type { DialectName } from '#core/catalog/catalog.ts'
import type { EmbeddingUpstream } from '#ports/upstream.ts'
import { azureEmbeddingPath, azureTarget } from './azure/embedding.ts'
import { exchangeEmbedding } from './openai/exchange.ts'
import type { UpstreamHttp } from './connect/http.ts'
import { contentsUpstream } from './contents/exchange.ts'
import { embeddingPath, openaiTarget } from './openai/embedding.ts'

/** Every dialect by name; a call goes to the dialect of its deployment's upstream, or to the wire of its contents. */
export function upstreamRegistry(
  http: UpstreamHttp,
  /** Yields the event loop before a large body is written. */
  yieldLoop: () => Promise<unknown>,
  others: Record<Exclude<DialectName, 'openai' | 'azure'>, EmbeddingUpstream>,
): EmbeddingUpstream {
  const dialects: Record<DialectName, EmbeddingUpstream> = {
    openai: exchangeEmbedding({ target: openaiTarget, path: embeddingPath }, http, yieldLoop),
    azure: exchangeEmbedding({ target: azureTarget, path: azureEmbeddingPath }, http, yieldLoop),
    ...others,
  }
  const contents = contentsUpstream(http, yieldLoop)
  return {
    embed: (call) => {
      const { capabilities, upstream } = call.deployment
      return capabilities.contents === undefined
        ? dialects[upstream.dialect].embed(call)
        : contents.embed(call)
    },
  }
}
