/** Composition of what the console shows of an install's own settings. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nanoUsdOf } from '#core/price.ts'
import type { Limits } from '#core/settings.ts'
import type { Kept, SettingsDependencies, StoreState } from '#http/control/settings/routes.ts'
import { CATALOG_FOLDER, readManifest } from '#package/files.ts'
import type { NodeFigures } from '#ports/upkeep.ts'
import { REQUEST_LOG_DAYS } from '#stores/postgres/books/upkeep.ts'
import { POINTS_KEPT_MS } from '#worker/spaces/retention.ts'
import { KEPT_MS as WEBHOOKS_KEPT_MS } from '#worker/webhooks.ts'
import { version, type Basics } from './basics.ts'
import type { Stores } from './stores.ts'

export interface SettingsParts {
  readonly stores: Stores
  /** Undefined: nothing is kept. */
  readonly nodeFigures: (() => NodeFigures) | undefined
  readonly publicUrl: string
  readonly controlUrl: string
}

const DAY_MS = 86_400_000

/** Undefined on a node that keeps nothing. */
export function settingsFor(basics: Basics, parts: SettingsParts): SettingsDependencies | undefined {
  const { settings, limits, playground, clock } = basics
  const { storage } = parts.stores
  const { nodeFigures } = parts
  if (storage === undefined || nodeFigures === undefined) return undefined
  const states = new States(clock.nowMs)
  return {
    storage,
    kept: keptIn(limits),
    stores: () => {
      const { isStoreAway, limiter } = nodeFigures()
      const postgres = states.noted('postgres', isStoreAway ? 'away' : 'there')
      if (limiter === undefined) return [postgres]
      return [postgres, states.noted('redis', limiter.state === 'local' ? 'away' : 'there')]
    },
    limits: numbersIn(limits),
    playground: {
      requestsPerMinute: playground.requestsPerMinute,
      nanoUsdPerDay: playground.usdPerDay === undefined ? undefined : nanoUsdOf(playground.usdPerDay),
    },
    install: {
      name: settings.name,
      publicUrl: parts.publicUrl,
      consoleUrl: settings.consoleUrl ?? parts.controlUrl,
      configFile: settings.configFile,
      adminTokenOff: settings.adminTokenOff,
    },
    about: { version, node: process.version, catalogDate: catalogDate(), dependencies: dependencies() },
    nowMs: clock.nowMs,
  }
}

function keptIn({ assetRetentionMs }: Limits): readonly Kept[] {
  return [
    { what: 'requests', tables: ['requests'], days: REQUEST_LOG_DAYS, isByDay: true },
    { what: 'ledger', tables: ['usage_events'], days: undefined },
    { what: 'usage', tables: ['usage_hours', 'usage_days'], days: undefined },
    { what: 'audit', tables: ['audit'], days: undefined },
    {
      what: 'pictures',
      tables: ['image_jobs', 'image_job_calls'],
      days: Math.round(assetRetentionMs / DAY_MS),
    },
    { what: 'webhooks', tables: ['webhook_events'], days: WEBHOOKS_KEPT_MS / DAY_MS },
    { what: 'drift', tables: ['space_probes'], days: POINTS_KEPT_MS / DAY_MS },
  ]
}

/** When each store was first seen as it is. */
class States {
  readonly #nowMs: () => number
  readonly #known = new Map<string, StoreState>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  noted(name: StoreState['name'], state: StoreState['state']): StoreState {
    const known = this.#known.get(name)
    if (known?.state === state) return known
    const noted = { name, state, sinceMs: this.#nowMs() }
    this.#known.set(name, noted)
    return noted
  }
}

function numbersIn(limits: Limits): Record<string, number> {
  return Object.fromEntries(
    Object.entries(limits).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )
}

/** The newest day on which somebody read a price of the built-in catalog. */
function catalogDate(): string {
  const days = globSync('*.yaml', { cwd: CATALOG_FOLDER }).flatMap((name) =>
    Array.from(
      readFileSync(join(CATALOG_FOLDER, name), 'utf8').matchAll(/\basOf: (\d{4}-\d{2}-\d{2})/g),
      ([, day = '']) => day,
    ),
  )
  return days.sort().at(-1) ?? ''
}

function dependencies(): { name: string; version: string }[] {
  return Object.entries(readManifest().dependencies).map(([name, pinned]) => ({ name, version: pinned }))
}
