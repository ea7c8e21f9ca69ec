/** Nodes that write to the ledger, and the doctor. */
import { z } from 'zod'
import { decimalOf } from '#core/money/price.ts'
import type { AuditLog, AuditProof } from '#ports/audit.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { actorIn } from '../shared/caller.ts'
import { conflict, notFound } from '../shared/faults.ts'
import { time, usd } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { isoOf } from '../shared/times.ts'
import { surroundingsOf } from './open.ts'
import { endNode, installFigures, listNodes, lostLogDays, node } from './queries.ts'
import { checksOf, worstOf, type AuditFigures, type StoreFindings } from './rules.ts'

/** Longest span that the doctor adds up hour by hour: a quarter of a year. `all` has no bound. */
const MAX_HOURS = 2232
/** The span that the upkeep compares by itself. */
const HOURS = 2

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const nodePath = z.object({ id: z.string().regex(new RegExp(`^${UUID}$`), 'expected a UUID') })

const nodeList = z.object({ data: z.array(node), has_more: z.literal(false) }).meta({ id: 'NodeList' })

const ending = z
  .strictObject({
    force: z.boolean().default(false).describe('End the node even if it was seen within the last minute.'),
  })
  .meta({ id: 'Ending', examples: [{ force: false }] })

const ended = z
  .object({ id: z.string(), returned_usd: usd.describe('Leased budget that was returned.') })
  .meta({ id: 'Ended' })

const doctorQuery = z.object({
  hours: z
    .union([z.literal('all'), z.coerce.number().int().min(1).max(MAX_HOURS)])
    .default(HOURS)
    .describe('How many hours of the ledger to add up again.'),
})

const verdict = z.enum(['ok', 'warn', 'fail'])

const doctorReport = z
  .object({
    at: time,
    verdict: verdict.describe('The worst of all checks.'),
    checks: z.array(
      z.object({
        name: z.string(),
        verdict: verdict.describe(
          '`warn`: an operator should look at it. `fail`: a promise is broken, or about to be.',
        ),
        says: z.string(),
        figures: z.record(z.string(), z.number()),
      }),
    ),
  })
  .meta({ id: 'DoctorReport' })

export function registerNodes(api: Api, control: ControlNode): void {
  route(api, 'GET /nodes', {
    permission: 'nodes.read',
    id: 'listNodes',
    summary: 'Nodes that write to the ledger, and nodes that ended in the last days',
    answer: nodeList,
    handler: async () => {
      const [nodes, summaries] = await Promise.all([listNodes(control.reports), control.summaries()])
      const byNode = new Map(summaries.map((summary) => [summary.node, summary]))
      const data = nodes.map(({ setup: _setup, clock_skew_ms: _skew, ...listed }) => {
        const now = byNode.get(listed.id)
        return {
          ...listed,
          now: now
            ? { loop_busy: now.loopBusy, spool_waiting: now.spoolWaiting, calls_under_way: now.callsUnderWay }
            : null,
        }
      })
      return { data, has_more: false as const }
    },
  })

  route(api, 'POST /nodes/:id/end', {
    permission: 'nodes.end',
    id: 'endNode',
    summary: 'End a node whose machine is gone, and return its budget leases',
    params: nodePath,
    body: ending,
    answer: ended,
    faults: [409],
    handler: async (request) => {
      const { id } = request.params
      const { force } = request.body
      const result = await endNode(control.reports, id, { force, actor: actorIn(request) })
      if (result.kind === 'missing') throw notFound(`There is no node ${id}.`)
      if (result.kind === 'alive')
        throw conflict(
          `Node ${id} is alive: it was seen within the last minute. Stop its process instead. With force, Torana cuts the node off and it must stop.`,
        )
      return { id, returned_usd: decimalOf(result.kind === 'ended' ? result.returnedNanoUsd : 0n) }
    },
  })

  route(api, 'GET /doctor', {
    permission: 'doctor.read',
    id: 'doctor',
    summary: 'Compare the ledger with its sums; correct budgets that differ',
    query: doctorQuery,
    answer: doctorReport,
    needsStore: false,
    handler: async ({ query: { hours } }) => {
      const around = await surroundingsOf(control)
      const findings = await findingsOf(control, hours)
      const nowMs = control.clock.nowMs()
      const checks = checksOf({
        node: control.nodeFigures(),
        database: control.settings.database.kind,
        findings,
        around,
        nowMs,
      })
      return { at: isoOf(nowMs), verdict: worstOf(checks), checks }
    },
  })
}

/** Undefined when PostgreSQL is unreachable: the report then holds what this node knows by itself. */
async function findingsOf(
  { reports, reconciler, makePartitions, audit, settings, clock, lake }: ControlNode,
  hours: number | 'all',
): Promise<StoreFindings | undefined> {
  try {
    // Before today's partition is made again.
    const lostDays = await lostLogDays(reports)
    const partitions = await makePartitions()
    const reconciliation = await reconciler.reconcile(hours)
    const figures = await reconciler.figures()
    const install = await installFigures(reports, {
      isServer: settings.database.kind === 'postgres',
      nowMs: clock.nowMs(),
    })
    return {
      partitions,
      lostLogDays: lostDays,
      reconciliation,
      figures,
      install,
      audit: await readAudit(audit),
      lake: await lake.doctor.check(hours === 'all' ? 'all' : 'recent'),
    }
  } catch (error) {
    if (error instanceof StoreUnreachable) return undefined
    throw error
  }
}

/** Entries of the audit in a report: all that are read in time. `GET /api/v1/audit` reads older ones. */
const MAX_AUDIT_ENTRIES = 10_000
const AUDIT_PAGE = 500

async function readAudit(audit: AuditLog): Promise<AuditFigures> {
  const figures = { entries: 0, broken: 0, unkeyed: 0 }
  let newest: AuditProof | undefined
  let before: bigint | undefined
  while (figures.entries < MAX_AUDIT_ENTRIES) {
    const page = await audit.list({ limit: AUDIT_PAGE, before })
    newest ??= page[0]?.proof
    figures.entries += page.length
    figures.broken += page.filter(({ intact }) => !intact).length
    figures.unkeyed += page.filter(({ proof }) => proof === 'unkeyed').length
    before = page.at(-1)?.sequence
    if (page.length < AUDIT_PAGE) break
  }
  // After the list, whose findings it has too: a report and `GET /audit` have one verdict.
  const { brokenAt } = await audit.chain()
  return { ...figures, newest, brokenAt }
}
