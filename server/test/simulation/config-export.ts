/** One random installation, exported into a new one: both must mean the same, and serve the same requests in the same way. */
import assert from 'node:assert/strict'
import { withStoredPrices } from '#config/build/stored-prices.ts'
import { exportedText } from '#config/export/export.ts'
import { readConfig } from '#config/load.ts'
import type { Catalog, ConfiguredKey, Project, Upstream } from '#core/catalog/catalog.ts'
import { nanoUsdOf } from '#core/money/price.ts'
import { NO_EXPORTED_ALERTS } from '#ports/stored-configuration.ts'
import { decisions, meaningOf } from './exported-requests.ts'
import { anInstallation, surroundingsWith, type Installation } from './exported-world.ts'

/** Throws when something differs. */
export function judgeExport(seed: number, requests: number): void {
  const installation = anInstallation(seed)
  const { loaded, objects, prices, credentials, projects, env, text } = installation
  const { catalog: extended } = loaded.extend(objects)
  const exported = exportedText(
    { text, file: loaded.base.file, catalog: extended },
    { objects, prices, credentials: [...credentials.keys()], projects, alerts: NO_EXPORTED_ALERTS },
  )
  for (const secret of secretsOf(installation))
    assert.ok(!exported.includes(secret), `seed ${seed} exports ${secret}`)
  const again = readConfig(
    'torana.yaml',
    exported,
    surroundingsWith({ ...env, ...variablesIn(exported, installation, extended) }),
  )
  const before = complete(installation, withStoredPrices(extended, prices).catalog)
  const after = again.catalog
  assert.deepEqual(meaningOf(after), meaningOf(before), `seed ${seed}\n${exported}`)
  assert.deepEqual(again.limits, loaded.limits)
  assert.deepEqual(decisions(after, requests, seed), decisions(before, requests, seed), `seed ${seed}`)
}

function secretsOf({ credentials, projects, env }: Installation): readonly string[] {
  return [
    ...credentials.values(),
    ...Object.values(env),
    ...projects.flatMap(({ secrets }) => [...secrets.values()]),
    'sk-literal',
    'a-webhook-secret',
  ]
}

/** The variables that the head of an export asks for, with the secrets that they are for. */
function variablesIn(
  exported: string,
  { loaded, credentials, projects }: Installation,
  extended: Catalog,
): Record<string, string> {
  const declared = new Map(loaded.catalog.projects.map((project) => [project.name, project]))
  const values: Record<string, string> = {}
  for (const [, name = '', use = ''] of exported.matchAll(/^# {3}([A-Z0-9_]+): (.*)$/gm)) {
    const [, upstream] = /^the key of upstream (.*)$/.exec(use) ?? []
    const [, project = '', key = ''] = /^the key ([^/]*)\/(.*)$/.exec(use) ?? []
    const [, keyIndex, keyProject = ''] = /^key (\d+) of project (.*)$/.exec(use) ?? []
    const [, hookIndex, hookProject = ''] = /^webhook (\d+) of project (.*)$/.exec(use) ?? []
    const [, urlIndex, urlProject = ''] = /^the address of webhook (\d+) of project (.*)$/.exec(use) ?? []
    const [, header = '', headerUpstream] = /^headers\.(\S+) of upstream (.*)$/.exec(use) ?? []
    const value =
      headerUpstream !== undefined
        ? extended.upstreams?.get(headerUpstream)?.upstream.headers?.[header]
        : urlIndex !== undefined
          ? declared.get(urlProject)?.webhooks?.[Number(urlIndex) - 1]?.url
          : upstream !== undefined
            ? (loaded.catalog.upstreams?.get(upstream)?.upstream.apiKey ?? credentials.get(upstream))
            : keyIndex !== undefined
              ? declared.get(keyProject)?.keys[Number(keyIndex) - 1]?.secret
              : hookIndex !== undefined
                ? declared.get(hookProject)?.webhooks?.[Number(hookIndex) - 1]?.secret
                : projects.find((one) => one.name === project)?.secrets.get(key)
    values[name] = value ?? assert.fail(`nothing is known of ${name}: ${use}`)
  }
  return values
}

/** With the secrets, projects and keys of the store. */
function complete({ credentials, projects: stored }: Installation, catalog: Catalog): Catalog {
  const withKey = (upstream: Upstream): Upstream => ({
    ...upstream,
    apiKey: upstream.apiKey ?? (upstream.dialect === 'demo' ? undefined : credentials.get(upstream.name)),
  })
  const models = new Map(
    [...new Set(catalog.models.values())].map((model) => [
      model,
      {
        ...model,
        deployments: model.deployments.map((one) => ({ ...one, upstream: withKey(one.upstream) })),
      } as typeof model,
    ]),
  )
  const added = stored.map((project): Project => {
    const declared = catalog.projects.find(({ name }) => name === project.name)
    const keys = project.keys.flatMap((entry): ConfiguredKey[] => {
      const { models: ids, expires, limits, budget, ...bounds } = entry
      const name = String(entry['name'])
      const served = (ids as string[] | undefined)?.filter((id) => catalog.models.has(id))
      if (served?.length === 0 || declared?.keys.some((one) => one.name === name)) return []
      return [
        {
          ...bounds,
          name,
          secret: project.secrets.get(name) ?? '',
          models: served && [...new Set(served.map((id) => catalog.models.get(id)?.id ?? id))],
          expiresAtMs: expires === undefined ? undefined : Date.parse(expires as string),
          limits: limits as ConfiguredKey['limits'],
          budget: budgetOf(budget),
        },
      ]
    })
    const own = {
      limits: project.entry['limits'] as Project['limits'],
      budget: budgetOf(project.entry['budget']),
      webhooks: [],
    }
    return { name: project.name, ...(declared ?? own), keys: [...(declared?.keys ?? []), ...keys] }
  })
  const names = new Set(added.map(({ name }) => name))
  return {
    ...catalog,
    models: new Map([...catalog.models].map(([name, model]) => [name, models.get(model) ?? model])),
    upstreams: new Map(
      [...(catalog.upstreams ?? [])].map(([name, known]) => [
        name,
        { ...known, upstream: withKey(known.upstream) },
      ]),
    ),
    projects: [...catalog.projects.filter(({ name }) => !names.has(name)), ...added],
  }
}

function budgetOf(entry: unknown): Project['budget'] {
  if (entry === undefined) return undefined
  const { usd, per, hard } = entry as { usd: number; per: 'day' | 'month' | 'total'; hard: boolean }
  return { limitNanoUsd: nanoUsdOf(usd), per, hard }
}
