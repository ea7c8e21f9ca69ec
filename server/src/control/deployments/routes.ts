/** Deployments: their state now and over time, draining one, and testing one. */
import { z } from 'zod'
import { nanoUsdOf } from '#core/money/price.ts'
import { quantileOf } from '#core/traffic/latency-counts.ts'
import { standingsOf } from '#core/traffic/node-summary.ts'
import { DEPLOYMENT_SLOT_MS } from '#ports/traffic-history.ts'
import { actorIn } from '../shared/caller.ts'
import { cursor, givenTime, givenUsd, storable, time, usd } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { DAY_MS, isoOf, spanSince } from '../shared/times.ts'
import { allDeployments, checkTestCost, deploymentNamed, testDeployment, viewOf } from './open.ts'
import { deployment, deploymentBody, deploymentState, drainedDeployment, standingBody } from './rules.ts'

/** Points of a chart. */
const MAX_SLOTS = 300
const MAX_EVENTS = 200
/** Length of a deployment's id. */
const MAX_NAME = 500
/** Length of a reason: one line of the audit. */
const MAX_REASON = 500

const deploymentList = z
  .object({
    data: z.array(deployment),
    has_more: z.boolean(),
    next: cursor,
    nodes: z
      .object({ reporting: z.int(), alive: z.int() })
      .describe('How many nodes reported their deployments in the last seconds.'),
  })
  .meta({ id: 'DeploymentList' })

const deploymentPath = z.object({
  id: storable(MAX_NAME).min(1).describe('`/` is written `%2F`.'),
})

const historyQuery = z.object({
  since: givenTime.optional().describe('Default: a day before `until`. Two weeks are kept.'),
  until: givenTime.optional().describe('The first moment that is not in it. Default: now.'),
})

const deploymentHistory = z
  .object({
    slot_seconds: z.int(),
    data: z.array(
      z.object({
        at: time,
        worst: deploymentState,
        requests: z.int(),
        failed: z.int(),
        p95_ms: z.number().nullable(),
        in_flight: z.int(),
        limit: z.number().nullable(),
      }),
    ),
    events: z
      .array(z.object({ at: time, state: deploymentState, reason: z.string() }))
      .describe('Newest first.'),
  })
  .meta({ id: 'DeploymentHistory' })

const draining = z
  .strictObject({ drained: z.boolean(), reason: storable(MAX_REASON).trim().min(1) })
  .meta({ id: 'Draining', examples: [{ drained: true, reason: 'maintenance' }] })

const testing = z
  .strictObject({
    max_usd: givenUsd
      .nullable()
      .default(null)
      .describe('The test is refused when it could cost more. null: it may cost what it costs.'),
  })
  .meta({ id: 'DeploymentTest', examples: [{ max_usd: '0.01' }] })

const tested = z
  .object({
    outcome: z.string().describe('`ok`, or the code of the fault.'),
    status: z.int().nullable().describe('Of the upstream. null: it answered, or there was no answer.'),
    reason: z.string().nullable(),
    duration_ms: z.number(),
    cost_usd: usd.nullable(),
    request_id: z.string(),
  })
  .meta({ id: 'Tested' })

export function registerDeployments(api: Api, node: ControlNode): void {
  const { catalog, drains } = node

  route(api, 'GET /deployments', {
    permission: 'deployments.read',
    id: 'listDeployments',
    summary: 'All deployments, model by model: state, load, latency, failures and the last day',
    answer: deploymentList,
    handler: async () => {
      const view = await viewOf(node)
      return { data: allDeployments(node, view), has_more: false, next: null, nodes: view.nodes }
    },
  })

  route(api, 'GET /deployments/:id', {
    permission: 'deployments.read',
    id: 'getDeployment',
    summary: 'One deployment',
    params: deploymentPath,
    answer: deployment,
    handler: async ({ params }) => {
      const [model, one] = deploymentNamed(catalog(), params.id)
      return deploymentBody(model, one, await viewOf(node))
    },
  })

  registerHistory(api, node)
  registerTest(api, node)

  route(api, 'POST /deployments/:id/drain', {
    permission: 'deployments.drain',
    id: 'drainDeployment',
    summary:
      'Send a deployment no more calls, or take it back. Calls in progress end; all nodes follow within two seconds',
    params: deploymentPath,
    body: draining,
    answer: drainedDeployment,
    handler: async (request) => {
      const [model, one] = deploymentNamed(catalog(), request.params.id)
      const { drained, reason } = request.body
      const actor = actorIn(request)
      const drain = drained ? await drains.drain(one.id, reason, actor) : undefined
      if (!drained) await drains.takeBack(one.id, reason, actor)
      // The drain is committed: from here on nothing may fail. Summaries never do, unlike queries.
      return standingBody(model, one, {
        node,
        standings: standingsOf(await node.summaries()),
        drains: new Map(drain && [[one.id, drain]]),
      })
    },
  })
}

function registerHistory(api: Api, { catalog, history, clock }: ControlNode): void {
  route(api, 'GET /deployments/:id/history', {
    permission: 'deployments.read',
    id: 'deploymentHistory',
    summary:
      'What became of a deployment over time: the worst state, calls, latency and limit of each slot, and its events',
    params: deploymentPath,
    query: historyQuery,
    answer: deploymentHistory,
    handler: async ({ params, query }) => {
      const [, { id }] = deploymentNamed(catalog(), params.id)
      const span = spanSince(query, DAY_MS, clock.nowMs())
      const slots = Math.max(1, Math.ceil((span.toMs - span.fromMs) / MAX_SLOTS / DEPLOYMENT_SLOT_MS))
      const slotMs = slots * DEPLOYMENT_SLOT_MS
      const data = await history.deploymentSlots(id, span, slotMs)
      const events = await history.events(id, span, MAX_EVENTS)
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

function registerTest(api: Api, node: ControlNode): void {
  route(api, 'POST /deployments/:id/test', {
    permission: 'deployments.test',
    id: 'testDeployment',
    summary:
      'Try a deployment with one call: the text `ping`, or its smallest image. Billed to the project `system`',
    params: deploymentPath,
    body: testing,
    answer: tested,
    faults: [409],
    handler: async ({ params, body: { max_usd: maxUsd } }) => {
      const [model, one] = deploymentNamed(node.catalog(), params.id)
      if (maxUsd !== null) checkTestCost(node, model, one, nanoUsdOf(maxUsd))
      return testDeployment(node, model, one)
    },
  })
}
