/** Inputs to vectors, as a caller would ask, paid by a project. */
import { client, type Schema } from '../client.ts'

export type InputType = NonNullable<Schema<'PlaygroundEmbeddingsInput'>['input_type']>

export interface PlayedEmbeddings {
  /** The body as it came: the worker reads it, so that the page never waits for it. */
  readonly answer: ArrayBuffer
  readonly requestId: string | undefined
  /** null: the model has no price. */
  readonly costUsd: string | null
  readonly deployment: string | undefined
  readonly space: string | undefined
  readonly tookMs: number
}

export interface EmbeddingsRequest {
  readonly project: string
  readonly model: string
  /** Texts as they are; what has other parts as `{ content: [...] }`. */
  readonly inputs: readonly unknown[]
  readonly inputType: InputType | undefined
  /** The secret of a key that the request runs as. Without it: the console's own key in the project. */
  readonly secret?: string
}

export async function playEmbeddings(
  { project, model, inputs, inputType, secret }: EmbeddingsRequest,
  signal: AbortSignal,
): Promise<PlayedEmbeddings> {
  const startedMs = performance.now()
  const { data, response } = await client.POST('/api/v1/playground/embeddings', {
    // The node reads the project first: it decides whose limits hold for the rest.
    body: {
      project,
      model,
      input: inputs as string[],
      encoding_format: 'base64',
      ...(inputType !== undefined && { input_type: inputType }),
    },
    parseAs: 'arrayBuffer',
    ...(secret !== undefined && { headers: { 'x-api-key': secret } }),
    signal,
  })
  // The types tell what is in the body; it is handed on unread.
  const answer = data as unknown as ArrayBuffer
  const { headers } = response
  const cost = headers.get('x-torana-cost')
  return {
    answer,
    requestId: headers.get('x-request-id') ?? undefined,
    costUsd: cost === 'unpriced' ? null : cost,
    deployment: headers.get('x-torana-deployment') ?? undefined,
    space: headers.get('x-torana-space') ?? undefined,
    tookMs: performance.now() - startedMs,
  }
}
