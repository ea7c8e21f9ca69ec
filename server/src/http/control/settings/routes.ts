/** What was decided when the install was set up: where it is, what it keeps, what it allows. */
import { z } from 'zod'
import { decimalOf } from '#core/price.ts'
import type { StorageFigures, TableFigures } from '#ports/storage-figures.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { time, usd } from '../wire/fields.ts'
import type { Api } from '../wire/route.ts'
import { isoOf, timeOf } from '../wire/times.ts'

/** Something that is kept for a while. */
export interface Kept {
  readonly what: string
  /** Where it stands in the database. */
  readonly tables: readonly string[]
  /** Undefined: for ever. */
  readonly days: number | undefined
  /** It is dropped by the day: the next one goes at midnight. */
  readonly isByDay?: boolean
}

export interface StoreState {
  readonly name: 'postgres' | 'redis' | 'cache' | 'assets'
  readonly state: 'there' | 'away'
  /** When this node noticed. */
  readonly sinceMs: number
}

export interface SettingsDependencies {
  readonly storage: StorageFigures
  readonly kept: readonly Kept[]
  readonly stores: () => readonly StoreState[]
  readonly limits: Readonly<Record<string, number>>
  readonly playground: {
    readonly requestsPerMinute?: number | undefined
    readonly nanoUsdPerDay: bigint | undefined
  }
  readonly install: {
    readonly name: string | undefined
    readonly publicUrl: string
    readonly consoleUrl: string
    readonly configFile: string | undefined
    readonly adminTokenOff: boolean
  }
  readonly about: {
    readonly version: string
    readonly node: string
    readonly catalogDate: string
    readonly dependencies: readonly { readonly name: string; readonly version: string }[]
  }
  readonly nowMs: () => number
}

const settings = z
  .object({
    install: z.object({
      name: z.string().nullable(),
      public_url: z.string(),
      console_url: z.string(),
      admin_token: z.enum(['on', 'off']).describe('Whether the token of the node opens the control port.'),
    }),
    limits: z.record(z.string(), z.number()).describe('As `limits` of torana.yaml names them.'),
    retention: z.array(
      z.object({
        what: z.string(),
        days: z.number().nullable().describe('null: for ever.'),
        rows: z.int().describe('As the database estimates it.'),
        bytes: z.int(),
        next: time.nullable().describe('When the oldest go.'),
      }),
    ),
    stores: z.array(
      z.object({
        name: z.enum(['postgres', 'redis', 'cache', 'assets']),
        state: z.enum(['there', 'away']),
        since: time.describe('When this node noticed.'),
        ms: z.number().nullable().describe('How long it took to answer just now.'),
      }),
    ),
    playground: z
      .object({ requests_per_minute: z.number().nullable(), usd_per_day: usd.nullable() })
      .describe('What one member may do in the playground of one project. null: as much as the project.'),
    config_file: z.string().nullable(),
    catalog_date: z.string().describe('The newest day of a price that Torana knows by itself.'),
    about: z.object({
      version: z.string(),
      licence: z.string(),
      node: z.string(),
      dependencies: z.array(z.object({ name: z.string(), version: z.string() })),
    }),
  })
  .meta({ id: 'Settings' })

const DAY_MS = 24 * 3_600_000

export function registerSettings(api: Api, dependencies: SettingsDependencies): void {
  api.get('/settings', {
    config: { permission: 'settings.read' },
    schema: {
      operationId: 'getSettings',
      summary: 'How this install is set up, what it keeps for how long, and what it is made of',
      response: { 200: settings, ...faultAnswers([401, 403, 503]) },
    },
    handler: async () => {
      const { storage, stores, limits, playground, install, about, nowMs } = dependencies
      const startMs = performance.now()
      const tables = await storage.tables()
      const postgresMs = performance.now() - startMs
      return {
        install: {
          name: install.name ?? null,
          public_url: install.publicUrl,
          console_url: install.consoleUrl,
          admin_token: install.adminTokenOff ? ('off' as const) : ('on' as const),
        },
        limits: { ...limits },
        retention: dependencies.kept.map((kept) => retentionBody(kept, tables, nowMs())),
        stores: stores().map(({ name, state, sinceMs }) => ({
          name,
          state,
          since: isoOf(sinceMs),
          ms: name === 'postgres' ? Math.round(postgresMs * 10) / 10 : null,
        })),
        playground: {
          requests_per_minute: playground.requestsPerMinute ?? null,
          usd_per_day: playground.nanoUsdPerDay === undefined ? null : decimalOf(playground.nanoUsdPerDay),
        },
        config_file: install.configFile ?? null,
        catalog_date: about.catalogDate,
        about: {
          version: about.version,
          licence: 'Apache-2.0',
          node: about.node,
          dependencies: about.dependencies.map((one) => ({ ...one })),
        },
      }
    },
  })
}

function retentionBody(
  { what, tables, days, isByDay }: Kept,
  figures: readonly TableFigures[],
  nowMs: number,
) {
  const own = figures.filter(({ table }) => tables.includes(table))
  const midnightMs = (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS
  return {
    what,
    days: days ?? null,
    rows: own.reduce((sum, { rows }) => sum + rows, 0),
    bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
    next: timeOf(isByDay === true ? midnightMs : undefined),
  }
}
