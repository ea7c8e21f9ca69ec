/** What was decided when the install was set up: where it is, what it keeps, what it allows. */
import { z } from 'zod'
import { decimalOf, nanoUsdOf } from '#core/money/price.ts'
import type { Limits } from '#core/settings.ts'
import { time, usd } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { tableSizes } from './queries.ts'
import { retentionOf, StoreStates } from './rules.ts'

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
        days: z.number().nullable().describe('null: forever.'),
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

export function registerSettings(api: Api, node: ControlNode): void {
  const stores = new StoreStates()
  route(api, 'GET /settings', {
    permission: 'settings.read',
    id: 'getSettings',
    summary: 'How this install is set up, what it keeps for how long, and what it is made of',
    answer: settings,
    handler: async () => {
      const { settings: environment, limits, playground } = node
      const startMs = performance.now()
      const sizes = await tableSizes(node.reports)
      const postgresMs = Math.round((performance.now() - startMs) * 10) / 10
      const nowMs = node.clock.nowMs()
      return {
        install: {
          name: environment.name ?? null,
          public_url: node.publicUrl,
          console_url: environment.consoleUrl ?? node.controlUrl,
          admin_token: environment.adminTokenOff ? ('off' as const) : ('on' as const),
        },
        limits: numbersIn(limits),
        retention: retentionOf(sizes, limits, node.lake, nowMs),
        stores: stores
          .list(node.nodeFigures(), nowMs)
          .map((store) => ({ ...store, ms: store.name === 'postgres' ? postgresMs : null })),
        playground: {
          requests_per_minute: playground.requestsPerMinute ?? null,
          usd_per_day: playground.usdPerDay === undefined ? null : decimalOf(nanoUsdOf(playground.usdPerDay)),
        },
        config_file: environment.configFile ?? null,
        catalog_date: node.catalogDate,
        about: {
          version: node.version,
          licence: 'Apache-2.0',
          node: process.version,
          dependencies: Object.entries(node.dependencies).map(([name, version]) => ({ name, version })),
        },
      }
    },
  })
}

function numbersIn(limits: Limits): Record<string, number> {
  return Object.fromEntries(
    Object.entries(limits).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )
}
