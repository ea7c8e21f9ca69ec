/** Calls of the ai-sdk dialect against the fake provider, one row for each wire and path. */
import assert from 'node:assert/strict'
import type { Upstream } from '#core/catalog/catalog.ts'
import type { UpstreamFailure } from '#core/fault/failure.ts'
import type { EmbeddingCall, EmbeddingUpstream } from '#ports/upstream.ts'
import { widthOf } from '../../../lab/fake-provider/wire.ts'
import { aDeployment } from './deployments.ts'
import { PATIENCE_MS } from './patience.ts'
import { upstreamFailureOf } from './upstream-failure.ts'

export const texts = ['a cat', 'two kittens on a mat', 'ein Kätzchen', 'a cat again']

export interface Row {
  readonly title: string
  readonly provider: string
  /** The wire's address below a scenario. */
  readonly base: string
  readonly model: string
  readonly dimensions?: number
  readonly inputType?: string
  readonly inputTypeField?: string
  /** Wires that take one text a call. */
  readonly single?: true
  readonly settings?: Upstream['settings']
  /** Google's API reports none. */
  readonly reportsTokens?: false
  /** The wire's value when no width is requested. */
  readonly silentDimensions?: number
}

export const rows: Row[] = [
  {
    title: 'Cohere',
    provider: 'cohere',
    base: 'cohere/v2',
    model: 'embed-v4.0-w512',
    dimensions: 256,
    inputType: 'search_document',
  },
  {
    title: 'Google',
    provider: 'google',
    base: 'google/v1beta',
    model: 'gemini-w96',
    dimensions: 32,
    inputType: 'RETRIEVAL_QUERY',
    reportsTokens: false,
  },
  {
    title: 'Google, one text',
    provider: 'google',
    base: 'google/v1beta',
    model: 'gemini-w96',
    dimensions: 32,
    inputType: 'RETRIEVAL_QUERY',
    single: true,
    reportsTokens: false,
  },
  {
    title: 'Vertex',
    provider: 'google-vertex',
    base: 'vertex/v1/publishers/google',
    model: 'text-embedding-005-w96',
    dimensions: 32,
    inputType: 'RETRIEVAL_DOCUMENT',
  },
  {
    title: 'Vertex, embedContent',
    provider: 'google-vertex',
    base: 'vertex/v1/publishers/google',
    model: 'gemini-embedding-2',
    dimensions: 768,
    single: true,
  },
  {
    title: 'Bedrock Titan',
    provider: 'amazon-bedrock',
    base: 'bedrock',
    model: 'amazon.titan-embed-text-v2:0-w1024',
    dimensions: 512,
    single: true,
  },
  {
    title: 'Bedrock Cohere',
    provider: 'amazon-bedrock',
    base: 'bedrock',
    model: 'cohere.embed-v4:0',
    dimensions: 512,
    inputType: 'search_query',
    inputTypeField: 'inputType',
  },
  {
    title: 'Bedrock Cohere behind an ARN',
    provider: 'amazon-bedrock',
    base: 'bedrock',
    model: 'arn:aws:bedrock:eu-west-1:1:application-inference-profile/x-w1024',
    dimensions: 512,
    inputType: 'search_query',
    settings: { modelFamily: 'cohere' },
  },
  {
    title: 'Bedrock Nova',
    provider: 'amazon-bedrock',
    base: 'bedrock',
    model: 'amazon.nova-2-multimodal-embeddings-w3072',
    dimensions: 384,
    inputType: 'GENERIC_RETRIEVAL',
    inputTypeField: 'embeddingPurpose',
    single: true,
    silentDimensions: 3072,
  },
  {
    title: 'Voyage',
    provider: 'voyage',
    base: 'voyage/v1',
    model: 'voyage-4-w96',
    dimensions: 32,
    inputType: 'document',
  },
  { title: 'Mistral', provider: 'mistral', base: 'mistral/v1', model: 'codestral-embed-w96', dimensions: 32 },
  {
    title: 'Alibaba',
    provider: 'alibaba',
    base: 'alibaba/api/v1',
    model: 'text-v4-w96',
    dimensions: 32,
    inputType: 'query',
  },
  {
    title: 'Fireworks',
    provider: 'fireworks',
    base: 'fireworks/inference/v1',
    model: 'nomic-w96',
    dimensions: 32,
  },
]

export function rowOf(title: string): Row {
  return rows.find((row) => row.title === title) ?? assert.fail(title)
}

let calls = 0

/** `address` is the fake provider's, with a scenario behind it. */
export function callOf(row: Row, address: string, overrides: Partial<EmbeddingCall> = {}): EmbeddingCall {
  const { provider, base, settings = {} } = row
  calls += 1
  return {
    callId: `call-${calls}`,
    project: 'p',
    deployment: aDeployment({
      upstreamModel: row.model,
      upstream: {
        dialect: 'ai-sdk',
        provider,
        baseUrl: `${address}/${base}`,
        apiKey: 'fake-key-9876',
        settings,
      },
    }),
    inputs: { kind: 'texts', texts: row.single ? ['only one'] : texts },
    dimensions: undefined,
    width: widthOf(row.model),
    inputType: row.inputType,
    inputTypeField: row.inputTypeField,
    user: undefined,
    extraFields: {},
    wantedForm: 'float32',
    timeoutMs: PATIENCE_MS + 0.5,
    ...overrides,
  }
}

export function withUpstream(call: EmbeddingCall, overrides: Partial<Upstream>): EmbeddingCall {
  const { deployment } = call
  return { ...call, deployment: { ...deployment, upstream: { ...deployment.upstream, ...overrides } } }
}

export function textsOf(call: EmbeddingCall): readonly string[] {
  return call.inputs.kind === 'texts' ? call.inputs.texts : []
}

export async function failureOf(upstream: EmbeddingUpstream, call: EmbeddingCall): Promise<UpstreamFailure> {
  const error = await upstreamFailureOf(upstream.embed(call))
  assert.equal(error.detail.deployment, call.deployment.id)
  return error
}
