/** Where a deployment's wire is, and how a call identifies us there. */
import { createHash } from 'node:crypto'
import type { Deployment, Upstream } from '#core/catalog/catalog.ts'
import type { ContentWireName } from '#core/catalog/content-capabilities.ts'
import { scrubbed, UpstreamFailure } from '#core/fault/failure.ts'
import { BodyUnread, type StreamedBody } from '../connect/sent-body.ts'
import { openaiTarget, type Target } from '../openai/embedding.ts'
import { bedrockSettings, commonSettings, missing, vertexSettings } from '../openai/provider-settings.ts'
import { secretsOf } from '../openai/secrets.ts'

type Body = string | StreamedBody

export interface Access {
  readonly target: Target
  /** Headers of one call, names and values in turn, where the credential is not the same for all of them. */
  readonly credential?: (url: string, body: Body) => Promise<readonly string[]>
}

/** Base URLs of wires with a single public place. The others have an upstream's own. */
const BASE_URLS: Readonly<Partial<Record<ContentWireName, string>>> = {
  gemini: 'https://generativelanguage.googleapis.com/v1beta',
  cohere: 'https://api.cohere.com/v2',
  voyage: 'https://api.voyageai.com/v1',
  jina: 'https://api.jina.ai/v1',
  openrouter: 'https://openrouter.ai/api/v1',
  dashscope: 'https://dashscope-intl.aliyuncs.com/api/v1',
}

export function accessOf(
  deployment: Deployment,
  wire: ContentWireName,
  yieldLoop: () => Promise<unknown>,
): Access {
  const { upstream } = deployment
  if (upstream.provider === 'amazon-bedrock' || wire === 'nova' || wire === 'titan')
    return bedrockAccess(deployment, yieldLoop)
  if (wire === 'vertex' || wire === 'vertex-predict') return vertexAccess(deployment)
  const baseUrl = upstream.baseUrl ?? BASE_URLS[wire]
  if (baseUrl === undefined) throw missing(deployment, 'baseUrl')
  // The others may be servers of one's own, which need no key.
  if (upstream.dialect === 'ai-sdk') commonSettings(deployment, globalThis.fetch)
  return {
    target: wire === 'gemini' ? googleTarget(upstream, baseUrl) : openaiTarget({ ...upstream, baseUrl }),
  }
}

/** What is wrong with a deployment's address or settings, before any call; undefined when nothing is visible from here. */
export function accessProblem(deployment: Deployment): string | undefined {
  const { contents } = deployment.capabilities
  if (contents === undefined) return undefined
  try {
    accessOf(deployment, contents.wire, () => Promise.resolve())
    return undefined
  } catch (error) {
    if (error instanceof UpstreamFailure) return error.message
    throw error
  }
}

/** Google takes a key in a header of its own. */
function googleTarget(upstream: Upstream, baseUrl: string): Target {
  const target = openaiTarget({ ...upstream, baseUrl, apiKey: undefined })
  const { apiKey } = upstream
  return apiKey ? { ...target, headers: ['x-goog-api-key', apiKey, ...target.headers] } : target
}

const CLOUD_SCOPE = 'https://www.googleapis.com/auth/cloud-platform'

function vertexAccess(deployment: Deployment): Access {
  const { upstream } = deployment
  const settings = vertexSettings(deployment, globalThis.fetch)
  if (!('project' in settings)) {
    const baseUrl = upstream.baseUrl ?? 'https://aiplatform.googleapis.com/v1/publishers/google'
    return { target: googleTarget(upstream, baseUrl) }
  }
  const { project, location, googleAuthOptions } = settings
  const baseUrl =
    upstream.baseUrl ??
    `https://${vertexHost(location)}/v1beta1/projects/${project}/locations/${location}/publishers/google`
  let auth: Promise<{ getAccessToken(): Promise<string | null | undefined> }> | undefined
  return {
    target: openaiTarget({ ...upstream, baseUrl, apiKey: undefined }),
    async credential() {
      try {
        // It keeps a token until it ends.
        auth ??= import('google-auth-library').then(
          ({ GoogleAuth }) => new GoogleAuth({ scopes: [CLOUD_SCOPE], ...googleAuthOptions }),
        )
        const token = await (await auth).getAccessToken()
        return ['authorization', `Bearer ${token ?? ''}`]
      } catch (error) {
        // The library has its own connections and errors. Nothing was sent to the upstream.
        const message = scrubbed(error instanceof Error ? error.message : String(error), secretsOf(upstream))
        throw new UpstreamFailure('rejectedUs', message, { deployment: deployment.id, charge: 'none' })
      }
    },
  }
}

function vertexHost(location: string): string {
  if (location === 'global') return 'aiplatform.googleapis.com'
  const isMultiRegion = location === 'eu' || location === 'us'
  return isMultiRegion ? `aiplatform.${location}.rep.googleapis.com` : `${location}-aiplatform.googleapis.com`
}

function bedrockAccess(deployment: Deployment, yieldLoop: () => Promise<unknown>): Access {
  const { upstream } = deployment
  const settings = bedrockSettings(deployment, globalThis.fetch)
  const region = 'region' in settings ? settings.region : ''
  const baseUrl = upstream.baseUrl ?? `https://bedrock-runtime.${region}.${dnsSuffixOf(region)}`
  const target = openaiTarget({ ...upstream, baseUrl })
  if (!('accessKeyId' in settings)) return { target }
  const { accessKeyId, secretAccessKey, sessionToken } = settings
  return {
    target,
    async credential(url, body) {
      const { AwsV4Signer } = await import('aws4fetch')
      const signer = new AwsV4Signer({
        url,
        method: 'POST',
        service: 'bedrock',
        headers: { 'x-amz-content-sha256': await sha256Of(body, yieldLoop) },
        region,
        accessKeyId,
        secretAccessKey,
        ...(sessionToken === undefined ? {} : { sessionToken }),
      })
      const { headers } = await signer.sign()
      return [...headers].flat()
    },
  }
}

/** Amazon's partitions. All other regions are in the public one. */
const DNS_SUFFIXES: readonly (readonly [region: string, suffix: string])[] = [
  ['cn-', 'amazonaws.com.cn'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
  ['us-isof-', 'csp.hci.ic.gov'],
  ['eusc-', 'amazonaws.eu'],
]

function dnsSuffixOf(region: string): string {
  return DNS_SUFFIXES.find(([start]) => region.startsWith(start))?.[1] ?? 'amazonaws.com'
}

/** A signature covers the body: one that is streamed is read twice. */
async function sha256Of(body: Body, yieldLoop: () => Promise<unknown>): Promise<string> {
  const hash = createHash('sha256')
  if (typeof body === 'string') return hash.update(body).digest('hex')
  try {
    for await (const chunk of body.open()) {
      hash.update(chunk)
      await yieldLoop()
    }
  } catch (cause) {
    throw new BodyUnread('a body that could not be read', { cause })
  }
  return hash.digest('hex')
}
