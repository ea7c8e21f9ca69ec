/** Vector spaces: the state of each deployment, its drift, and accepting another space. */
import { z } from 'zod'
import { listModels, type Catalog, type EmbeddingModel } from '#core/catalog/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import { actorIn } from '../shared/caller.ts'
import { conflict, invalidField } from '../shared/faults.ts'
import { storable } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { listPins, spaceProbe } from './queries.ts'
import { MAX_NAME, modelIn, registerSeries, spacePath } from './series-routes.ts'
import { probeBody, space, spaceBody } from './space-rules.ts'

const spaceList = z.object({ data: z.array(space), has_more: z.literal(false) }).meta({ id: 'SpaceList' })

const probed = z
  .object({ data: z.array(spaceProbe), has_more: z.literal(false) })
  .meta({ id: 'SpaceProbeList' })

const acceptance = z
  .strictObject({ deployment: storable(MAX_NAME).min(1) })
  .meta({ id: 'SpaceAcceptance', examples: [{ deployment: 'search-embed/a' }] })

type SpacesNode = Pick<ControlNode, 'catalog' | 'reports' | 'spaceGuard' | 'clock'>

export function registerSpaces(api: Api, { catalog, reports, spaceGuard: guard, clock }: SpacesNode): void {
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
      return {
        data: models.map((model) => spaceBody(model, { guard, catalog: catalog() }, pins)),
        has_more: false as const,
      }
    },
  })

  registerSeries(api, { catalog, reports })
  registerActions(api, { catalog, spaceGuard: guard })
}

function registerActions(
  api: Api,
  { catalog, spaceGuard: guard }: Omit<SpacesNode, 'reports' | 'clock'>,
): void {
  route(api, 'POST /spaces/:model/accept', {
    permission: 'spaces.accept',
    id: 'acceptSpace',
    summary:
      'Accept the present space of a deployment as the space of the model. The space gets a new id, also for the models that share it; earlier vectors no longer match',
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
      return spaceBody(model, { guard, catalog: catalog() }, [])
    },
  })

  route(api, 'POST /spaces/:model/probe', {
    permission: 'spaces.probe',
    id: 'probeSpace',
    summary: 'Probe all deployments of a model now, instead of within 15 minutes',
    params: spacePath,
    answer: probed,
    faults: [409],
    handler: async ({ params }) => {
      const model = guardedIn(catalog(), params.model)
      const results = await guard.probeNow(model.id)
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
