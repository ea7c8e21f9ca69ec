/** Prices that people set while nodes run, and what each deployment cost when. */
import type { PriceForm } from '#core/money/price-form.ts'
import type { PriceText } from '#core/money/price-text.ts'
import type { Actor } from './audit.ts'

export interface StoredPrice {
  readonly deployment: string
  /** As torana.yaml would have it. */
  readonly form: PriceForm
  /** The name of who set it. */
  readonly by: string
  readonly atMs: number
}

/** What a deployment costs now. */
export interface NotedPrice {
  readonly deployment: string
  readonly form: PriceForm
  readonly text: readonly PriceText[]
  /** Who decided it: a person, a line of torana.yaml, or the built-in catalog. */
  readonly by: string
}

/**
 * A change is one step with its audit entry and the next version of the directory, so that all nodes learn of it within two
 * seconds. Trouble with the store rejects with `StoreUnreachable`.
 */
export interface PriceStore {
  read(): Promise<readonly StoredPrice[]>
  /** `before`: what was in force, for the audit. */
  set(deployment: string, form: PriceForm, before: PriceForm, actor: Actor): Promise<void>
  /** Refused when there is none: `missing`. */
  forget(deployment: string, actor: Actor): Promise<void>
  /** Notes what deployments cost now. What differs from the last that was noted is a change. */
  note(prices: readonly NotedPrice[]): Promise<void>
}
