/** The whole configuration as one torana.yaml. */
import { z } from 'zod'
import { fieldInFile } from '#core/alerts/kind.ts'
import { WEEKDAYS } from '#core/alerts/quiet-hours.ts'
import { declaredName, keepsQuietByDefault, type AlertChannel, type AlertRule } from '#core/alerts/rule.ts'
import { decimalOf } from '#core/money/price.ts'
import type { KeyRecord, KeyStore, Terms } from '#ports/key-store.ts'
import type { ExportedAlerts, ExportedProject } from '#ports/stored-configuration.ts'
import { conflict } from '../shared/faults.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { sealedUpstreams } from './rules.ts'

const PAGE = 1000
/** Projects and keys of an export. A file with more takes seconds to read at each start. */
const MAX_EXPORTED = 100_000

export function registerExport(api: Api, node: ControlNode): void {
  const { configuration, credentials, prices, keyStore, alerts, exported, declaredCatalog, clock } = node
  route(api, 'GET /configuration/export', {
    permission: 'configuration.export',
    id: 'exportConfiguration',
    summary:
      'torana.yaml with the upstreams, models, prices, projects, keys and alerts of the store. Secrets are left out: it names a variable for each',
    answer: z.any().describe('`torana.yaml`, as `application/yaml`.'),
    faults: [409],
    handler: async (_, reply) => {
      const [objects, records, priced] = await Promise.all([
        configuration.read(),
        credentials.list(),
        prices.read(),
      ])
      const lines = await exported({
        objects,
        prices: priced,
        credentials: sealedUpstreams(records, declaredCatalog()),
        projects: await projectsIn(keyStore, clock.nowMs()),
        alerts: await alertsIn(alerts),
      })
      return reply
        .headers({
          'content-type': 'application/yaml; charset=utf-8',
          'content-disposition': 'attachment; filename="torana.yaml"',
        })
        .serializer((text: string) => text)
        .send(lines.map(({ text }) => text).join('\n'))
    },
  })
}

/** A channel whose secret can't be opened any more is exported with variables for what is missing. */
async function alertsIn(store: ControlNode['alerts']): Promise<ExportedAlerts> {
  const { channels, rules } = await store.read()
  return {
    channels: await Promise.all(channels.map((channel) => channelEntry(channel, store))),
    rules: rules.map((rule) => ({
      name: rule.name || rule.kind,
      entry: ruleEntry(rule),
      channels: rule.channels.map((id) => {
        const stored = channels.find((one) => one.id === id)
        return { name: stored?.name ?? declaredName(id), isDeclared: stored === undefined }
      }),
    })),
  }
}

async function channelEntry(
  { id, name, kind, keepsQuiet }: AlertChannel,
  store: ControlNode['alerts'],
): Promise<ExportedAlerts['channels'][number]> {
  const target = await store.target(id)
  const secrets = {
    slack: ['url'],
    teams: ['url'],
    webhook: ['url', 'secret'],
    pagerduty: ['routingKey'],
    email: [],
  }
  return {
    name,
    secrets: secrets[kind],
    entry: {
      kind,
      ...(target?.kind === 'email' && { to: target.to }),
      ...(target !== undefined && target.kind !== 'email' && target.isPrivate && { private: true }),
      ...(keepsQuiet !== keepsQuietByDefault(kind) && { quietHours: keepsQuiet }),
    },
  }
}

function ruleEntry({ kind, condition, scope, quiet, isOn }: AlertRule): Record<string, unknown> {
  const fields = Object.entries(condition).map(([field, value]) => [fieldInFile(field), value])
  return {
    kind,
    ...(fields.length > 0 && { condition: Object.fromEntries(fields) as Record<string, unknown> }),
    ...('project' in scope && { project: scope.project }),
    ...(quiet && { quietHours: { ...quiet, days: quiet.days.map((day) => WEEKDAYS[day - 1]) } }),
    ...(!isOn && { enabled: false }),
  }
}

/** Projects of the store with their terms, and its keys that still work. */
async function projectsIn(store: KeyStore, nowMs: number): Promise<readonly ExportedProject[]> {
  const projects = await all(
    (after) => store.listProjects({ after, limit: PAGE }),
    ({ name }) => name,
  )
  const keys = await all(
    (id) => store.listKeys({ after: id === undefined ? undefined : { rank: 0, id }, limit: PAGE }),
    ({ id }) => id,
  )
  const byProject = Map.groupBy(
    keys.filter(
      ({ revokedAtMs, expiresAtMs = Infinity }) => revokedAtMs === undefined && expiresAtMs > nowMs,
    ),
    ({ project }) => project,
  )
  return projects.map((project) => ({
    name: project.name,
    entry: termsEntry(project),
    keys: (byProject.get(project.name) ?? []).map(keyEntry),
  }))
}

async function all<Row>(
  page: (after: string | undefined) => ReturnType<KeyStore['listKeys']> | Promise<readonly Row[]>,
  nameOf: (row: Row) => string,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (;;) {
    const last = rows.at(-1)
    const next = (await page(last && nameOf(last))) as readonly Row[]
    rows.push(...next)
    if (rows.length > MAX_EXPORTED)
      throw conflict(
        `There are more than ${MAX_EXPORTED} projects or keys: too many for one torana.yaml. Use a backup.`,
      )
    if (next.length < PAGE) return rows
  }
}

function termsEntry({ limits, budget }: Terms): Record<string, unknown> {
  const rates = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
  return {
    ...(Object.keys(rates).length > 0 && { limits: rates }),
    ...(budget && {
      budget: { usd: Number(decimalOf(budget.limitNanoUsd)), per: budget.per, hard: budget.hard },
    }),
  }
}

function keyEntry(key: KeyRecord): Record<string, unknown> {
  const { name, models, expiresAtMs, scopes, maxCallsAtOnce, addresses } = key
  return {
    name,
    ...(models && { models }),
    ...(expiresAtMs !== undefined && { expires: new Date(expiresAtMs).toISOString() }),
    ...termsEntry(key),
    ...(scopes && { scopes }),
    ...(maxCallsAtOnce !== undefined && { maxCallsAtOnce }),
    ...(addresses && { addresses }),
  }
}
