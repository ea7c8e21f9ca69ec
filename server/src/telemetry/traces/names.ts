/**
 * Names of spans and their attributes, in this file alone: OpenTelemetry's GenAI conventions are in
 * development (schema `gen-ai-dev/1.42.0-dev`), and change. Names that they lack begin with `torana.`.
 * Prompts, inputs, vectors and images are never among the values.
 */

/** As `RequestRecord.route`. */
export const ROUTES: Readonly<Record<string, { readonly path: string; readonly operation: string }>> = {
  embeddings: { path: '/v1/embeddings', operation: 'embeddings' },
  // The conventions have no operation for images yet, and allow custom names.
  images: { path: '/v1/images/generations', operation: 'image_generation' },
  'image-edits': { path: '/v1/images/edits', operation: 'image_edit' },
}

/** The steps of a request, in order. Each ends at a moment of its trace. */
export const STEPS = [
  { name: 'authenticate', until: 'authenticatedMs' },
  { name: 'read', until: 'readMs' },
  { name: 'order', until: 'admittingMs' },
  { name: 'admit', until: 'admittedMs' },
  { name: 'look up', until: 'lookedUpMs' },
  { name: 'gather', until: 'gatheredMs' },
  { name: 'settle', until: 'settledMs' },
] as const
export const LAST_STEP = 'answer'
export const WAIT = 'wait for a turn'

/** Names of providers where the conventions have another. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['azure', 'azure.ai.openai'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['bedrock', 'aws.bedrock'],
  ['google', 'gcp.gemini'],
  ['google-vertex', 'gcp.vertex_ai'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
])

export function providerName(provider: string): string {
  return PROVIDERS.get(provider) ?? provider
}

export const ATTRIBUTES = {
  method: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
  errorType: 'error.type',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  outputType: 'gen_ai.output.type',
  choices: 'gen_ai.request.choice.count',
  encodings: 'gen_ai.request.encoding_formats',
  dimensions: 'gen_ai.embeddings.dimension.count',
  inputTokens: 'gen_ai.usage.input_tokens',
  /** Not part of the conventions, but sent by other gateways: US dollars. */
  cost: 'gen_ai.usage.cost',
  requestId: 'torana.request.id',
  clientRequestId: 'torana.client_request.id',
  project: 'torana.project',
  keyId: 'torana.key.id',
  inputs: 'torana.inputs',
  cacheHits: 'torana.cache.hits',
  images: 'torana.images',
  calls: 'torana.calls',
  space: 'torana.space',
  callId: 'torana.call.id',
  deployment: 'torana.deployment',
  attempt: 'torana.attempt',
  insteadOf: 'torana.attempt.instead_of',
  sharedWith: 'torana.call.shared_with',
  upstreamRequestId: 'torana.upstream.request.id',
  reason: 'torana.failure.reason',
  firstByteSeconds: 'torana.call.time_to_first_byte',
} as const
