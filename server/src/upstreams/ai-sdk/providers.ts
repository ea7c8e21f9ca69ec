/** What the dialect knows about each provider package: how it is opened, its names for our options, what it lacks. */
import type { EmbeddingModelV3, EmbeddingModelV4 } from '@ai-sdk/provider'
import { isRecord } from '#core/text/record.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { ALIBABA_KINDS, BEDROCK_KINDS, COHERE_KINDS, GOOGLE_KINDS } from '../openai/error-kinds.ts'
import type { ErrorWords } from './failures.ts'
import { bedrockSettings, commonSettings, vertexSettings } from '../openai/provider-settings.ts'

/** Two versions of the SDK's specification exist; for embeddings both are called alike. */
export type Model = EmbeddingModelV3 | EmbeddingModelV4
export type Fetch = typeof globalThis.fetch

/** The package's names for what a call can ask. The specification's own `dimensions` is ignored by most packages. */
interface OptionNames {
  /** The key of `providerOptions` that holds them. */
  readonly key: string
  readonly dimensions?: string
  readonly inputType?: string
  /** The type of the vectors. Absent: the package asks for float alone. */
  readonly outputType?: string
  /** Options without which the package fills in its own width or input type, rather than the native one. */
  readonly neverLeftOut?: readonly ('dimensions' | 'inputType')[]
  /** Sent with every call: an input that is too long must be refused, not truncated silently. */
  readonly always?: Readonly<Record<string, string | boolean>>
}

export interface Provider extends ErrorWords {
  /** Imports the package on first use: together they take 120 MB, and most nodes need one or two. */
  model(call: EmbeddingCall, fetch: Fetch): Promise<Model>
  names(call: EmbeddingCall): OptionNames
  /** The indexes in an answer's body, for wires that have them: the packages take vectors in the order they come. */
  readonly indexes?: (body: unknown) => readonly unknown[]
}

export const providers: Readonly<Record<string, Provider>> = {
  cohere: {
    model: async ({ deployment }, fetch) => {
      const { createCohere } = await import('@ai-sdk/cohere')
      return createCohere(commonSettings(deployment, fetch)).embeddingModel(deployment.upstreamModel)
    },
    names: () => ({
      key: 'cohere',
      dimensions: 'outputDimension',
      inputType: 'inputType',
      neverLeftOut: ['inputType'],
      always: { truncate: 'NONE' },
    }),
    kinds: COHERE_KINDS,
  },

  google: {
    model: async ({ deployment }, fetch) => {
      const { createGoogle } = await import('@ai-sdk/google')
      return createGoogle(commonSettings(deployment, fetch)).embeddingModel(deployment.upstreamModel)
    },
    names: () => ({ key: 'google', dimensions: 'outputDimensionality', inputType: 'taskType' }),
    kinds: GOOGLE_KINDS,
  },

  'google-vertex': {
    model: async ({ deployment }, fetch) => {
      const { createGoogleVertex } = await import('@ai-sdk/google-vertex')
      return createGoogleVertex(vertexSettings(deployment, fetch)).embeddingModel(deployment.upstreamModel)
    },
    names: () => ({
      key: 'googleVertex',
      dimensions: 'outputDimensionality',
      inputType: 'taskType',
      always: { autoTruncate: false },
    }),
    kinds: GOOGLE_KINDS,
    // Google's auth library fetches the token, with its own connections and errors.
    strangers: 'rejectedUs',
  },

  'amazon-bedrock': {
    model: async (call, fetch) => {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock')
      const bedrock = createAmazonBedrock(bedrockSettings(call.deployment, fetch))
      return bedrock.embeddingModel(call.deployment.upstreamModel, { modelFamily: bedrockFamily(call) })
    },
    names: (call) => BEDROCK_NAMES[bedrockFamily(call)],
    kinds: BEDROCK_KINDS,
  },

  voyage: {
    model: async ({ deployment }, fetch) => {
      const { createVoyage } = await import('@ai-sdk/voyage')
      return createVoyage(commonSettings(deployment, fetch)).embeddingModel(deployment.upstreamModel)
    },
    names: () => ({
      key: 'voyage',
      dimensions: 'outputDimension',
      inputType: 'inputType',
      outputType: 'outputDtype',
      always: { truncation: false },
    }),
    indexes: dataIndexes,
  },

  mistral: {
    model: async ({ deployment }, fetch) => {
      const { createMistral } = await import('@ai-sdk/mistral')
      return createMistral(commonSettings(deployment, fetch)).embeddingModel(deployment.upstreamModel)
    },
    names: () => ({ key: 'mistral', dimensions: 'outputDimension', outputType: 'outputDtype' }),
    indexes: dataIndexes,
  },

  alibaba: {
    model: async ({ deployment }, fetch) => {
      const { createAlibaba } = await import('@ai-sdk/alibaba')
      // `baseURL` is the chat address; embeddings have another.
      const { baseURL, ...settings } = commonSettings(deployment, fetch)
      const address = baseURL === undefined ? {} : { embeddingBaseURL: baseURL }
      return createAlibaba({ ...settings, ...address }).embeddingModel(deployment.upstreamModel)
    },
    names: () => ({ key: 'alibaba', dimensions: 'dimension', inputType: 'textType' }),
    // This package does sort; the indexes in order show whether one came twice.
    indexes: (body) => {
      const output = isRecord(body) && isRecord(body['output']) ? body['output']['embeddings'] : undefined
      return fieldOfEach(output, 'text_index').toSorted((a, b) => Number(a) - Number(b))
    },
    kinds: ALIBABA_KINDS,
  },

  fireworks: {
    model: async ({ deployment }, fetch) => {
      const { createFireworks } = await import('@ai-sdk/fireworks')
      return createFireworks(commonSettings(deployment, fetch)).embeddingModel(deployment.upstreamModel)
    },
    names: () => ({ key: 'fireworks', dimensions: 'dimensions' }),
    indexes: dataIndexes,
  },
}

type BedrockFamily = 'titan' | 'cohere' | 'nova'

/** Bedrock has one path and a body for each family of models. */
const BEDROCK_NAMES: Readonly<Record<BedrockFamily, OptionNames>> = {
  titan: { key: 'amazonBedrock', dimensions: 'dimensions' },
  cohere: {
    key: 'amazonBedrock',
    dimensions: 'outputDimension',
    inputType: 'inputType',
    neverLeftOut: ['inputType'],
    always: { truncate: 'NONE' },
  },
  nova: {
    key: 'amazonBedrock',
    dimensions: 'embeddingDimension',
    inputType: 'embeddingPurpose',
    neverLeftOut: ['inputType', 'dimensions'],
    always: { truncate: 'NONE' },
  },
}

/**
 * The family is catalog data, since ids may be ARNs: the name of the input type's field decides, then the
 * upstream's `modelFamily`; a model without input types is Titan's.
 */
function bedrockFamily({ inputTypeField, deployment }: EmbeddingCall): BedrockFamily {
  if (inputTypeField === BEDROCK_NAMES.nova.inputType) return 'nova'
  if (inputTypeField === BEDROCK_NAMES.cohere.inputType) return 'cohere'
  const family = deployment.upstream.settings['modelFamily']
  return family === 'cohere' || family === 'nova' ? family : 'titan'
}

function dataIndexes(body: unknown): readonly unknown[] {
  return fieldOfEach(isRecord(body) ? body['data'] : undefined, 'index')
}

function fieldOfEach(items: unknown, field: string): unknown[] {
  return Array.isArray(items) ? items.map((item) => (isRecord(item) ? item[field] : undefined)) : []
}
