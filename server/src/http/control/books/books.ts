/** Routes about the books: nodes, and whether everything agrees. */
import type { z } from 'zod'
import { decimalOf } from '#core/price.ts'
import type { NodeSummary } from '#core/traffic/node-summary.ts'
import type { AuditLog, AuditProof } from '#ports/audit.ts'
import type { NewestRequests } from '#ports/attention-figures.ts'
import { StoreAway } from '#ports/store.ts'
import type { StoreServer } from '#ports/store-server.ts'
import {
  type NodeFigures,
  type NodeRecord,
  type NodeRegister,
  type Reconciler,
  type Upkeep,
} from '#ports/upkeep.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { doctorQuery, doctorReport, ended, ending, nodeList, nodePath, type node } from './schemas.ts'
import { checksOf, worstOf, type AuditFigures, type BooksFindings } from './doctor.ts'
import type { NodeSurroundings } from './surroundings.ts'
import { conflict, notFound } from '../wire/faults.ts'
import { actorIn } from '../access/caller.ts'
import type { Api } from '../wire/route.ts'
import { isoOf, timeOf } from '../wire/times.ts'

export interface BooksDependencies {
  readonly nodes: NodeRegister
  readonly reconciler: Reconciler
  readonly upkeep: Pick<Upkeep, 'makePartitions'>
  readonly audit: Pick<AuditLog, 'list'>
  /** Undefined: the database runs inside this process. */
  readonly server?: StoreServer | undefined
  /** Undefined: no request log is kept. */
  readonly newestRequests?: (() => Promise<NewestRequests>) | undefined
  /** What nodes told in the last seconds. Absent: nobody is asked. */
  readonly summaries?: (() => Promise<readonly NodeSummary[]>) | undefined
  /** What this node says of itself. */
  readonly nodeFigures: () => NodeFigures
  /** What it finds around it. Absent: nobody looks. */
  readonly surroundings?: (() => Promise<NodeSurroundings>) | undefined
  readonly nowMs: () => number
}

export function registerBooks(api: Api, dependencies: BooksDependencies): void {
  registerNodes(api, dependencies)
  registerDoctor(api, dependencies)
}

function registerNodes(api: Api, { nodes, summaries }: BooksDependencies): void {
  api.get('/nodes', {
    config: { permission: 'nodes.read' },
    schema: {
      operationId: 'listNodes',
      summary: 'Nodes that write to the ledger, and nodes that ended in the last days',
      response: { 200: nodeList, ...faultAnswers([401, 503]) },
    },
    handler: async () => {
      const [all, told] = await Promise.all([nodes.list(), summaries?.() ?? []])
      const byNode = new Map(told.map((summary) => [summary.node, summary]))
      return { data: all.map((one) => nodeBody(one, byNode.get(one.id))), has_more: false as const }
    },
  })

  api.post('/nodes/:id/end', {
    config: { permission: 'nodes.end' },
    schema: {
      operationId: 'endNode',
      summary: 'End a node whose machine is gone, and return its budget leases',
      params: nodePath,
      body: ending,
      response: { 200: ended, ...faultAnswers([400, 401, 404, 409, 503]) },
    },
    handler: async (request) => {
      const { id } = request.params
      const result = await nodes.end(id, { force: request.body.force, actor: actorIn(request) })
      if (result.kind === 'missing') throw notFound(`There is no node ${id}.`)
      if (result.kind === 'alive')
        throw conflict(
          `Node ${id} is alive: it was seen within the last minute. Stop its process instead. With force, Torana cuts the node off and it must stop.`,
        )
      return { id, returned_usd: decimalOf(result.kind === 'ended' ? result.returnedNanoUsd : 0n) }
    },
  })
}

function registerDoctor(api: Api, dependencies: BooksDependencies): void {
  api.get('/doctor', {
    config: { permission: 'doctor.read' },
    schema: {
      operationId: 'doctor',
      summary: 'Compare the ledger with its sums; correct budgets that differ',
      querystring: doctorQuery,
      response: { 200: doctorReport, ...faultAnswers([400, 401]) },
    },
    handler: async ({ query: { hours } }) => {
      const around = await dependencies.surroundings?.()
      const found = await findings(dependencies, hours)
      const nowMs = dependencies.nowMs()
      const checks = checksOf({ node: dependencies.nodeFigures(), findings: found, around, nowMs })
      return { at: isoOf(nowMs), verdict: worstOf(checks), checks: [...checks] }
    },
  })
}

/** Undefined when the store is away: the report then holds what this node knows by itself. */
async function findings(
  { nodes, reconciler, upkeep, audit, server, newestRequests }: BooksDependencies,
  hours: number | 'all',
): Promise<BooksFindings | undefined> {
  try {
    const partitions = await upkeep.makePartitions()
    const reconciliation = await reconciler.reconcile(hours)
    const figures = await reconciler.figures()
    const install = {
      nodes: await nodes.list(),
      server: await server?.settings(),
      newest: await newestRequests?.(),
    }
    return { partitions, reconciliation, figures, install, audit: await readAudit(audit) }
  } catch (error) {
    if (error instanceof StoreAway) return undefined
    throw error
  }
}

/** As far back as a report can wait for: an audit that was longer ago is read with `GET /api/v1/audit`. */
const AUDIT_READ = 10_000
const AUDIT_PAGE = 500

async function readAudit(audit: BooksDependencies['audit']): Promise<AuditFigures> {
  const figures = { entries: 0, broken: 0, unkeyed: 0 }
  let newest: AuditProof | undefined
  let before: bigint | undefined
  while (figures.entries < AUDIT_READ) {
    const page = await audit.list({ limit: AUDIT_PAGE, before })
    newest ??= page[0]?.proof
    figures.entries += page.length
    figures.broken += page.filter(({ intact }) => !intact).length
    figures.unkeyed += page.filter(({ proof }) => proof === 'unkeyed').length
    before = page.at(-1)?.sequence
    if (page.length < AUDIT_PAGE) break
  }
  return { ...figures, newest }
}

function nodeBody(record: NodeRecord, summary: NodeSummary | undefined): z.output<typeof node> {
  return {
    id: record.id,
    host: record.host,
    version: record.version,
    role: record.role,
    state: record.state,
    started_at: isoOf(record.startedAtMs),
    seen_at: isoOf(record.seenAtMs),
    ended_at: timeOf(record.endedAtMs),
    leased_usd: decimalOf(record.leasedNanoUsd),
    now: summary
      ? {
          loop_busy: summary.loopBusy,
          spool_waiting: summary.spoolWaiting,
          calls_under_way: summary.callsUnderWay,
        }
      : null,
  }
}
