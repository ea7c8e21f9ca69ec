/** The catalog in force: what the configuration declares, with the upstreams, models, credentials and prices of the store. */
import type { Catalog, Project } from '#core/catalog/catalog.ts'
import type { CredentialStore } from '#ports/credentials.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { ExtendedCatalog, StoredConfiguration, StoredObject } from '#ports/stored-configuration.ts'
import { lastKnown, withCredentials } from '#worker/keys/credentials.ts'

/** A configuration file that could not replace the one in force. */
export interface ConfigRefusal {
  readonly sinceMs: number
  readonly problems: readonly string[]
}

/** What the configuration declares. */
export interface Configuration {
  readonly catalog: Catalog
  /** The catalog with objects of the store beside its own, and why parts of them are left out. */
  readonly extend: (objects: readonly StoredObject[]) => ExtendedCatalog
}

/** What completes the declared catalog. */
export interface Completions {
  readonly credentials: Pick<CredentialStore, 'open'>
  readonly objects: Pick<StoredConfiguration, 'read'>
  readonly prices: {
    /** The catalog with the prices of the store. */
    applied(catalog: Catalog): Promise<Catalog>
    /** Records what deployments cost from now on. */
    note(catalog: Catalog): void
  }
}

/** Notes for people about what of the store can't be used now. */
export interface CatalogLog {
  warn(text: string, error?: unknown): void
  error(text: string, error: unknown): void
}

export interface CatalogOptions {
  /** The key of the environment or of a first start. It belongs to project `default`. */
  readonly firstKey: string | undefined
  readonly log: CatalogLog
}

/** Prepares for these projects while the earlier ones are still in force. The function that it returns makes the change at once. */
type ProjectFollower = (projects: readonly Project[]) => Promise<() => void>

export class CatalogInForce {
  readonly #log: CatalogLog
  readonly #firstKey: string | undefined
  #configuration: Configuration
  #declared: Catalog
  #current: Catalog
  /** Undefined until the stores are open. */
  #stores: Completions | undefined
  #objects: readonly StoredObject[] = []
  #completions = 0
  /** The latest completion. */
  #latest: Promise<void> = Promise.resolve()
  readonly #projectFollowers: ProjectFollower[] = []
  readonly #followers: ((catalog: Catalog) => void)[] = []
  #refusal: ConfigRefusal | undefined

  constructor(configuration: Configuration, { firstKey, log }: CatalogOptions) {
    this.#configuration = configuration
    this.#declared = configuration.catalog
    this.#current = configuration.catalog
    this.#firstKey = firstKey
    this.#log = log
  }

  /** The configuration alone. */
  get configured(): Catalog {
    return this.#configuration.catalog
  }

  /** The configuration with the additions of the store. */
  get declared(): Catalog {
    return this.#declared
  }

  /** The same with credentials and prices of the store: requests use it. */
  get current(): Catalog {
    return this.#current
  }

  /** The projects of the configuration and `default`, whose key may use every model. */
  get projects(): readonly Project[] {
    return this.#withFirstKey(this.#declared.projects)
  }

  #withFirstKey(projects: readonly Project[]): readonly Project[] {
    if (this.#firstKey === undefined) return projects
    const managedAt = 'environment'
    return [
      ...projects,
      { name: 'default', managedAt, keys: [{ name: 'bootstrap', secret: this.#firstKey, managedAt }] },
    ]
  }

  /** Calls the follower with the projects of the configuration now, and again whenever they change. */
  async followProjects(follower: ProjectFollower): Promise<void> {
    this.#projectFollowers.push(follower)
    const change = await follower(this.projects)
    change()
  }

  /** Calls the follower in the turn of the event loop in which the catalog changes. Followers are called in the order in which they came. */
  follow(follower: (catalog: Catalog) => void): void {
    this.#followers.push(follower)
  }

  /** From now on the store completes what is declared. */
  async useStores({ credentials, ...others }: Completions): Promise<void> {
    this.#stores = { credentials: lastKnown(credentials), ...others }
    await this.#complete()
  }

  /** The catalog that these objects of the store would make, without credentials and prices, and what would be left out. */
  extendedBy(objects: readonly StoredObject[]): ExtendedCatalog {
    return this.#configuration.extend(objects)
  }

  /** Undefined while the configuration in force is that of the file. */
  get refusal(): ConfigRefusal | undefined {
    return this.#refusal
  }

  /** A changed file is wrong. What was declared before stays in force. */
  refuse(problems: readonly string[], nowMs: number): void {
    const sinceMs = this.#refusal?.sinceMs ?? nowMs
    this.#refusal = { sinceMs, problems }
  }

  /** Puts another configuration in force. Followers prepare first, which may take a while; then all of it changes in one turn of the event loop. */
  async declare(configuration: Configuration): Promise<void> {
    const projects = this.#withFirstKey(configuration.catalog.projects)
    const changes = await Promise.all(this.#projectFollowers.map((follower) => follower(projects)))
    this.#refusal = undefined
    this.#configuration = configuration
    this.#extend()
    for (const change of changes) change()
    this.refresh()
  }

  /** Something in the stores may have changed. */
  refresh(): void {
    this.#complete().catch((error: unknown) =>
      this.#log.error('stored credentials could not be read; the last ones stay in use', error),
    )
  }

  /** Resolves when what the stores hold now is in force on this node. */
  completed(): Promise<void> {
    return this.#complete()
  }

  #complete(): Promise<void> {
    if (this.#stores === undefined) return Promise.resolve()
    this.#completions += 1
    this.#latest = this.#completeFrom(this.#stores, this.#completions)
    return this.#latest
  }

  async #completeFrom({ credentials, objects: store, prices }: Completions, own: number): Promise<void> {
    const objects = await this.#readObjects(store)
    // A later completion is in progress: it knows of changes that this one may have missed.
    if (own !== this.#completions) return this.#latest
    // Equal objects must not make new models: requests remember facts about the present ones.
    if (textOf(objects) !== textOf(this.#objects)) {
      this.#objects = objects
      this.#extend()
    }
    const { catalog: credentialed, problems } = await withCredentials(this.#declared, credentials)
    for (const problem of problems) this.#log.warn(problem)
    const catalog = await prices.applied(credentialed)
    if (own !== this.#completions) return this.#latest
    this.#current = catalog
    for (const follower of this.#followers) follower(catalog)
    prices.note(catalog)
  }

  /** While the store is unreachable, its last answer holds. */
  async #readObjects(store: Completions['objects']): Promise<readonly StoredObject[]> {
    try {
      return await store.read()
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error
      this.#log.warn('upstreams and models of the store could not be read; the last ones stay', error)
      return this.#objects
    }
  }

  #extend(): void {
    const { catalog, problems } = this.#configuration.extend(this.#objects)
    for (const { text } of problems) this.#log.warn(`of the store, left out: ${text}`)
    this.#declared = catalog
  }
}

function textOf(objects: readonly StoredObject[]): string {
  return JSON.stringify(objects.map(({ revision, ...one }) => ({ ...one, revision: String(revision) })))
}
