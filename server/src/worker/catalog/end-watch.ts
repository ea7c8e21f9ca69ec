/**
 * Ends of models: one node asks each upstream once a day when it shuts its models down, and sends the projects that use a model a
 * notice 90, 30, 14, 7 and 1 days before its end.
 */
import { endingModels, type AnnouncedEnd } from '#core/catalog/announced-ends.ts'
import { listModels, upstreamsOf, type Catalog, type Model, type Upstream } from '#core/catalog/catalog.ts'
import { listedAddresses, withListedEnds, type UpstreamListing } from '#core/catalog/listed-ends.ts'
import { DAY_MS, dueNotice, type NoticeDays } from '#core/catalog/model-end.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { Clock } from '#ports/clock.ts'
import type { EndNotice, ModelEndStore } from '#ports/model-ends.ts'
import type { ModelListing } from '#ports/model-listing.ts'
import type { WebhookEvent } from '#ports/webhooks.ts'

type AnyDeployment = Model['deployments'][number]

export interface EndWatchParts {
  readonly store: ModelEndStore
  readonly listing: ModelListing
  readonly clock: Clock
  /** With credentials. */
  readonly catalog: () => Catalog
  /** Whether this node does what one node does for all. */
  readonly isLeader: () => Promise<boolean>
  /** The events of a notice for one project. */
  readonly eventsFor: (end: AnnouncedEnd, days: NoticeDays, project: string) => readonly WebhookEvent[]
  readonly events: EndWatchEvents
  /** 0 to 1. */
  readonly random: () => number
}

export interface EndWatchEvents {
  /** The list has another day than the last one for models that are deployed, or a day that can't be read. */
  listed(change: {
    readonly upstream: string
    readonly ends: UpstreamListing['ends']
    readonly unread: readonly string[]
  }): void
  /** Once for each outage of a list. */
  notListed(upstream: string, failure: UpstreamFailure): void
  /** `projects` use the model, and get the notice where they have a webhook for it. */
  noticed(end: AnnouncedEnd, days: NoticeDays, projects: readonly string[]): void
}

/** Age of a node before its first list: requests come first at a start. */
const FIRST_READ_MS = 30_000
/** Longest addition to a day between two lists of an upstream, so that not all installs ask at the same time of day. */
const JITTER_MS = 3_600_000
/** Wait after a list that failed. */
const RETRY_MS = 3_600_000
/**
 * Interval at which unchanged ends are looked at again, since a project may have begun to use such a model: its users are a sum
 * over 30 days.
 */
const AGAIN_MS = 60_000

export class EndWatch {
  readonly #parts: EndWatchParts
  readonly #startedMs: number
  readonly #intervalMs: number
  /** When a failed list is asked for again, on the monotonic clock, by upstream. */
  readonly #retryAtMs = new Map<string, number>()
  /** The ends that were last looked at, with their day, and when. */
  #looked = { ends: '', atMs: -Infinity }

  constructor(parts: EndWatchParts) {
    this.#parts = parts
    this.#startedMs = parts.clock.monotonicMs()
    this.#intervalMs = DAY_MS + parts.random() * JITTER_MS
  }

  /** Does what is due now. Rejects when the store is unreachable. */
  async check(): Promise<void> {
    const { store, isLeader } = this.#parts
    if (!(await isLeader())) return
    await this.#sendNotices(await this.#readLists(await store.listings()))
  }

  async #readLists(known: readonly UpstreamListing[]): Promise<readonly UpstreamListing[]> {
    const { clock, catalog } = this.#parts
    const listings = new Map(known.map((listing) => [listing.upstream, listing]))
    if (clock.monotonicMs() - this.#startedMs < FIRST_READ_MS) return known
    const addresses = listedAddresses(catalog())
    for (const upstream of upstreamsOf(catalog())) {
      const address = addresses.get(upstream.name) ?? ''
      if (upstream.dialect === 'demo' || !this.#isDue(listings.get(upstream.name), upstream.name, address))
        continue
      const listing = await this.#read(upstream, address, listings.get(upstream.name))
      if (listing !== undefined) listings.set(upstream.name, listing)
    }
    return [...listings.values()]
  }

  #isDue(last: UpstreamListing | undefined, upstream: string, address: string): boolean {
    const { clock } = this.#parts
    if (clock.monotonicMs() < (this.#retryAtMs.get(upstream) ?? -Infinity)) return false
    if (last?.address !== address) return true
    const ageMs = clock.nowMs() - Date.parse(last.readAt)
    // A list from the future was read before the clock was set back.
    return ageMs >= this.#intervalMs || ageMs < 0
  }

  async #read(
    upstream: Upstream,
    address: string,
    last: UpstreamListing | undefined,
  ): Promise<UpstreamListing | undefined> {
    const { store, listing, clock, events } = this.#parts
    const { name } = upstream
    try {
      const listed = await listing.list(upstream)
      const found = listed.kind === 'listed' ? listed : { ends: new Map<string, string>(), unreadEnds: [] }
      const before = last?.address === address ? last.ends : {}
      // A day that can't be read takes back none that could be.
      const kept = found.unreadEnds.flatMap((id) => (id in before ? [[id, before[id] ?? '']] : []))
      const ends: Record<string, string> = Object.fromEntries([...kept, ...found.ends])
      const next = { upstream: name, address, readAt: new Date(clock.nowMs()).toISOString(), ends }
      await store.keepListing(next)
      this.#retryAtMs.delete(name)
      const deployed = this.#deployedOn(name)
      const news = Object.fromEntries(Object.entries(ends).filter(([id]) => deployed.has(id)))
      const unread = found.unreadEnds.filter((id) => deployed.has(id))
      const isChanged = [...deployed].some((id) => ends[id] !== before[id])
      if (isChanged || unread.length > 0) events.listed({ upstream: name, ends: news, unread })
      return next
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      if (!this.#retryAtMs.has(name)) events.notListed(name, error)
      this.#retryAtMs.set(name, clock.monotonicMs() + RETRY_MS)
      return undefined
    }
  }

  /** Names of models that are called there. A list may have hundreds of others. */
  #deployedOn(upstream: string): ReadonlySet<string> {
    const deployments = listModels(this.#parts.catalog()).flatMap<AnyDeployment>((model) => model.deployments)
    const own = deployments.filter((one) => one.upstream.name === upstream)
    return new Set(own.map(({ upstreamModel }) => upstreamModel))
  }

  async #sendNotices(listings: readonly UpstreamListing[]): Promise<void> {
    const { store, catalog, clock } = this.#parts
    const nowMs = clock.nowMs()
    // The catalog in force may not have followed the lists yet: a later day must not be announced in between.
    const due = endingModels(withListedEnds(catalog(), listings)).flatMap((end) => {
      const days = dueNotice(end, nowMs)
      return days === undefined ? [] : [{ end, days }]
    })
    const ends = JSON.stringify(due.map(({ end, days }) => [end.upstream, end.model, end.on, days]))
    if (ends === this.#looked.ends && clock.monotonicMs() < this.#looked.atMs + AGAIN_MS) return
    const models = [...new Set(due.map(({ end }) => end.model))]
    if (models.length > 0) {
      const sent = new Set((await store.notices(models)).map(nameOf))
      const unsent = due.filter(({ end, days }) => !sent.has(nameOf({ ...end, days })))
      const users = unsent.length > 0 ? await store.projectsUsing(models, nowMs) : new Map<string, never>()
      for (const { end, days } of unsent) await this.#send(end, days, users.get(end.model) ?? [])
    }
    this.#looked = { ends, atMs: clock.monotonicMs() }
  }

  /** A notice without a user stays due: the first project that uses the model gets it. */
  async #send(end: AnnouncedEnd, days: NoticeDays, projects: readonly string[]): Promise<void> {
    const { store, clock, eventsFor, events } = this.#parts
    if (projects.length === 0) return
    const { upstream, model, on } = end
    const all = projects.flatMap((project) => eventsFor(end, days, project))
    const isFirst = await store.send({ upstream, model, on, days }, clock.nowMs(), all)
    if (isFirst) events.noticed(end, days, projects)
  }
}

function nameOf({ upstream, model, on, days }: EndNotice): string {
  return JSON.stringify([upstream, model, on, days])
}
