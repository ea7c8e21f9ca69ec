import type { UpstreamListing } from '#core/catalog/listed-ends.ts'
import type { EndNotice, ModelEndStore } from '#ports/model-ends.ts'
import type { WebhookEvent } from '#ports/webhooks.ts'

/** Ends of models in memory, for tests that need no ledger: a test says who uses a model. */
export class MemoryModelEnds implements ModelEndStore {
  readonly users = new Map<string, readonly string[]>()
  readonly sent: (EndNotice & { readonly events: readonly WebhookEvent[] })[] = []
  readonly #listings = new Map<string, UpstreamListing>()

  async listings(): Promise<readonly UpstreamListing[]> {
    return [...this.#listings.values()]
  }

  async keepListing(listing: UpstreamListing): Promise<void> {
    this.#listings.set(listing.upstream, listing)
  }

  async notices(models: readonly string[]): Promise<readonly EndNotice[]> {
    return this.sent.filter(({ model }) => models.includes(model))
  }

  async projectsUsing(): Promise<ReadonlyMap<string, readonly string[]>> {
    return this.users
  }

  async send(notice: EndNotice, _sentAtMs: number, events: readonly WebhookEvent[]): Promise<boolean> {
    const { upstream, model, on, days } = notice
    const isKnown = this.sent.some(
      (one) => one.upstream === upstream && one.model === model && one.on === on && one.days === days,
    )
    if (!isKnown) this.sent.push({ ...notice, events })
    return !isKnown
  }

  async addSubstitutions(): Promise<void> {}
}
