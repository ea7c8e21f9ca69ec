/**
 * Image wires of one purchase, for which no package is loaded. They are spoken as a package of the SDK would: their `fetch` buys once,
 * asks until the job has ended, and brings the image.
 */
import type { ImageModelV4 } from '@ai-sdk/provider'
import type { ImageDeployment } from '#core/catalog/catalog.ts'
import { isRecord } from '#core/text/record.ts'
import { commonSettings } from '../openai/provider-settings.ts'
import type { Fetch } from './providers.ts'

interface CallOptions extends Omit<Parameters<ImageModelV4['doGenerate']>[0], 'headers'> {
  readonly headers?: Record<string, string>
}

/** The part of the SDK's specification that a call uses. */
export interface OwnImageModel {
  doGenerate(options: CallOptions): Promise<{
    readonly images: readonly (string | Uint8Array)[]
    readonly warnings: readonly []
    readonly providerMetadata?: undefined
  }>
}

export function togetherModel(deployment: ImageDeployment, fetch: Fetch): OwnImageModel {
  const ask = askerOf(deployment, fetch, 'https://api.together.xyz/v1')
  return {
    async doGenerate({ prompt, n, files, providerOptions, ...options }) {
      const [file, ...others] = files ?? []
      if (others.length > 0) throw named('AI_InvalidArgumentError', 'one picture can be sent here')
      const { fields, fault } = await ask('/images/generations', options, {
        model: deployment.upstreamModel,
        prompt,
        ...(n > 1 && { n }),
        ...(file && { image_url: writeAddress(file) }),
        response_format: 'base64',
        ...providerOptions['togetherai'],
      })
      const data: unknown = fields['data']
      if (!Array.isArray(data)) throw fault
      const images = data.map((image: unknown) => (isRecord(image) ? image['b64_json'] : undefined))
      if (!images.every((image) => typeof image === 'string')) throw fault
      return { images, warnings: [] }
    },
  }
}

export function lumaModel(deployment: ImageDeployment, fetch: Fetch): OwnImageModel {
  const ask = askerOf(deployment, fetch, 'https://api.lumalabs.ai')
  const jobs = '/dream-machine/v1/generations'
  return {
    async doGenerate({ prompt, aspectRatio, providerOptions, ...options }) {
      const submitted = await ask(`${jobs}/image`, options, {
        prompt,
        ...(aspectRatio && { aspect_ratio: aspectRatio }),
        model: deployment.upstreamModel,
        ...providerOptions['luma'],
      })
      const { id } = submitted.fields
      if (typeof id !== 'string') throw submitted.fault
      const { fields, fault } = await ask(`${jobs}/${encodeURIComponent(id)}`, options)
      const address = isRecord(fields['assets']) ? fields['assets']['image'] : undefined
      if (typeof address !== 'string' || !URL.canParse(address)) throw fault
      const image = await fetch(address)
      return { images: [new Uint8Array(await image.arrayBuffer())], warnings: [] }
    },
  }
}

interface Answer {
  readonly fields: Readonly<Record<string, unknown>>
  /** What to throw when a field is missing. */
  readonly fault: Error
}

/** With a body it posts. */
function askerOf(deployment: ImageDeployment, fetch: Fetch, usualAddress: string) {
  const { apiKey, baseURL = usualAddress, headers } = commonSettings(deployment, fetch)
  const base = baseURL.replace(/\/$/, '')
  return async (
    path: string,
    own: Pick<CallOptions, 'headers' | 'abortSignal'>,
    body?: object,
  ): Promise<Answer> => {
    const response = await fetch(`${base}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
        ...own.headers,
      },
      signal: own.abortSignal ?? null,
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw callError(response, text)
    const fields: unknown = JSON.parse(text)
    const fault = callError(response, text, named('AI_TypeValidationError', 'not as documented'))
    return { fields: isRecord(fields) ? fields : {}, fault }
  }
}

/** `failureOf` knows the SDK's errors by their names. */
function named(name: string, message: string, cause?: Error): Error {
  return Object.assign(new Error(message, { cause }), { name })
}

function callError({ status, headers }: Response, responseBody: string, cause?: Error): Error {
  const error = named('AI_APICallError', `status ${status}`, cause)
  return Object.assign(error, {
    statusCode: status,
    responseHeaders: Object.fromEntries(headers),
    responseBody,
  })
}

type GivenFile = NonNullable<CallOptions['files']>[number]

function writeAddress(file: GivenFile): string {
  if (file.type === 'url') return file.url
  const data = typeof file.data === 'string' ? file.data : file.data.toBase64()
  return `data:${file.mediaType};base64,${data}`
}
