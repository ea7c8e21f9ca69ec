/** The catalog in force: what the configuration declares, with the upstreams, models and credentials of the store. */
import { listModels, type Catalog, type Project } from '#core/catalog.ts'
import type { ConfigAdditions } from '#config/build/additions.ts'
import type { LoadedConfig } from '#config/load.ts'
import { ThreadLoading } from '#config/load-in-thread.ts'
import { watchConfig, type ConfigWatch, type FileLook } from '#config/reload.ts'
import type { Environment } from '#config/file/variable.ts'
import type { CredentialStore } from '#ports/credentials.ts'
import { NO_ADDITIONS, type StoredAdditions, type StoredUpstreams } from '#ports/stored-upstreams.ts'
import { StoreAway } from '#ports/store.ts'
import type { Log } from '#telemetry/log.ts'
import type { PriceStore } from '#ports/prices.ts'
import { lastKnown, withCredentials } from '#worker/keys/credentials.ts'
import type { Basics } from './basics.ts'
import type { ConfigAudit } from './config-audit.ts'
import { StoredPrices } from './prices.ts'

/** How often the node looks at the configuration file. */
const RELOAD_INTERVAL_MS = 1000

/** A configuration file that could not replace the one in force. */
export interface ConfigRefusal {
  readonly sinceMs: number
  readonly problems: readonly string[]
}

/** What the configuration says, and what becomes of it with additions of the store. */
type Configuration = Pick<LoadedConfig, 'catalog' | 'extend'>

/** Stores that complete what is declared. */
export interface CompletingStores {
  readonly credentials: CredentialStore
  /** Undefined: nothing is kept. */
  readonly upstreams: Pick<StoredUpstreams, 'read'> | undefined
  readonly prices: Pick<PriceStore, 'read' | 'note'> | undefined
}

/** Prepares for these projects while those of before count. What it returns makes the change, in no time. */
type ProjectFollower = (projects: readonly Project[]) => Promise<() => void>

export class CatalogInForce {
  readonly #log: Log
  readonly #firstKey: string | undefined
  #configuration: Configuration
  #declared: Catalog
  #current: Catalog
  #credentials: Pick<CredentialStore, 'open'> | undefined
  #upstreams: CompletingStores['upstreams']
  #additions: StoredAdditions = NO_ADDITIONS
  #prices: StoredPrices | undefined
  #completions = 0
  readonly #projectFollowers: ProjectFollower[] = []
  readonly #followers: ((catalog: Catalog) => void)[] = []
  #refusal: ConfigRefusal | undefined

  /** `firstKey`: the key of the environment or of a first start. It belongs to project `default`. */
  constructor(configuration: Configuration, firstKey: string | undefined, log: Log) {
    this.#configuration = configuration
    this.#declared = configuration.catalog
    this.#current = configuration.catalog
    this.#firstKey = firstKey
    this.#log = log
  }

  /** What the configuration says alone. */
  get configured(): Catalog {
    return this.#configuration.catalog
  }

  /** What the configuration and the store say. */
  get declared(): Catalog {
    return this.#declared
  }

  /** The same with the credentials of the store: what requests are served by. */
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

  /** Tells the projects of the configuration now, and again in the turn in which they change. */
  async followProjects(follower: ProjectFollower): Promise<void> {
    this.#projectFollowers.push(follower)
    const change = await follower(this.projects)
    change()
  }

  /** Tells the catalog in the turn in which it changes, to the followers in the order in which they came. */
  follow(follower: (catalog: Catalog) => void): void {
    this.#followers.push(follower)
  }

  /** From now on upstreams without a credential get theirs from the store, and models of the store are served. */
  async useStores({ credentials, upstreams, prices }: CompletingStores): Promise<void> {
    this.#credentials = lastKnown(credentials)
    this.#upstreams = upstreams
    this.#prices = prices && new StoredPrices(prices, this.#log)
    await this.#complete()
  }

  /** What would be left out of these additions, and why. */
  problemsWith(additions: StoredAdditions): readonly string[] {
    return this.#configuration.extend(entriesOf(additions)).problems
  }

  /** Undefined while the configuration in force is that of the file. */
  get refusal(): ConfigRefusal | undefined {
    return this.#refusal
  }

  /** The file was read anew, and is wrong. What was declared before stays in force. */
  refuse(problems: readonly string[], nowMs: number): void {
    const sinceMs = this.#refusal?.sinceMs ?? nowMs
    this.#refusal = { sinceMs, problems }
  }

  /** The configuration was read anew. Followers prepare first, which may take a while; then all of it is in force in one turn. */
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
    this.completed().catch((error: unknown) =>
      this.#log.error({ err: error }, 'stored credentials could not be read; the last ones stay in use'),
    )
  }

  /** Resolves when what the stores hold now is in force on this node. */
  completed(): Promise<void> {
    return this.#complete()
  }

  async #complete(): Promise<void> {
    if (this.#credentials === undefined) return
    this.#completions += 1
    const own = this.#completions
    const additions = await this.#readAdditions()
    if (own !== this.#completions) return
    // The same additions make the same models: what requests remember of them stays true.
    if (JSON.stringify(additions) !== JSON.stringify(this.#additions)) {
      this.#additions = additions
      this.#extend()
    }
    const { catalog: credentialed, problems } = await withCredentials(this.#declared, this.#credentials)
    for (const problem of problems) this.#log.warn(problem)
    const catalog = (await this.#prices?.applied(credentialed)) ?? credentialed
    // Something may have changed meanwhile; then a later completion is under way.
    if (own !== this.#completions) return
    this.#current = catalog
    for (const follower of this.#followers) follower(catalog)
    this.#prices?.note(catalog)
  }

  /** While the store is away its last word stands. */
  async #readAdditions(): Promise<StoredAdditions> {
    try {
      return (await this.#upstreams?.read()) ?? NO_ADDITIONS
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error
      this.#log.warn(
        { err: error },
        'upstreams and models of the store could not be read; the last ones stay',
      )
      return this.#additions
    }
  }

  #extend(): void {
    const { catalog, problems } = this.#configuration.extend(entriesOf(this.#additions))
    for (const problem of problems) this.#log.warn(`of the store, left out: ${problem}`)
    this.#declared = catalog
  }
}

/** As torana.yaml would have them. */
function entriesOf({ upstreams, deployments }: StoredAdditions): ConfigAdditions {
  const models: Record<string, unknown> = {}
  for (const [id, rows] of Map.groupBy(deployments, ({ model }) => model)) {
    models[id] = {
      ...Object.assign({}, ...rows.map(({ entry }) => entry)),
      deployments: rows.map(({ upstream }) => ({ upstream })),
    }
  }
  return { upstreams: Object.fromEntries(upstreams.map(({ name, entry }) => [name, entry])), models }
}

/** Reads the configuration again whenever its file or one of its secret files changes. A faulty one changes nothing. */
export function watchFile(
  { settings, limits, cors, playground, clock, log, metrics }: Basics,
  env: Environment,
  catalog: CatalogInForce,
  { since, audit }: { readonly since: FileLook | undefined; readonly audit: ConfigAudit },
): ConfigWatch {
  metrics.node.configLoaded(clock.nowMs(), since?.digest ?? '')
  if (settings.configFile === undefined || since === undefined) return { reload() {}, close() {} }
  const file = settings.configFile
  const loading = new ThreadLoading()
  const watch = watchConfig({
    file,
    env,
    since,
    intervalMs: RELOAD_INTERVAL_MS,
    load: () => loading.load(settings, env),
    async onGood(loaded) {
      const before = catalog.configured
      await catalog.declare(loaded)
      audit.note(loaded.catalog, loaded.digest, before)
      metrics.node.configLoaded(clock.nowMs(), loaded.digest)
      log.info({ models: listModels(loaded.catalog).length }, 'configuration reloaded')
      if (JSON.stringify(loaded.limits) !== JSON.stringify(limits))
        log.warn('changed limits take effect at the next start')
      if (JSON.stringify(loaded.cors) !== JSON.stringify(cors))
        log.warn('changed origins of cors take effect at the next start')
      if (JSON.stringify(loaded.playground) !== JSON.stringify(playground))
        log.warn('changed limits of the playground take effect at the next start')
    },
    onBad(problems) {
      catalog.refuse(problems, clock.nowMs())
      metrics.node.configRefused()
      log.error(
        { problems },
        'the configuration or a secret file of it is wrong; the last good one stays in use',
      )
    },
  })
  return {
    reload: () => watch.reload(),
    close() {
      watch.close()
      void loading.close()
    },
  }
}
