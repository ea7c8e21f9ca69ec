import type { ConfiguredKey, Project } from '#core/catalog/catalog.ts'
import { workerModule } from '#package/files.ts'
import { Thread } from '#thread/thread.ts'
import { builtInFacts } from './build/facts.ts'
import type { ExportedBase, ExportedLine, StoreParts } from './export/export.ts'
import { ConfigError } from './file/problem.ts'
import type { Environment } from './file/variable.ts'
import { extendable, type LoadedConfig, type LoadSettings } from './load.ts'
import type { LoadWorks } from './load-worker.ts'

/** A file with 100,000 keys takes 600 MB while it is read. */
const MEMORY_MB = 2048
/** The same file takes ten seconds of a core. Longer by this much, something has gone wrong. */
const MAX_TASK_MS = 300_000
/** Idle time after which the thread exits: files change seldom, but people who edit one often do it again soon. */
const IDLE_MS = 60_000

/** A configuration and the digest of its file. */
export interface ReloadedConfig extends LoadedConfig {
  readonly digest: string
}

/** Loads in a thread, so that requests are answered in the meantime. Keys are transferred in pages. */
export class ThreadLoading {
  readonly #thread: Thread<LoadWorks>

  constructor() {
    const limits = { memoryMb: MEMORY_MB, maxTaskMs: MAX_TASK_MS, idleMs: () => IDLE_MS }
    this.#thread = new Thread(workerModule('config/load-worker'), limits)
  }

  /** Throws a `ConfigError` with every problem there is. */
  async load(
    { configFile, openaiApiKey, bootstrapKey }: LoadSettings,
    env: Environment,
  ): Promise<ReloadedConfig> {
    const keysOf = new Map<number, ConfiguredKey[]>()
    const request = { settings: { configFile, openaiApiKey, bootstrapKey }, env: { ...env } }
    const answer = await this.#thread.ask('load', request, {
      hear({ project, keys }) {
        const known = keysOf.get(project)
        if (known) known.push(...keys)
        else keysOf.set(project, [...keys])
      },
    })
    if ('problems' in answer) throw new ConfigError(answer.problems)
    const { config, digest } = answer
    const projects = config.catalog.projects.map((project, index) => ({
      ...project,
      keys: keysOf.get(index) ?? [],
    }))
    return { ...extendable({ ...config, catalog: { ...config.catalog, projects } }, builtInFacts()), digest }
  }

  /** One torana.yaml of a configuration in force and what the store adds to it. */
  exported(base: ExportedBase, parts: StoreParts): Promise<readonly ExportedLine[]> {
    const { catalog } = base
    // Of declared projects, their names and those of their keys are all that it needs.
    const projects = parts.projects.length === 0 ? [] : catalog.projects.map(named)
    return this.#thread.ask('exported', { base: { ...base, catalog: { ...catalog, projects } }, parts })
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}

function named({ name, keys }: Project): Project {
  return { name, keys: keys.map((key) => ({ name: key.name, secret: '' })) }
}
