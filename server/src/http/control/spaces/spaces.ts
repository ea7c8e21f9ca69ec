/** Routes about vector spaces: how each deployment stands, how it drifted, and accepting another space. */
import type { Actor } from '#ports/audit.ts'
import type { z } from 'zod'
import { listModels, type Catalog, type Deployment, type EmbeddingModel } from '#core/catalog.ts'
import { readSpace, spaceOf } from '#core/embedding/space.ts'
import { Fault } from '#core/fault/fault.ts'
import type { ModelFigures, SpacePin } from '#ports/model-figures.ts'
import type { ProbeResult, ProbeSlot, SpaceReference, SpaceStore } from '#ports/spaces.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { invalidField, notFound } from '../wire/faults.ts'
import { actorIn } from '../access/caller.ts'
import type { Api } from '../wire/route.ts'
import { isoOf, timeOf } from '../wire/times.ts'
import {
  acceptance,
  seriesQuery,
  slotsQuery,
  space,
  spaceList,
  spacePath,
  spaceSeries,
  spaceSlots,
  type spaceProbe,
} from './schemas.ts'

/** What this node knows of a deployment. */
interface SpaceStanding {
  readonly state: 'trusted' | 'warned' | 'held-back' | 'quarantined'
  readonly reason: string | undefined
  readonly lastGoodAtMs: number | undefined
  readonly last: ProbeResult | undefined
}

export interface SpacesDependencies {
  /** With the credentials that probes need. */
  readonly catalog: () => Catalog
  readonly store: Pick<SpaceStore, 'series' | 'slots'>
  /** Undefined: no requests are kept that could tell. */
  readonly figures: Pick<ModelFigures, 'pins'> | undefined
  readonly guard: {
    /** Whether the store was read once. */
    readonly hasRead: boolean
    referenceOf(model: string): SpaceReference | undefined
    standingOf(deployment: string): SpaceStanding | undefined
    accept(model: EmbeddingModel, deployment: Deployment, actor: Actor): Promise<SpaceReference>
    probeNow(model: string): Promise<readonly ProbeResult[]>
  }
}

export function registerSpaces(api: Api, dependencies: SpacesDependencies): void {
  const { catalog, store, figures, guard } = dependencies

  api.get('/spaces', {
    config: { permission: 'spaces.read' },
    schema: {
      operationId: 'listSpaces',
      summary: 'The vector space of each embedding model, and the state of its deployments',
      response: { 200: spaceList, ...faultAnswers([401, 503]) },
    },
    handler: async () => {
      if (!guard.hasRead)
        throw new Fault(
          'store_unreachable',
          'This node has not read the vector spaces from PostgreSQL yet. Retry.',
        )
      const models = listModels(catalog()).filter((model) => model.kind === 'embedding')
      const pins = await figures?.pins()
      return { data: models.map((model) => spaceBody(model, guard, pins)), has_more: false as const }
    },
  })

  api.get('/spaces/:model/series', {
    config: { permission: 'spaces.read' },
    schema: {
      operationId: 'spaceSeries',
      summary: 'All probes of the deployments of a model, newest first',
      params: spacePath,
      querystring: seriesQuery,
      response: { 200: spaceSeries, ...faultAnswers([400, 401, 404, 503]) },
    },
    handler: async ({ params, query: { since, limit } }) => {
      const { id } = modelIn(catalog(), params.model)
      const sinceMs = since === undefined ? 0 : Date.parse(since)
      const points = await store.series(id, { sinceMs, limit: limit + 1 })
      return { data: points.slice(0, limit).map(probeBody), has_more: points.length > limit }
    },
  })

  api.get('/spaces/:model/slots', {
    config: { permission: 'spaces.read' },
    schema: {
      operationId: 'spaceSlots',
      summary: 'The worst probe of each slot of time, for charts over weeks, newest first',
      params: spacePath,
      querystring: slotsQuery,
      response: { 200: spaceSlots, ...faultAnswers([400, 401, 404, 503]) },
    },
    handler: async ({ params, query: { since, slot_seconds: slotSeconds, limit } }) => {
      const { id } = modelIn(catalog(), params.model)
      const sinceMs = since === undefined ? 0 : Date.parse(since)
      const slots = await store.slots(id, { sinceMs, slotMs: slotSeconds * 1000, limit: limit + 1 })
      return { data: slots.slice(0, limit).map(slotBody), has_more: slots.length > limit }
    },
  })

  api.post('/spaces/:model/accept', {
    config: { permission: 'spaces.accept' },
    schema: {
      operationId: 'acceptSpace',
      summary:
        'Accept the present space of a deployment as the space of the model. The space gets a new id; earlier vectors no longer match',
      params: spacePath,
      body: acceptance,
      response: { 200: space, ...faultAnswers([400, 401, 404, 409, 503]) },
    },
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
      // Nobody has heard of it yet.
      return spaceBody(model, guard, figures && [])
    },
  })

  api.post('/spaces/:model/probe', {
    config: { permission: 'spaces.probe' },
    schema: {
      operationId: 'probeSpace',
      summary: 'Probe all deployments of a model now, instead of within 15 minutes',
      params: spacePath,
      response: { 200: spaceSeries, ...faultAnswers([401, 404, 409, 503]) },
    },
    handler: async ({ params }) => {
      const results = await guard.probeNow(guardedIn(catalog(), params.model).id)
      return { data: results.map(probeBody), has_more: false }
    },
  })
}

function modelIn(catalog: Catalog, name: string): EmbeddingModel {
  const model = catalog.models.get(name)
  if (model?.kind !== 'embedding') throw notFound(`There is no embedding model ${name}.`)
  return model
}

/** A model that is not guarded has no reference, so accepting a space for it would mean nothing. */
function guardedIn(catalog: Catalog, name: string): EmbeddingModel {
  const model = modelIn(catalog, name)
  if (!model.isGuarded)
    throw new Fault('conflict', `The space guard is off for ${model.id}: torana.yaml has spaceGuard: false.`)
  return model
}

function spaceBody(
  model: EmbeddingModel,
  guard: SpacesDependencies['guard'],
  pins: readonly SpacePin[] | undefined,
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
    pinned_by: pins ? pinnedBy(model.id, generation, pins) : null,
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
  }
}

/** A narrower width is a space of its own, and changes together with the full one. */
function pinnedBy(
  model: string,
  generation: number,
  pins: readonly SpacePin[],
): NonNullable<z.output<typeof space>['pinned_by']> {
  const byKey = new Map<string, number>()
  for (const { key, space: pinned, requests } of pins) {
    const read = readSpace(pinned)
    if (read?.model !== model || pinned !== spaceOf(model, read.width, generation)) continue
    byKey.set(key, (byKey.get(key) ?? 0) + requests)
  }
  return [...byKey]
    .map(([key, requests]) => ({ key, requests_24h: requests }))
    .toSorted((one, other) => other.requests_24h - one.requests_24h)
}

const UNGUARDED = { state: 'unguarded', reason: undefined, lastGoodAtMs: undefined, last: undefined } as const

function slotBody(slot: ProbeSlot): z.output<typeof spaceSlots>['data'][number] {
  return {
    at: isoOf(slot.atMs),
    deployment: slot.deployment,
    space: slot.space,
    looks: slot.looks,
    failed: slot.failed,
    verdict: slot.verdict,
    least_cosine: slot.leastCosine ?? null,
    norm_drift: slot.normDrift ?? null,
  }
}

function probeBody(result: ProbeResult): z.output<typeof spaceProbe> {
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
