/** Catalog values for tests: sound defaults, and only what a test is about spelt out. */
import type { Deployment, EmbeddingCapabilities, Upstream } from '#core/catalog/catalog.ts'

export function anUpstream(overrides: Partial<Upstream> = {}): Upstream {
  return { name: 'test', dialect: 'openai', apiKey: 'test-key-0001', headers: {}, settings: {}, ...overrides }
}

export interface DeploymentOverrides extends Partial<Omit<Deployment, 'upstream' | 'capabilities'>> {
  readonly upstream?: Partial<Upstream>
  readonly capabilities?: Partial<EmbeddingCapabilities>
}

export function aDeployment(overrides: DeploymentOverrides = {}): Deployment {
  const upstream = anUpstream(overrides.upstream)
  const upstreamModel = overrides.upstreamModel ?? 'embed-w8'
  return {
    id: `${upstreamModel}/${upstream.name}`,
    priority: 0,
    weight: 1,
    price: { kind: 'unpriced' },
    ...overrides,
    upstreamModel,
    upstream,
    capabilities: {
      maxInputs: 2048,
      encodings: ['float', 'base64'],
      tokenArrays: true,
      dimensions: { kind: 'none' },
      dimensionsField: 'dimensions',
      unitDimensions: true,
      user: true,
      maxParallelCalls: 4,
      countsTokens: true,
      harmlessFields: [],
      ...overrides.capabilities,
    },
  }
}
