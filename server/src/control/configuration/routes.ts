/** Upstreams and models of the store as one configuration: a preview of changes, saving them, their history, and the whole as torana.yaml. */
import { z } from 'zod'
import { NO_EXPORTED_ALERTS } from '#ports/stored-configuration.ts'
import { planOf } from '../shared/configuration.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { registerChanges } from './change-routes.ts'
import { changeOf, changeSet, fileName } from './change-rules.ts'
import { registerExport } from './export-routes.ts'
import { callsOf } from './queries.ts'
import { effect, effectsOf, previewLine, sealedUpstreams, textDiff } from './rules.ts'
import { registerRouting } from './routing-routes.ts'

const preview = z
  .object({
    changes: z.int().describe('Objects that would change.'),
    added: z.int().describe('Lines.'),
    removed: z.int(),
    lines: z
      .array(previewLine)
      .describe(
        'The changed lines of the exported torana.yaml with up to 30 around them. Where numbers leap, unchanged lines are left out.',
      ),
    is_cut: z.boolean().describe('There are more than 2,000 lines; these are the first.'),
    check: z.object({
      ok: z.boolean(),
      errors: z.array(
        z.object({
          object: z.enum(['upstream', 'model']),
          name: z.string(),
          message: z.string(),
          is_stale: z.boolean().describe('Another person changed the object since its base.'),
        }),
      ),
    }),
    effects: z.array(effect),
  })
  .meta({ id: 'ConfigurationPreview' })

export function registerConfiguration(api: Api, node: ControlNode): void {
  registerRouting(api, node)
  registerPreview(api, node)
  registerChanges(api, node)
  registerExport(api, node)
}

function registerPreview(api: Api, node: ControlNode): void {
  const { configuration, credentials, prices, exported, settings, reports, clock } = node
  route(api, 'POST /configuration/preview', {
    permission: 'upstreams.read',
    id: 'previewConfiguration',
    summary:
      'What changes of upstreams and models would do: lines of torana.yaml, problems and effects. Nothing is saved',
    body: changeSet,
    answer: preview,
    handler: async ({ body }) => {
      const changes = body.changes.map(changeOf)
      const [before, records, priced] = await Promise.all([
        configuration.read(),
        credentials.list(),
        prices.read(),
      ])
      const plan = planOf(node, before, changes)
      const renames = new Map(
        plan.objects.flatMap(({ name, renamedFrom }) =>
          renamedFrom === undefined ? [] : [[renamedFrom, name]],
        ),
      )
      const sealed = sealedUpstreams(records, plan.extendedBefore.catalog)
      const deleted = new Set(
        plan.objects
          .filter(({ object, after }) => object === 'upstream' && after === null)
          .map(({ name }) => name),
      )
      const left = records.filter(({ upstream }) => !deleted.has(upstream))
      const after = sealedUpstreams(left, plan.extendedAfter.catalog, renames)
      const parts = { prices: priced, projects: [], alerts: NO_EXPORTED_ALERTS }
      const was = await exported({ ...parts, objects: before, credentials: sealed })
      const is = await exported({ ...parts, objects: plan.after, credentials: after })
      const models = plan.objects.filter(({ object }) => object === 'model').map(({ name }) => name)
      const calls = new Map<string, number>()
      for (const model of models)
        for (const [id, count] of await callsOf(reports, model, clock.nowMs())) calls.set(id, count)
      return {
        changes: plan.objects.length,
        ...textDiff(was, is, fileName(settings.configFile)),
        check: {
          ok: plan.problems.length === 0,
          errors: plan.problems.map(({ object, name, text, kind }) => ({
            object,
            name,
            message: text,
            is_stale: kind === 'stale',
          })),
        },
        effects: effectsOf(plan, { credentials: new Set(sealed), calls }),
      }
    },
  })
}
