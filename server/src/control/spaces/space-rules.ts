/** A model's space as the API shows it: its name, the models that share it, its deployments and who pinned it. */
import { z } from 'zod'
import { listModels, type Catalog, type EmbeddingModel } from '#core/catalog/catalog.ts'
import { answeringSpace, readSpace, spaceOf } from '#core/embedding/space.ts'
import type { ProbeResult } from '#ports/spaces.ts'
import { time } from '../shared/fields.ts'
import type { SpaceGuard } from '../shared/space-guard.ts'
import { isoOf, timeOf } from '../shared/times.ts'
import { spaceProbe, type SpacePin } from './queries.ts'

const spaceDeployment = z
  .object({
    deployment: z.string(),
    state: z
      .enum(['trusted', 'warned', 'held-back', 'quarantined', 'unguarded'])
      .describe(
        '`held-back`: not compared yet. A deployment that is held back or quarantined answers no requests. `unguarded`: the space guard is off.',
      ),
    reason: z.string().nullable(),
    last_good_at: time.nullable(),
    last_cosine: z
      .object({ least: z.number(), at: time })
      .nullable()
      .describe('The least cosine of the last probe that could be compared. null: none could.'),
    last_probe: spaceProbe.nullable(),
  })
  .meta({ id: 'SpaceDeployment' })

const pin = z.object({ key: z.string(), requests_24h: z.int() }).meta({ id: 'SpacePin' })

export const space = z
  .object({
    model: z.string(),
    space: z
      .string()
      .describe('`<model or declared name>@<width>:<8 hex>`, as in the header `x-torana-space`.'),
    own_space: z
      .string()
      .describe(
        "The model's own space: the same, unless the model declares one with others. Requests that pin it are answered, too.",
      ),
    shared_with: z
      .array(z.string())
      .describe(
        'The other models that declare the same space. Theirs gets another name, too, once another space of this model is accepted.',
      ),
    generation: z.int().describe('Counts the spaces of this model that were accepted, from 1.'),
    width: z.int(),
    guarded: z.boolean().describe('false: `spaceGuard: false`. Torana does not probe the model.'),
    reference: z
      .object({
        deployment: z.string(),
        accepted_at: time,
        accepted_by: z
          .string()
          .nullable()
          .describe(
            'Who accepted it, as in the audit. null: not accepted by a person; it is what the deployment answered first.',
          ),
      })
      .nullable()
      .describe('The deployment whose vectors are the reference. null: no deployment has answered yet.'),
    pinned_by: z
      .array(pin)
      .nullable()
      .describe(
        'Keys whose requests named this space in `x-torana-space` within 24 hours, at any width, the busiest first. They get 412 once another space is accepted. null: `DATABASE_URL=memory:` keeps no requests.',
      ),
    deployments: z.array(spaceDeployment),
  })
  .meta({ id: 'Space' })

export function spaceBody(
  model: EmbeddingModel,
  { guard, catalog }: { readonly guard: SpaceGuard; readonly catalog: Catalog },
  pins: readonly SpacePin[],
): z.output<typeof space> {
  const reference = guard.referenceOf(model.id)
  const width = reference?.width ?? model.facts.dimensions
  const now = guard.spaceNow(model) ?? { model: model.id, generation: 1 }
  const namesAt = (wide: number): readonly string[] => [
    answeringSpace(now, wide),
    spaceOf(model.id, wide, now.generation),
  ]
  const [answers = '', own = ''] = namesAt(width)
  return {
    model: model.id,
    space: answers,
    own_space: own,
    shared_with: sharingWith(model, catalog),
    generation: now.generation,
    width,
    guarded: model.isGuarded,
    reference: reference
      ? {
          deployment: reference.deployment,
          accepted_at: isoOf(reference.acceptedAtMs),
          accepted_by: reference.acceptedBy ?? null,
        }
      : null,
    pinned_by: pinnedBy(namesAt, pins),
    deployments: model.deployments.map(({ id }) => {
      const { state, reason, lastGoodAtMs, last } = guard.standingOf(id) ?? UNGUARDED
      return {
        deployment: id,
        state,
        reason: reason ?? null,
        last_good_at: timeOf(lastGoodAtMs),
        last_cosine: last ? lastCosineOf(last) : null,
        last_probe: last ? probeBody(last) : null,
      }
    }),
  }
}

/** A narrower width is a space of its own, and changes together with the full one. */
function pinnedBy(
  namesAt: (width: number) => readonly string[],
  pins: readonly SpacePin[],
): NonNullable<z.output<typeof space>['pinned_by']> {
  const byKey = new Map<string, number>()
  for (const { key, space: pinned, requests_24h: requests } of pins) {
    const read = readSpace(pinned)
    if (read === undefined || !namesAt(read.width).includes(read.float)) continue
    byKey.set(key, (byKey.get(key) ?? 0) + requests)
  }
  return [...byKey]
    .map(([key, requests]) => ({ key, requests_24h: requests }))
    .toSorted((one, other) => other.requests_24h - one.requests_24h)
}

function sharingWith({ id, space }: EmbeddingModel, catalog: Catalog): string[] {
  if (space === undefined) return []
  return listModels(catalog).flatMap((one) =>
    one.kind === 'embedding' && one.space === space && one.id !== id ? [one.id] : [],
  )
}

/** A probe without an answer keeps the one before it. */
function lastCosineOf({ leastCosine, atMs, earlier }: ProbeResult): { least: number; at: string } | null {
  if (leastCosine !== undefined) return { least: leastCosine, at: isoOf(atMs) }
  return earlier === undefined ? null : { least: earlier.leastCosine, at: isoOf(earlier.atMs) }
}

const UNGUARDED = { state: 'unguarded', reason: undefined, lastGoodAtMs: undefined, last: undefined } as const

export function probeBody(result: ProbeResult): z.output<typeof spaceProbe> {
  return {
    at: isoOf(result.atMs),
    deployment: result.deployment,
    space: result.space,
    verdict: result.verdict,
    cosines: result.cosines ? [...result.cosines] : null,
    least_cosine: result.leastCosine ?? null,
    norm_drift: result.normDrift ?? null,
    reason: result.reason ?? null,
  }
}
