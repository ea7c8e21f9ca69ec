/** Vector spaces: the state of each deployment, its drift, and accepting another space. */
import { z } from 'zod'
import { listModels, type Catalog, type EmbeddingModel } from '#core/catalog/catalog.ts'
import { readSpace, spaceOf } from '#core/embedding/space.ts'
import { Fault } from '#core/fault/fault.ts'
import type { ProbeResult } from '#ports/spaces.ts'
import { actorIn } from '../shared/caller.ts'
import { conflict, invalidField } from '../shared/faults.ts'
import { storable, time } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import type { SpaceGuard } from '../shared/space-guard.ts'
import { isoOf, timeOf } from '../shared/times.ts'
import { calibrate, calibration, calibrationBody, calibrationOf } from './calibration-rules.ts'
import { listPins, spaceProbe, type SpacePin } from './queries.ts'
import { MAX_NAME, modelIn, registerSeries, spacePath } from './series-routes.ts'

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
    last_probe: spaceProbe.nullable(),
  })
  .meta({ id: 'SpaceDeployment' })

const pin = z.object({ key: z.string(), requests_24h: z.int() }).meta({ id: 'SpacePin' })

const space = z
  .object({
    model: z.string(),
    space: z.string().describe('`<model>@<width>:<8 hex>`, as in the header `x-torana-space`.'),
    generation: z.int().describe('Counts the spaces that were accepted, from 1.'),
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
    calibrations: z
      .array(calibration)
      .describe(
        'By which Torana makes int8 and uint8 at a width, the newest of a space last: it is in force.',
      ),
  })
  .meta({ id: 'Space' })

const spaceList = z.object({ data: z.array(space), has_more: z.literal(false) }).meta({ id: 'SpaceList' })

const probed = z
  .object({ data: z.array(spaceProbe), has_more: z.literal(false) })
  .meta({ id: 'SpaceProbeList' })

const acceptance = z
  .strictObject({ deployment: storable(MAX_NAME).min(1) })
  .meta({ id: 'SpaceAcceptance', examples: [{ deployment: 'search-embed/a' }] })

export function registerSpaces(
  api: Api,
  {
    catalog,
    reports,
    spaceGuard: guard,
    clock,
  }: Pick<ControlNode, 'catalog' | 'reports' | 'spaceGuard' | 'clock'>,
): void {
  route(api, 'GET /spaces', {
    permission: 'spaces.read',
    id: 'listSpaces',
    summary: 'The vector space of each embedding model, and the state of its deployments',
    answer: spaceList,
    handler: async () => {
      if (!guard.hasRead)
        throw new Fault(
          'store_unreachable',
          'This node has not read the vector spaces from PostgreSQL yet. Retry.',
        )
      const models = listModels(catalog()).filter((model) => model.kind === 'embedding')
      const pins = await listPins(reports, clock.nowMs())
      return { data: models.map((model) => spaceBody(model, guard, pins)), has_more: false as const }
    },
  })

  registerSeries(api, { catalog, reports })

  route(api, 'POST /spaces/:model/accept', {
    permission: 'spaces.accept',
    id: 'acceptSpace',
    summary:
      'Accept the present space of a deployment as the space of the model. The space gets a new id; earlier vectors no longer match',
    params: spacePath,
    body: acceptance,
    answer: space,
    faults: [409],
    handler: async (request) => {
      const model = guardedIn(catalog(), request.params.model)
      const { deployment: wanted } = request.body
      const deployment = model.deployments.find(({ id }) => id === wanted)
      if (deployment === undefined)
        throw invalidField(
          `Model ${model.id} has no deployment ${wanted}. It has ${model.deployments.map(({ id }) => id).join(', ')}.`,
          'deployment',
        )
      await guard.accept(model, deployment, actorIn(request))
      // The space is new: no request has named it.
      return spaceBody(model, guard, [])
    },
  })

  route(api, 'POST /spaces/:model/calibrations', {
    permission: 'spaces.accept',
    id: 'calibrateSpace',
    summary:
      'Store the ranges by which Torana makes int8 and uint8 of the vectors of a model at one width. They never change; newer ones are another space',
    params: spacePath,
    body: calibrationBody,
    answer: calibration,
    faults: [409],
    handler: (request) =>
      calibrate(modelIn(catalog(), request.params.model), request.body, actorIn(request), {
        spaceGuard: guard,
        clock,
      }),
  })

  route(api, 'POST /spaces/:model/probe', {
    permission: 'spaces.probe',
    id: 'probeSpace',
    summary: 'Probe all deployments of a model now, instead of within 15 minutes',
    params: spacePath,
    answer: probed,
    faults: [409],
    handler: async ({ params }) => {
      const results = await guard.probeNow(guardedIn(catalog(), params.model).id)
      return { data: results.map(probeBody), has_more: false as const }
    },
  })
}

/** A model that is not guarded has no reference, so accepting a space for it would mean nothing. */
function guardedIn(catalog: Catalog, name: string): EmbeddingModel {
  const model = modelIn(catalog, name)
  if (!model.isGuarded)
    throw conflict(`The space guard is off for ${model.id}: torana.yaml has spaceGuard: false.`)
  return model
}

function spaceBody(
  model: EmbeddingModel,
  guard: SpaceGuard,
  pins: readonly SpacePin[],
): z.output<typeof space> {
  const reference = guard.referenceOf(model.id)
  const { generation, width } = reference ?? { generation: 1, width: model.facts.dimensions }
  return {
    model: model.id,
    space: spaceOf(model.id, width, generation),
    generation,
    width,
    guarded: model.isGuarded,
    reference: reference
      ? {
          deployment: reference.deployment,
          accepted_at: isoOf(reference.acceptedAtMs),
          accepted_by: reference.acceptedBy ?? null,
        }
      : null,
    pinned_by: pinnedBy(model.id, generation, pins),
    deployments: model.deployments.map(({ id }) => {
      const { state, reason, lastGoodAtMs, last } = guard.standingOf(id) ?? UNGUARDED
      return {
        deployment: id,
        state,
        reason: reason ?? null,
        last_good_at: timeOf(lastGoodAtMs),
        last_probe: last ? probeBody(last) : null,
      }
    }),
    calibrations: guard.calibrations.ofModel(model.id).map(calibrationOf),
  }
}

/** A narrower width is a space of its own, and changes together with the full one. */
function pinnedBy(
  model: string,
  generation: number,
  pins: readonly SpacePin[],
): NonNullable<z.output<typeof space>['pinned_by']> {
  const byKey = new Map<string, number>()
  for (const { key, space: pinned, requests_24h: requests } of pins) {
    const read = readSpace(pinned)
    if (read?.model !== model || read.float !== spaceOf(model, read.width, generation)) continue
    byKey.set(key, (byKey.get(key) ?? 0) + requests)
  }
  return [...byKey]
    .map(([key, requests]) => ({ key, requests_24h: requests }))
    .toSorted((one, other) => other.requests_24h - one.requests_24h)
}

const UNGUARDED = { state: 'unguarded', reason: undefined, lastGoodAtMs: undefined, last: undefined } as const

function probeBody(result: ProbeResult): z.output<typeof spaceProbe> {
  return {
    at: isoOf(result.atMs),
    deployment: result.deployment,
    kind: result.isRide ? ('ride' as const) : ('probe' as const),
    space: result.space,
    verdict: result.verdict,
    cosines: result.cosines ? [...result.cosines] : null,
    least_cosine: result.leastCosine ?? null,
    norm_drift: result.normDrift ?? null,
    reason: result.reason ?? null,
  }
}
