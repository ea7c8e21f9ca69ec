/** Routes about deployments: how each stands and stood, draining one, and trying one. */
import { listModels, type Catalog, type Deployment, type ImageDeployment, type Model } from '#core/catalog.ts'
import type { Fault } from '#core/fault/fault.ts'
import { decimalOf, nanoUsdOf, type Cost } from '#core/price.ts'
import { standingsOf, type NodeSummary } from '#core/traffic/node-summary.ts'
import { quantileOf } from '#core/traffic/latency-counts.ts'
import type { DrainStore } from '#ports/drains.ts'
import { DEPLOYMENT_SLOT_MS, type TrafficHistory } from '#ports/traffic-history.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { actorIn } from '../access/caller.ts'
import { conflict, notFound } from '../wire/faults.ts'
import type { Api } from '../wire/route.ts'
import { isoOf } from '../wire/times.ts'
import { CELL_MS, CELLS, cellsOf, deploymentBody, standingBody, type DeploymentView } from './bodies.ts'
import {
  deployment,
  deploymentHistory,
  deploymentList,
  deploymentPath,
  drainedDeployment,
  draining,
  historyQuery,
  tested,
  testing,
} from './schemas.ts'

export interface DeploymentDependencies extends Pick<
  DeploymentView,
  'spaceStandingOf' | 'generationOf' | 'startedAtMs'
> {
  readonly catalog: () => Catalog
  /** What all nodes say that were heard of late. */
  readonly summaries: () => Promise<readonly NodeSummary[]>
  readonly liveNodes: () => number
  readonly drains: DrainStore
  /** Undefined on a node that keeps nothing. */
  readonly history: TrafficHistory | undefined
  readonly tests: DeploymentTests
  readonly nowMs: () => number
}

/** Trying a deployment, and the most that it can cost. */
export interface DeploymentTests {
  most(model: Model, deployment: Deployment | ImageDeployment): Cost
  run(model: Model, deployment: Deployment | ImageDeployment): Promise<TestResult>
}

interface TestResult {
  readonly requestId: string
  readonly durationMs: number
  /** Undefined: it failed. */
  readonly cost: Cost | undefined
  /** Undefined: it went well. */
  readonly fault: Fault | undefined
}

const DAY_MS = 86_400_000
/** A chart has no room for more points. */
const MOST_SLOTS = 300
const MOST_EVENTS = 200

export function registerDeployments(api: Api, dependencies: DeploymentDependencies): void {
  const { catalog, drains } = dependencies

  api.get('/deployments', {
    config: { permission: 'deployments.read' },
    schema: {
      operationId: 'listDeployments',
      summary: 'All deployments, model by model: state, load, latency, failures and the last day',
      response: { 200: deploymentList, ...faultAnswers([401, 403, 503]) },
    },
    handler: async () => {
      const view = await viewOf(dependencies)
      return { data: bodiesOf(catalog(), view), has_more: false, next: null, nodes: view.nodes }
    },
  })

  api.get('/deployments/:id', {
    config: { permission: 'deployments.read' },
    schema: {
      operationId: 'getDeployment',
      summary: 'One deployment',
      params: deploymentPath,
      response: { 200: deployment, ...faultAnswers([401, 403, 404, 503]) },
    },
    handler: async ({ params }) => {
      const [model, one] = found(catalog(), params.id)
      return deploymentBody(model, one, await viewOf(dependencies))
    },
  })

  registerHistory(api, dependencies)
  registerTest(api, dependencies)

  api.post('/deployments/:id/drain', {
    config: { permission: 'deployments.drain' },
    schema: {
      operationId: 'drainDeployment',
      summary:
        'Send a deployment no more calls, or take it back. Calls under way end; all nodes follow within two seconds',
      params: deploymentPath,
      body: draining,
      response: { 200: drainedDeployment, ...faultAnswers([400, 401, 403, 404, 503]) },
    },
    handler: async (request) => {
      const [model, one] = found(catalog(), request.params.id)
      const { drained, reason } = request.body
      const actor = actorIn(request)
      const drain = drained ? await drains.drain(one.id, reason, actor) : undefined
      if (!drained) await drains.takeBack(one.id, reason, actor)
      // What nodes tell of each other never fails, unlike questions to the store.
      return standingBody(model, one, {
        ...dependencies,
        standings: standingsOf(await dependencies.summaries()),
        drains: new Map(drain && [[one.id, drain]]),
      })
    },
  })
}

function registerHistory(api: Api, { catalog, history, nowMs }: DeploymentDependencies): void {
  api.get('/deployments/:id/history', {
    config: { permission: 'deployments.read' },
    schema: {
      operationId: 'deploymentHistory',
      summary:
        'What became of a deployment over time: the worst state, calls, latency and limit of each slot, and its events',
      params: deploymentPath,
      querystring: historyQuery,
      response: { 200: deploymentHistory, ...faultAnswers([400, 401, 403, 404, 503]) },
    },
    handler: async ({ params, query: { since } }) => {
      const [, { id }] = found(catalog(), params.id)
      const sinceMs = since === undefined ? nowMs() - DAY_MS : Date.parse(since)
      const slots = Math.max(1, Math.ceil((nowMs() - sinceMs) / MOST_SLOTS / DEPLOYMENT_SLOT_MS))
      const slotMs = slots * DEPLOYMENT_SLOT_MS
      const data = (await history?.deploymentSlots(id, sinceMs, slotMs)) ?? []
      const events = (await history?.events(id, sinceMs, MOST_EVENTS)) ?? []
      return {
        slot_seconds: slotMs / 1000,
        data: data.map(({ atMs, worst, calls, failed, latency, inFlight, limit }) => ({
          at: isoOf(atMs),
          worst,
          requests: calls,
          failed,
          p95_ms: quantileOf([latency], 0.95) ?? null,
          in_flight: inFlight,
          limit: limit ?? null,
        })),
        events: events.map(({ atMs, state, reason }) => ({ at: isoOf(atMs), state, reason })),
      }
    },
  })
}

function registerTest(api: Api, { catalog, tests }: DeploymentDependencies): void {
  api.post('/deployments/:id/test', {
    config: { permission: 'deployments.test' },
    schema: {
      operationId: 'testDeployment',
      summary:
        'Try a deployment with one call: the text `ping`, or its smallest picture. Billed to the project `system`',
      params: deploymentPath,
      body: testing,
      response: { 200: tested, ...faultAnswers([400, 401, 403, 404, 409, 503]) },
    },
    handler: async ({ params, body: { max_usd: maxUsd } }) => {
      const [model, one] = found(catalog(), params.id)
      if (maxUsd !== null) refuseDearer(tests.most(model, one), nanoUsdOf(maxUsd), one.id)
      const { requestId, durationMs, cost, fault } = await tests.run(model, one)
      return {
        outcome: fault?.code ?? 'ok',
        status: fault?.upstream?.status ?? null,
        reason: fault?.message ?? null,
        duration_ms: Math.round(durationMs * 100) / 100,
        cost_usd: cost?.kind === 'known' ? decimalOf(cost.nanoUsd) : null,
        request_id: requestId,
      }
    },
  })
}

function refuseDearer(most: Cost, maxNanoUsd: bigint, id: string): void {
  if (most.kind === 'unpriced')
    throw conflict(
      `Nobody knows what a test of ${id} costs: it has no price. Leave max_usd out to test it anyway.`,
    )
  if (most.nanoUsd > maxNanoUsd)
    throw conflict(`A test of ${id} can cost ${decimalOf(most.nanoUsd)} dollars, more than max_usd.`)
}

/** All of them, as the list has them. */
export async function allDeployments(dependencies: DeploymentDependencies) {
  return bodiesOf(dependencies.catalog(), await viewOf(dependencies))
}

function bodiesOf(catalog: Catalog, view: DeploymentView) {
  return listModels(catalog).flatMap((model) =>
    model.deployments.map((one: Deployment | ImageDeployment) => deploymentBody(model, one, view)),
  )
}

async function viewOf(
  dependencies: DeploymentDependencies,
): Promise<DeploymentView & { readonly nodes: { readonly reporting: number; readonly alive: number } }> {
  const { summaries, drains, history, nowMs, liveNodes } = dependencies
  const fromMs = Math.floor(nowMs() / CELL_MS) * CELL_MS - (CELLS - 1) * CELL_MS
  const [told, drained, worst] = await Promise.all([
    summaries(),
    drains.list(),
    history?.worstStates(fromMs, CELL_MS) ?? [],
  ])
  return {
    ...dependencies,
    standings: standingsOf(told),
    drains: new Map(drained.map((drain) => [drain.deployment, drain])),
    cells: cellsOf(worst, fromMs),
    nodes: { reporting: told.length, alive: Math.max(liveNodes(), told.length) },
  }
}

function found(catalog: Catalog, id: string): readonly [Model, Deployment | ImageDeployment] {
  for (const model of listModels(catalog))
    for (const one of model.deployments as readonly (Deployment | ImageDeployment)[])
      if (one.id === id) return [model, one]
  throw notFound(`There is no deployment ${id}.`)
}
