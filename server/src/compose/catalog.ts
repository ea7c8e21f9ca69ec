/** The catalog in force: what the configuration declares, with the credentials of the store. */
import { listModels, type Catalog, type Project } from '#core/catalog.ts'
import { loadCatalog } from '#config/load.ts'
import { watchConfig, type ConfigWatch, type FileLook } from '#config/reload.ts'
import type { Environment } from '#config/file/variable.ts'
import type { CredentialStore } from '#ports/credentials.ts'
import type { Log } from '#telemetry/log.ts'
import { lastKnown, withCredentials } from '#worker/keys/credentials.ts'
import type { Basics } from './basics.ts'
import type { ConfigAudit } from './config-audit.ts'

/** How often the node looks at the configuration file. */
const RELOAD_INTERVAL_MS = 1000

/** A configuration file that could not replace the one in force. */
export interface ConfigRefusal {
  readonly sinceMs: number
  readonly problems: readonly string[]
}

export class CatalogInForce {
  readonly #log: Log
  readonly #firstKey: string | undefined
  #declared: Catalog
  #current: Catalog
  #credentials: Pick<CredentialStore, 'open'> | undefined
  #completions = 0
  readonly #projectFollowers: ((projects: readonly Project[]) => void)[] = []
  readonly #followers: ((catalog: Catalog) => void)[] = []
  #refusal: ConfigRefusal | undefined

  /** `firstKey`: the key of the environment or of a first start. It belongs to project `default`. */
  constructor(declared: Catalog, firstKey: string | undefined, log: Log) {
    this.#declared = declared
    this.#current = declared
    this.#firstKey = firstKey
    this.#log = log
  }

  /** What the configuration says. */
  get declared(): Catalog {
    return this.#declared
  }

  /** The same with the credentials of the store: what requests are served by. */
  get current(): Catalog {
    return this.#current
  }

  /** The projects of the configuration and `default`, whose key may use every model. */
  get projects(): readonly Project[] {
    const { projects } = this.#declared
    if (this.#firstKey === undefined) return projects
    const managedAt = 'environment'
    return [
      ...projects,
      { name: 'default', managedAt, keys: [{ name: 'bootstrap', secret: this.#firstKey, managedAt }] },
    ]
  }

  /** Tells the projects of the configuration now, and again in the turn in which they change. */
  followProjects(follower: (projects: readonly Project[]) => void): void {
    this.#projectFollowers.push(follower)
    follower(this.projects)
  }

  /** Tells the catalog in the turn in which it changes, to the followers in the order in which they came. */
  follow(follower: (catalog: Catalog) => void): void {
    this.#followers.push(follower)
  }

  /** From now on upstreams without a credential get theirs from this store. */
  async useCredentials(store: CredentialStore): Promise<void> {
    this.#credentials = lastKnown(store)
    await this.#complete()
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

  /** The configuration was read anew. */
  declare(declared: Catalog): void {
    this.#refusal = undefined
    this.#declared = declared
    for (const follower of this.#projectFollowers) follower(this.projects)
    this.refresh()
  }

  /** Credentials may have changed. */
  refresh(): void {
    this.#complete().catch((error: unknown) =>
      this.#log.error({ err: error }, 'stored credentials could not be read; the last ones stay in use'),
    )
  }

  async #complete(): Promise<void> {
    if (this.#credentials === undefined) return
    this.#completions += 1
    const own = this.#completions
    const { catalog, problems } = await withCredentials(this.#declared, this.#credentials)
    for (const problem of problems) this.#log.warn(problem)
    // Something may have changed meanwhile; then a later completion is under way.
    if (own !== this.#completions) return
    this.#current = catalog
    for (const follower of this.#followers) follower(catalog)
  }
}

/** Reads the configuration file again whenever it changes. A faulty file changes nothing. */
export function watchFile(
  { settings, limits, cors, clock, log, metrics }: Basics,
  env: Environment,
  catalog: CatalogInForce,
  { since, audit }: { readonly since: FileLook | undefined; readonly audit: ConfigAudit },
): ConfigWatch {
  metrics.configLoaded(clock.nowMs())
  if (settings.configFile === undefined || since === undefined) return { reload() {}, close() {} }
  return watchConfig({
    file: settings.configFile,
    since,
    intervalMs: RELOAD_INTERVAL_MS,
    load: () => loadCatalog(settings, env),
    onGood(loaded) {
      const before = catalog.declared
      catalog.declare(loaded.catalog)
      audit.note(loaded.catalog, before)
      metrics.configLoaded(clock.nowMs())
      log.info({ models: listModels(loaded.catalog).length }, 'configuration reloaded')
      if (JSON.stringify(loaded.limits) !== JSON.stringify(limits))
        log.warn('changed limits take effect at the next start')
      if (JSON.stringify(loaded.cors) !== JSON.stringify(cors))
        log.warn('changed origins of cors take effect at the next start')
    },
    onBad(problems) {
      catalog.refuse(problems, clock.nowMs())
      metrics.configRefused()
      log.error({ problems }, 'the configuration is wrong; the last good one stays in use')
    },
  })
}
