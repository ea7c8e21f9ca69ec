/** How each kind of upstream is asked for its models. A provider without an entry has no such list. */
import type { Upstream } from '#core/catalog/catalog.ts'
import { isRecord } from '#core/text/record.ts'
import { listedUnder, type ListedItem } from './listed.ts'

export interface Question {
  /** Path after the base URL; with a leading slash: from the root of its origin. */
  readonly path: string
  /** The header that carries the credential, or `bearer`. */
  readonly credential: string
  /** The published address, where the provider's package has its own. */
  readonly at?: string | undefined
  readonly itemsIn: (body: unknown) => readonly ListedItem[]
  /** The list contains everything for sale, not what this credential can call: it proves only that the credential works. */
  readonly isCatalogue?: boolean | undefined
}

const openaiList: Question['itemsIn'] = (body) => listedUnder(body, 'data', 'id')

/** Text Embeddings Inference serves one model, and names it at its root. */
const teiInfo: Question['itemsIn'] = (body) => {
  const id = isRecord(body) ? body['model_id'] : undefined
  return typeof id === 'string' ? [{ id }] : []
}

const BY_PROVIDER: Readonly<Record<string, Question>> = {
  cohere: {
    path: 'models?page_size=1000',
    credential: 'bearer',
    at: 'https://api.cohere.com/v1',
    itemsIn: (body) => listedUnder(body, 'models', 'name'),
  },
  google: {
    path: 'models?pageSize=1000',
    credential: 'x-goog-api-key',
    at: 'https://generativelanguage.googleapis.com/v1beta',
    itemsIn: (body) =>
      listedUnder(body, 'models', 'name').map((item) => ({ ...item, id: item.id.replace(/^models\//, '') })),
  },
  mistral: { path: 'models', credential: 'bearer', at: 'https://api.mistral.ai/v1', itemsIn: openaiList },
  fireworks: {
    path: 'models',
    credential: 'bearer',
    at: 'https://api.fireworks.ai/inference/v1',
    itemsIn: openaiList,
  },
  xai: {
    path: 'image-generation-models',
    credential: 'bearer',
    at: 'https://api.x.ai/v1',
    itemsIn: (body) => listedUnder(body, 'models', 'id'),
  },
}

/** In order: the next one is asked where the one before does not exist. Undefined when there is no list. */
export function questionsFor({ dialect, provider, baseUrl }: Upstream): readonly Question[] | undefined {
  switch (dialect) {
    case 'openai':
      return [
        { path: 'models', credential: 'bearer', itemsIn: openaiList },
        { path: '/info', credential: 'bearer', itemsIn: teiInfo },
      ]
    case 'azure':
      return [
        {
          path: '/openai/v1/models?api-version=v1',
          credential: 'api-key',
          itemsIn: openaiList,
          isCatalogue: true,
        },
      ]
    case 'ai-sdk': {
      const question = BY_PROVIDER[provider ?? '']
      if (question === undefined) return undefined
      return [baseUrl === undefined ? question : { ...question, at: undefined }]
    }
    case 'demo':
      return undefined
  }
}
