/** Projects as people see them: with their spending, keys, members and webhooks, asked for a page at once. */
import { z } from 'zod'
import type { Project } from '#core/catalog/catalog.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { activityFields, readActivity } from '../shared/activity-queries.ts'
import { time } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { declaredKeys, placeOf } from '../shared/project-terms.ts'
import { answersOf } from '../shared/rows.ts'
import { managed, terms, termsBody, type Terms } from '../shared/terms.ts'
import { timeOf } from '../shared/times.ts'
import { outcome, shownUrl } from '../shared/webhook-fields.ts'

const delivery = z.object({ at: time, outcome })

const projectWebhook = z
  .object({
    url: z.string().describe('Without its path, which is a secret at many receivers.'),
    events: z.array(z.string()).nullable().describe('null: all.'),
    last: delivery.nullable().describe('The newest delivery.'),
  })
  .meta({ id: 'ProjectWebhook' })

export const project = z
  .object({
    name: z.string(),
    ...managed,
    ...terms,
    spent: activityFields.spent,
    keys: z.int().describe('How many keys of it work.'),
    members: z.int().describe('How many people see it.'),
    webhooks: z.array(projectWebhook).describe('Those of torana.yaml.'),
    created_at: time.nullable(),
  })
  .meta({ id: 'Project' })

/** The answer to a change of a project, built from the committed record alone. */
export const changedProject = project
  .omit({ spent: true, keys: true, members: true, webhooks: true })
  .meta({ id: 'ChangedProject' })

/** A project of the store or of the configuration. */
export interface ShownProject extends Terms {
  readonly name: string
  readonly managed_by: 'store' | 'configuration'
  readonly managedAt?: string | undefined
  readonly webhooks?: Project['webhooks']
  readonly createdAtMs?: number | undefined
}

/** It asks no store: a change that was made is answered even while reports are busy. */
export function changedProjectBody(shown: ShownProject): z.output<typeof changedProject> {
  return {
    name: shown.name,
    managed_by: shown.managed_by,
    managed_at: placeOf(shown.managedAt),
    ...termsBody(shown),
    created_at: timeOf(shown.createdAtMs),
  }
}

export type ProjectsNode = Pick<ControlNode, 'keyStore' | 'declaredProjects' | 'reports' | 'clock'>

export async function projectBodies(
  projects: readonly ShownProject[],
  { keyStore, declaredProjects, reports, clock }: ProjectsNode,
): Promise<z.output<typeof project>[]> {
  const nowMs = clock.nowMs()
  const names = projects.map(({ name }) => name)
  const asked = projects.map(({ name, budget }) => ({ id: name, budget }))
  const activityOf = await readActivity(reports, 'project', asked, nowMs)
  const members = await membersOf(reports, names)
  const deliveries = await lastDeliveries(reports, names)
  const storedKeys = await keyStore.countByProject(names, nowMs)
  const declared = Map.groupBy(declaredKeys(declaredProjects()), (key) => key.project)
  return projects.map((shown) => {
    const { name, budget, webhooks = [] } = shown
    return {
      ...changedProjectBody(shown),
      spent: activityOf({ id: name, budget }).spent,
      keys: (storedKeys.get(name) ?? 0) + (declared.get(name)?.length ?? 0),
      members: members.get(name) ?? 0,
      webhooks: webhooks.map(({ url, events }) => ({
        url: shownUrl(url),
        events: events ? [...events] : null,
        last: deliveries.get(`${name} ${url}`) ?? null,
      })),
    }
  })
}

const MEMBERS = `
  SELECT asked.project, count(*)::integer AS members FROM unnest($1::text[]) AS asked (project)
  JOIN members ON members.projects IS NULL OR asked.project = ANY (members.projects)
  WHERE members.disabled_at IS NULL GROUP BY 1`

/** The number of enabled members that see each of these projects, by name. */
export async function membersOf(sql: Sql, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.query<{ project: string; members: number }>(MEMBERS, [names])
  return new Map(rows.map(({ project: name, members }) => [name, members]))
}

const LAST_DELIVERIES = `
  SELECT DISTINCT ON (project, url) project || ' ' || url AS webhook, coalesce(ended_at, created_at) AS at,
    coalesce(outcome, 'waiting') AS outcome
  FROM webhook_events WHERE project = ANY ($1) ORDER BY project, url, created_at DESC`

/** The newest delivery of each webhook of these projects, by `<project> <url>`. */
export async function lastDeliveries(sql: Sql, names: readonly string[]) {
  const rows = await answersOf<{ webhook: string } & z.output<typeof delivery>>(sql, LAST_DELIVERIES, [names])
  return new Map(rows.map(({ webhook, at, outcome: last }) => [webhook, { at, outcome: last }]))
}
