import type { DialectName } from '#core/catalog.ts'
import type { EmbeddingUpstream } from '#ports/upstream.ts'
import { azureEmbeddingPath, azureTarget } from './azure/embedding.ts'
import { exchangeEmbedding } from './exchange.ts'
import type { UpstreamHttp } from './http.ts'
import { embeddingPath, openaiTarget } from './openai/embedding.ts'

/** Every dialect by name; a call goes to the one its deployment's upstream speaks. */
export function upstreamRegistry(
  http: UpstreamHttp,
  others: Record<Exclude<DialectName, 'openai' | 'azure'>, EmbeddingUpstream>,
): EmbeddingUpstream {
  const dialects: Record<DialectName, EmbeddingUpstream> = {
    openai: exchangeEmbedding({ target: openaiTarget, path: embeddingPath }, http),
    azure: exchangeEmbedding({ target: azureTarget, path: azureEmbeddingPath }, http),
    ...others,
  }
  return { embed: (call) => dialects[call.deployment.upstream.dialect].embed(call) }
}
