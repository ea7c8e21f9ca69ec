/** Deployments as all nodes see them, and test calls to one of them. */
import {
  listModels,
  type Catalog,
  type Deployment,
  type ImageDeployment,
  type Model,
} from '#core/catalog/catalog.ts'
import { endedOf } from '#core/catalog/model-end.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { faultOfFailure } from '#core/fault/of-failure.ts'
import { decimalOf, type Cost } from '#core/money/price.ts'
import { standingsOf } from '#core/traffic/node-summary.ts'
import { mostOfTest, testEmbedding } from '#request/embeddings/probe.ts'
import { mostOfPicture, testPicture } from '#request/images/test-call.ts'
import { conflict, notFound } from '../shared/faults.ts'
import type { ControlNode } from '../shared/node.ts'
import { openSkippedFor } from '../shared/skipping-keys-queries.ts'
import { CELL_MS, CELLS, cellsOf, deploymentBody, type AnyDeployment, type DeploymentView } from './rules.ts'

interface ListView extends DeploymentView {
  readonly nodes: { readonly reporting: number; readonly alive: number }
}

export async function viewOf(node: ControlNode): Promise<ListView> {
  const fromMs = Math.floor(node.clock.nowMs() / CELL_MS) * CELL_MS - (CELLS - 1) * CELL_MS
  const [summaries, drains, worst, skippedFor] = await Promise.all([
    node.summaries(),
    node.drains.list(),
    node.history.worstStates(fromMs, CELL_MS),
    openSkippedFor(node),
  ])
  return {
    node,
    standings: standingsOf(summaries),
    drains: new Map(drains.map((drain) => [drain.deployment, drain])),
    cells: cellsOf(worst, fromMs),
    skippedFor,
    nodes: { reporting: summaries.length, alive: Math.max(node.liveNodes(), summaries.length) },
  }
}

export function allDeployments({ catalog }: ControlNode, view: DeploymentView) {
  return listModels(catalog()).flatMap((model) =>
    model.deployments.map((one: AnyDeployment) => deploymentBody(model, one, view)),
  )
}

export function deploymentNamed(catalog: Catalog, id: string): readonly [Model, AnyDeployment] {
  for (const model of listModels(catalog))
    for (const one of model.deployments as readonly AnyDeployment[]) if (one.id === id) return [model, one]
  throw notFound(`There is no deployment ${id}.`)
}

/** Throws when a test could cost more than `maxNanoUsd`. */
export function checkTestCost(node: ControlNode, model: Model, one: AnyDeployment, maxNanoUsd: bigint): void {
  const most =
    model.kind === 'embedding'
      ? mostOfTest(one as Deployment)
      : mostOfPicture(model, one as ImageDeployment, node.imageOutside)
  if (most.kind === 'unpriced')
    throw conflict(
      `Nobody knows what a test of ${one.id} costs: it has no price. Leave max_usd out to test it anyway.`,
    )
  if (most.nanoUsd > maxNanoUsd)
    throw conflict(`A test of ${one.id} can cost ${decimalOf(most.nanoUsd)} dollars, more than max_usd.`)
}

export async function testDeployment(node: ControlNode, model: Model, one: AnyDeployment) {
  const { clock, embedOutside, imageOutside } = node
  const requestId = node.identifiers.next()
  const startedMs = clock.monotonicMs()
  const result = (cost: Cost | undefined, fault: Fault | undefined, cause?: string) => ({
    outcome: fault?.code ?? 'ok',
    status: fault?.upstream?.status ?? null,
    reason: fault ? `${fault.message}${cause === undefined ? '' : ` Cause: ${cause}`}` : null,
    duration_ms: Math.round((clock.monotonicMs() - startedMs) * 100) / 100,
    cost_usd: cost?.kind === 'known' ? decimalOf(cost.nanoUsd) : null,
    request_id: requestId,
  })
  try {
    const cost =
      model.kind === 'embedding'
        ? await testEmbedding(model, one as Deployment, requestId, embedOutside)
        : await testPicture(model, one as ImageDeployment, requestId, imageOutside)
    return result(cost, undefined)
  } catch (error) {
    const fault =
      error instanceof UpstreamFailure
        ? faultOfFailure(error, model.id, 1, endedOf(model, error.detail.deployment, clock.nowMs()))
        : error
    if (!(fault instanceof Fault)) throw error
    const own = error instanceof UpstreamFailure && error.reason !== error.message ? error.reason : undefined
    return result(undefined, fault, own)
  }
}
