/** Models that are served already: what a deployment of them on the new upstream would be. */
import type { Deployment } from '../../api/queries/deployments.ts'
import { words } from '../../words/words.ts'
import type { Found } from './form.ts'
import type { GivenPrice } from './given-price.tsx'
import { listPrice } from './price-words.ts'

export type Role = 'fallback' | 'share'

/** A deployment that is to be added to a model that has some. It is a pending change until it is saved. */
export interface AddedDeployment {
  readonly model: string
  readonly upstream: string
  readonly role: Role
  /** Undefined: its list price, or none. */
  readonly price: GivenPrice | undefined
}

export interface Beside {
  /** Of a fallback: the last tier, and never the first. */
  readonly tier: number
  /** `as openai, 0.02 / 1M tokens`. Undefined: no deployment of the model has a price. */
  readonly price: string | undefined
}

/** The deployments that a model has, as far as a further one is concerned. */
export function besideOf(model: string, deployments: readonly Deployment[]): Beside {
  const own = deployments
    .filter((one) => one.model === model)
    .toSorted((one, other) => one.priority - other.priority)
  const tiers = new Set(own.map(({ priority }) => priority)).size
  for (const { upstream, price } of own) {
    const text = listPrice(price)
    if (text !== undefined)
      return { tier: Math.max(2, tiers), price: words.upstreams.samePrice(upstream, text) }
  }
  return { tier: Math.max(2, tiers), price: undefined }
}

export function isServed({ served }: Found): boolean {
  return served !== null
}
