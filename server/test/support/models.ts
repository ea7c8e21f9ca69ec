/** Models and requests for tests: sound defaults, and only what a test is about spelt out. */
import type { EmbeddingFacts, EmbeddingModel } from '#core/catalog/catalog.ts'
import type { EmbeddingRequest } from '#core/embedding/request.ts'
import { aDeployment } from './deployments.ts'

export interface ModelOverrides extends Partial<Omit<EmbeddingModel, 'facts'>> {
  readonly facts?: Partial<EmbeddingFacts>
}

export function aModel({ facts, ...overrides }: ModelOverrides = {}): EmbeddingModel {
  const id = overrides.id ?? 'embed-w8'
  const dimensions = facts?.dimensions ?? 8
  return {
    id,
    kind: 'embedding',
    aliases: [],
    ownedBy: 'test',
    unsupported: 'refuse',
    deployments: [aDeployment()],
    cache: undefined,
    microBatch: undefined,
    isGuarded: false,
    managedBy: 'test',
    ...overrides,
    facts: {
      dimensions,
      matryoshka: false,
      tokenizer: 'cl100k_base',
      tokenCounts: 'estimated',
      inputType: { rule: 'none' },
      ...facts,
    },
  }
}

export function aRequest(overrides: Partial<EmbeddingRequest> = {}): EmbeddingRequest {
  return {
    model: 'embed-w8',
    input: { kind: 'texts', texts: ['a text'] },
    dimensions: undefined,
    encoding: 'float',
    inputType: undefined,
    user: undefined,
    extraFields: {},
    ...overrides,
  }
}
