/** Runs in a worker thread: reads, checks and exports a configuration. A file with many keys takes seconds. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ConfiguredKey } from '#core/catalog/catalog.ts'
import { serve, type ThreadCall } from '#thread/serve.ts'
import { ConfigError } from './file/problem.ts'
import type { Environment } from './file/variable.ts'
import { exportedLines, type ExportedBase, type ExportedLine, type StoreParts } from './export/export.ts'
import { loadCatalog, type LoadSettings, type PlainConfig } from './load.ts'

export interface LoadRequest {
  readonly settings: LoadSettings
  readonly env: Environment
}

/** Keys of the project at this place, in their order. */
export interface SomeKeys {
  readonly project: number
  readonly keys: readonly ConfiguredKey[]
}

/** The answer without keys, which come before it. */
export type LoadAnswer =
  | { readonly config: PlainConfig; readonly digest: string }
  | { readonly problems: readonly string[] }

/** Keys per page: receiving them takes the event loop about a millisecond. */
const KEYS_AT_ONCE = 250

async function load({ settings, env }: LoadRequest, { tell }: ThreadCall<SomeKeys>): Promise<LoadAnswer> {
  let loaded
  try {
    loaded = loadCatalog(settings, env)
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems }
    throw error
  }
  const { extend: _, ...config } = loaded
  for (const [project, { keys }] of config.catalog.projects.entries())
    for (let from = 0; from < keys.length; from += KEYS_AT_ONCE)
      await tell({ project, keys: keys.slice(from, from + KEYS_AT_ONCE) })
  const projects = config.catalog.projects.map((project) => ({ ...project, keys: [] }))
  return {
    config: { ...config, catalog: { ...config.catalog, projects } },
    digest: digestOf(settings),
  }
}

export interface ExportRequest {
  readonly base: ExportedBase
  readonly parts: StoreParts
}

function exported({ base, parts }: ExportRequest): readonly ExportedLine[] {
  return exportedLines(base, parts)
}

function digestOf({ configFile }: LoadSettings): string {
  if (configFile === undefined) return ''
  return createHash('sha256').update(readFileSync(configFile)).digest('hex')
}

const works = { load, exported }
export type LoadWorks = typeof works

serve(works)
