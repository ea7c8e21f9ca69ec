/** Azure speaks OpenAI's wire under its own paths and with its own key header. */
import type { Upstream } from '#core/catalog/catalog.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { embeddingPath, openaiTarget, type Target } from '../openai/embedding.ts'

/** A dated version means the older path, with the deployment in it; `v1` the newer, with the deployment in the body. */
const DATED = /^\d{4}-\d{2}-\d{2}/

export function azureTarget(upstream: Upstream): Target {
  const { apiKey, apiVersion = 'v1' } = upstream
  const target = openaiTarget({ ...upstream, apiKey: undefined })
  const root = target.basePath.replace(/\/openai(\/v1)?$/, '')
  return {
    origin: target.origin,
    tls: target.tls,
    basePath: DATED.test(apiVersion) ? `${root}/openai/deployments` : `${root}/openai/v1`,
    query: `?api-version=${encodeURIComponent(apiVersion)}`,
    headers: apiKey === undefined ? target.headers : [...target.headers, 'api-key', apiKey],
  }
}

export function azureEmbeddingPath(target: Target, call: EmbeddingCall): string {
  if (!target.basePath.endsWith('/deployments')) return embeddingPath(target, call)
  return `${target.basePath}/${encodeURIComponent(call.deployment.upstreamModel)}/embeddings${target.query}`
}
