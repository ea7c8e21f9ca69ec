/** What the gateways of a failover allow: the vectors of all chaos tests, images, and a soft budget. */
import { configText as picturesConfig, GATEWAY_KEY } from '../../../server/test/support/gateway.ts'
import { MODELS } from '../images/house.ts'
import { configText, type KeyOfLoad, type Terms } from '../traffic.ts'

export const SOFT_KEY: KeyOfLoad = { name: 'soft', secret: 'chaos-key-with-a-soft-budget', weight: 25 }

/** Their calls take longer than a commit and shorter than a failover. */
export const PICTURE_MODELS = ['slow', 'polled-slow'] as const

interface Config {
  readonly upstreams: object
  readonly models: object
  readonly projects: object
  readonly limits: object
}

/** Generous timeouts, so that only the failover shows. */
export const TIMES = { attemptTimeoutMs: 10_000, requestTimeoutMs: 15_000 }

export function failoverConfig(providerUrl: string, picturesUrl: string, terms: Terms): string {
  const vectors = JSON.parse(configText(providerUrl, terms)) as Config
  const images = Object.fromEntries(PICTURE_MODELS.map((id) => [id, MODELS[id]]))
  const pictures = JSON.parse(picturesConfig({ images }, picturesUrl)) as Config
  return JSON.stringify({
    ...vectors,
    // A busy machine is not what this tests.
    limits: { ...vectors.limits, overloadBrake: false },
    upstreams: { ...vectors.upstreams, ...pictures.upstreams },
    models: { ...vectors.models, ...pictures.models },
    projects: {
      ...vectors.projects,
      pictures: {
        keys: [{ name: 'pictures', secret: GATEWAY_KEY }],
        budget: { usd: 1000, per: 'day', hard: true },
      },
      soft: { keys: [{ name: SOFT_KEY.name, secret: SOFT_KEY.secret }], budget: { usd: 1, per: 'total' } },
    },
  })
}
