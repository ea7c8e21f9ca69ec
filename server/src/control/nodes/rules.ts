/** The doctor: what the figures of the ledger, of this node and of its surroundings mean for a person. */
import { databaseName, type DatabaseSettings } from '#core/settings.ts'
import { dollars, usdOf } from '#core/money/price.ts'
import type { AuditProof } from '#ports/audit.ts'
import type { LakeFindings } from '#ports/lake.ts'
import type { LedgerFigures, NodeFigures, PartitionsMade, Reconciliation } from '#ports/upkeep.ts'
import { MAX_TAG_KEYS, MAX_LABEL_VALUES } from '#core/money/labels.ts'
import { count, fail, finding, ok, warn, type Finding, type Verdict } from './check-rules.ts'
import {
  agreementCheck,
  connectionsCheck,
  durabilityCheck,
  placesCheck,
  requestsCheck,
} from './install-rules.ts'
import type { InstallFigures } from './queries.ts'
import { correctionsCheck, lakeCheck, ledgerCheck, partitionsCheck, sealingCheck } from './ledger-rules.ts'
import { autovacuumCheck, poolerCheck, schemaCheck, slotsCheck, transactionsCheck } from './server-rules.ts'
import {
  cacheCheck,
  certificateCheck,
  clockCheck,
  imagesCheck,
  modelsCheck,
  spaceCheck,
  type NodeSurroundings,
} from './surroundings-rules.ts'

/** The newest entries of the audit. */
export interface AuditFigures {
  readonly entries: number
  /** Entries that were changed, or have a gap before them. */
  readonly broken: number
  /** Entries from before Torana signed them. */
  readonly unkeyed: number
  /** Undefined: there are no entries. */
  readonly newest: AuditProof | undefined
  /** The first one that is not intact, or the last one of an end that was cut off. */
  readonly brokenAt: bigint | undefined
}

/** What PostgreSQL answered. */
export interface StoreFindings {
  readonly install: InstallFigures
  readonly audit: AuditFigures
  readonly figures: LedgerFigures
  readonly reconciliation: Reconciliation
  readonly partitions: PartitionsMade
  /** Recent days with requests, and without their part of the request log. */
  readonly lostLogDays: readonly string[]
  readonly lake: LakeFindings
}

/** All that a report is made from. */
export interface Seen {
  readonly node: NodeFigures
  readonly database: DatabaseSettings['kind']
  /** Undefined when the database does not answer. */
  readonly findings: StoreFindings | undefined
  readonly around: NodeSurroundings
  readonly nowMs: number
}

/** In the order of the report. */
const STORE_CHECKS: Readonly<Record<string, (findings: StoreFindings) => Finding | undefined>> = {
  durability: ({ install }) => durabilityCheck(install),
  connections: ({ install }) => connectionsCheck(install),
  transactions: ({ install }) => transactionsCheck(install),
  slots: ({ install }) => slotsCheck(install),
  autovacuum: ({ install }) => autovacuumCheck(install),
  schema: ({ install }) => schemaCheck(install),
  ledger: ({ reconciliation }) => ledgerCheck(reconciliation),
  sealing: ({ figures }) => sealingCheck(figures),
  budgets: ({ reconciliation }) => correctionsCheck(reconciliation),
  spending: ({ figures }) => fullestCheck(figures),
  labels: ({ figures }) => labelsCheck(figures),
  unknowns: ({ figures }) => unknownsCheck(figures),
  refused: ({ figures }) => refusedCheck(figures),
  nodes: ({ figures }) => nodesCheck(figures),
  agreement: ({ install }) => agreementCheck(install),
  places: ({ install }) => placesCheck(install),
  leases: ({ figures }) => leasesCheck(figures),
  partitions: ({ figures, partitions, lostLogDays }) => partitionsCheck(figures, partitions, lostLogDays),
  lake: ({ lake }) => lakeCheck(lake),
  audit: ({ audit }) => auditCheck(audit),
  deletions: ({ figures }) => deletionsCheck(figures),
  requests: ({ install }) => requestsCheck(install),
}

/** These need no PostgreSQL, and follow in the report. */
const NODE_CHECKS: Readonly<Record<string, (seen: Seen) => Finding | undefined>> = {
  pooler: ({ around }) => poolerCheck(around),
  models: ({ around }) => modelsCheck(around),
  spool: ({ node, findings, database }) => spoolCheck(node, findings !== undefined, databaseName(database)),
  calls: ({ node }) => callsCheck(node),
  disk: ({ node }) => diskCheck(node),
  space: ({ around }) => spaceCheck(around),
  images: ({ around }) => imagesCheck(around),
  clock: ({ node, findings }) => clockCheck(node, findings?.install.nodes ?? []),
  certificate: ({ around, nowMs }) => certificateCheck(around, nowMs),
  redis: ({ node, around }) => limiterCheck(node, around),
  cache: ({ around }) => cacheCheck(around),
  configuration: ({ node }) => configCheck(node),
}

export interface Check extends Finding {
  readonly name: string
}

export function checksOf(seen: Seen): Check[] {
  const { findings } = seen
  return [
    { name: 'store', ...storeCheck(seen) },
    ...(findings === undefined ? [] : found(STORE_CHECKS, findings)),
    ...found(NODE_CHECKS, seen),
  ]
}

function found<Given>(
  checks: Readonly<Record<string, (given: Given) => Finding | undefined>>,
  given: Given,
): Check[] {
  return Object.entries(checks).flatMap(([name, check]) => {
    const one = check(given)
    return one === undefined ? [] : { name, ...one }
  })
}

export function worstOf(checks: readonly Check[]): Verdict {
  const has = (verdict: Verdict): boolean => checks.some((one) => one.verdict === verdict)
  return has('fail') ? 'fail' : has('warn') ? 'warn' : 'ok'
}

function storeCheck({ findings, database }: Seen): Finding {
  const name = databaseName(database)
  if (findings !== undefined) return ok(`${name} answers`)
  const why = database === 'inside' ? '. This machine is out of CPU, or its disk is slow' : ''
  return fail(`${name} does not answer: the ledger could not be checked${why}`)
}

function unknownsCheck({ unknowns: { open, amountNanoUsd } }: LedgerFigures): Finding {
  const says =
    open === 0
      ? 'none open'
      : `${open} open, which count as ${dollars(amountNanoUsd)} spent: see torana unknowns`
  return finding(open === 0 ? 'ok' : 'warn', says, { open, usd: usdOf(amountNanoUsd) })
}

function refusedCheck({ refused: { entries, amountNanoUsd } }: LedgerFigures): Finding {
  const figures = { records: entries, usd: usdOf(amountNanoUsd) }
  if (entries === 0) return ok('PostgreSQL has refused no usage records', figures)
  const says = `PostgreSQL refused ${count(entries, 'usage record')}, not in the ledger yet, which count as ${dollars(amountNanoUsd)} spent: see torana ledger refused`
  return fail(says, figures)
}

function nodesCheck({ nodes }: LedgerFigures): Finding {
  const { alive, silent } = nodes
  return silent === 0
    ? ok(`${alive} alive`, { ...nodes })
    : warn(`${alive} alive, ${silent} not reporting for more than a minute: see torana nodes`, { ...nodes })
}

function leasesCheck({ lostLeases }: LedgerFigures): Finding {
  const lostNanoUsd = lostLeases.reduce((sum, { amountNanoUsd }) => sum + amountNanoUsd, 0n)
  const figures = { lost_usd: usdOf(lostNanoUsd) }
  if (lostNanoUsd === 0n) return ok('no lost node has a budget lease', figures)
  const holders = lostLeases.map(({ nodeId }) => nodeId).join(', ')
  const says = `lost nodes have leased ${dollars(lostNanoUsd)} of budgets (${holders}): if the machine is gone, run torana nodes end`
  return warn(says, figures)
}

function deletionsCheck({ deletedProjects }: LedgerFigures): Finding {
  const says = `${count(deletedProjects, 'deleted project')} with data left`
  return ok(says, { projects: deletedProjects })
}

function callsCheck({ journalOpen }: NodeFigures): Finding {
  return ok(`${count(journalOpen, 'call')} in flight on this node`, { open: journalOpen })
}

/** The newest signature vouches for all entries before it, so the newest entry must have one. */
function auditCheck({ newest, brokenAt, ...figures }: AuditFigures): Finding {
  const { entries, broken, unkeyed } = figures
  if (newest === undefined && brokenAt === undefined) return ok('no entries yet', figures)
  const all = count(entries, 'entry', 'entries')
  if (broken > 0)
    return fail(
      `${broken} of the newest ${all} not intact: changed in the database, or a predecessor removed`,
      figures,
    )
  if (brokenAt !== undefined)
    return fail(
      `entry ${brokenAt} not intact: it or one before it was changed in the database, or the end of the log cut off there`,
      figures,
    )
  if (newest === 'unkeyed')
    return warn(
      `${all}, the newest unkeyed: from before Torana signed them. The next change is signed, and covers them`,
      figures,
    )
  if (newest === 'other_key')
    return warn(`${all}, the newest signed with a TORANA_SECRET that this node does not have`, figures)
  const old = unkeyed === 0 ? '' : `; ${unkeyed} unkeyed, covered by the first signed entry after them`
  return ok(`${all} intact${old}`, figures)
}

/** Nothing is lost: all sums include such calls, except those of single users and tags. */
function labelsCheck({ overflows }: LedgerFigures): Finding {
  const [first] = overflows
  const figures = { overflowed: overflows.length }
  if (first === undefined) return ok('all users and tags of the last day are counted separately', figures)
  const { project, label, amountNanoUsd } = first
  const which =
    label === 'tag:'
      ? `more than ${MAX_TAG_KEYS} keys of tags`
      : `more than ${MAX_LABEL_VALUES} values of ${label}`
  const more = overflows.length === 1 ? '' : `, and ${overflows.length - 1} more`
  const says = `project ${project} sent ${which} in a day: ${dollars(amountNanoUsd)} is counted together as other${more}. Send ids of tenants or teams, not of requests`
  return warn(says, figures)
}

function fullestCheck({ budgets }: LedgerFigures): Finding {
  const [fullest] = budgets
  if (fullest === undefined) return ok('no hard budget is in use', { budgets: 0 })
  const { budgetId, spentNanoUsd, limitNanoUsd } = fullest
  const percent = limitNanoUsd === 0n ? 100 : Number((spentNanoUsd * 100n) / limitNanoUsd)
  const says = `${count(budgets.length, 'hard budget')}; fullest ${budgetId}: ${dollars(spentNanoUsd)} of ${dollars(limitNanoUsd)} (${percent}%)`
  const figures = { budgets: budgets.length, fullest_percent: percent }
  return finding(percent >= 100 ? 'warn' : 'ok', says, figures)
}

function spoolCheck({ spoolWaiting }: NodeFigures, isReachable: boolean, database: string): Finding {
  const figures = { waiting: spoolWaiting }
  if (spoolWaiting === 0) return ok('no usage records queued on the disk of this node', figures)
  const waits = `${count(spoolWaiting, 'record')} on the disk of this node`
  return isReachable
    ? warn(`${waits} on the way to ${database}`, figures)
    : warn(`${waits}, safe until ${database} answers again`, figures)
}

function diskCheck({ diskFailure }: NodeFigures): Finding {
  return diskFailure === undefined
    ? ok('the data folder of this node can be written')
    : fail(`${diskFailure}: this node takes no requests until it can be written again`)
}

function configCheck({ hasConfigFile, configRefusal }: NodeFigures): Finding {
  if (configRefusal === undefined) {
    const says = hasConfigFile ? 'the configuration file is in use' : 'there is no configuration file'
    return ok(says, { problems: 0 })
  }
  const { sinceMs, problems } = configRefusal
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  const says = `the file has been invalid since ${new Date(sinceMs).toISOString()}, an earlier one is in use: ${problems[0]}${more}`
  return warn(says, { problems: problems.length })
}

/** Share of its memory from which Redis is reported, before it refuses commands. */
const FULL_SHARE = 0.9

function limiterCheck({ limiter }: NodeFigures, { limiterMemory: memory }: NodeSurroundings): Finding {
  if (limiter === undefined) return ok('not configured: each node applies its share of the rate limits')
  const { takes, localDecisions, timeouts, errors } = limiter.counts
  const figures = { takes, local_decisions: localDecisions, timeouts, errors }
  const alone = 'this node applies its share of the rate limits'
  const { lastError = 'it does not answer' } = limiter
  // A command that it refuses ends the connection for a moment.
  if (memory === undefined && lastError.startsWith('OOM'))
    return warn(`out of memory: ${alone}. ${MORE_MEMORY}`, figures)
  if (limiter.state === 'local') return warn(`unreachable: ${alone} (${lastError})`, figures)
  const { evictionPolicy, usedBytes, maxBytes } = memory ?? {
    evictionPolicy: 'noeviction',
    usedBytes: 0,
    maxBytes: 0,
  }
  if (evictionPolicy !== 'noeviction')
    return warn(
      `its maxmemory-policy is ${evictionPolicy}, so it may evict and reset rate limits: set noeviction`,
      figures,
    )
  const used = `it uses ${usedBytes} of ${maxBytes} bytes (maxmemory)`
  if (maxBytes > 0 && usedBytes >= maxBytes)
    return warn(`out of memory: ${used}, and ${alone}. ${MORE_MEMORY}`, figures)
  if (maxBytes > 0 && usedBytes > maxBytes * FULL_SHARE)
    return warn(`nearly out of memory: ${used}. ${MORE_MEMORY}`, figures)
  return ok('answers: Redis counts the rate limits', figures)
}

const MORE_MEMORY = 'Give it more memory, and let it hold nothing else'
