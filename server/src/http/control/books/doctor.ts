/** What the figures of the books mean for a person. */
import { dollars, usdOf } from '#core/price.ts'
import type { AuditProof } from '#ports/audit.ts'
import type {
  BooksFigures,
  LedgerDifference,
  NodeFigures,
  PartitionsMade,
  Reconciliation,
} from '#ports/upkeep.ts'
import { MOST_TAG_KEYS, MOST_VALUES } from '#ports/usage.ts'
import { check, count, type Check, type Verdict } from './check.ts'
import {
  agreementCheck,
  connectionsCheck,
  durabilityCheck,
  placesCheck,
  requestsCheck,
  type InstallFigures,
} from './install.ts'
import {
  cacheCheck,
  certificateCheck,
  clockCheck,
  imagesCheck,
  modelsCheck,
  spaceCheck,
  type NodeSurroundings,
} from './surroundings.ts'

/** Of the newest entries of the audit. */
export interface AuditFigures {
  readonly entries: number
  /** Changed, or with a gap before it. */
  readonly broken: number
  /** From before entries were signed. */
  readonly unkeyed: number
  /** Undefined: there are no entries. */
  readonly newest: AuditProof | undefined
}

export interface BooksFindings {
  readonly install: InstallFigures
  readonly audit: AuditFigures
  readonly figures: BooksFigures
  readonly reconciliation: Reconciliation
  readonly partitions: PartitionsMade
}

/** All that a report is made from. */
export interface Seen {
  readonly node: NodeFigures
  /** Undefined when the store could not be asked. */
  readonly findings: BooksFindings | undefined
  /** Undefined: the node does not look around. */
  readonly around: NodeSurroundings | undefined
  readonly nowMs: number
}

/** Every check, in the order of the report. One that has nothing to look at is not in the report. */
const CHECKS: readonly ((seen: Seen) => Check | undefined)[] = [
  ({ findings }) => storeCheck(findings),
  ({ findings }) => findings && durabilityCheck(findings.install),
  ({ findings }) => findings && connectionsCheck(findings.install),
  ({ findings }) => findings && ledgerCheck(findings.reconciliation),
  ({ findings }) => findings && correctionsCheck(findings.reconciliation),
  ({ findings }) => findings && fullestCheck(findings.figures),
  ({ findings }) => findings && labelsCheck(findings.figures),
  ({ findings }) => findings && unknownsCheck(findings.figures),
  ({ findings }) => findings && nodesCheck(findings.figures),
  ({ findings }) => findings && agreementCheck(findings.install),
  ({ findings }) => findings && placesCheck(findings.install),
  ({ findings }) => findings && leasesCheck(findings.figures),
  ({ findings }) => findings && partitionsCheck(findings.figures, findings.partitions),
  ({ findings }) => findings && auditCheck(findings.audit),
  ({ findings }) => findings && deletionsCheck(findings.figures),
  ({ findings }) => findings && requestsCheck(findings.install),
  ({ around }) => around && modelsCheck(around),
  ({ node, findings }) => spoolCheck(node, findings !== undefined),
  ({ node }) => callsCheck(node),
  ({ node }) => diskCheck(node),
  ({ around }) => around && spaceCheck(around),
  ({ around }) => around && imagesCheck(around),
  ({ node }) => clockCheck(node),
  ({ around, nowMs }) => around && certificateCheck(around, nowMs),
  ({ node }) => limiterCheck(node),
  ({ around }) => around && cacheCheck(around),
  ({ node }) => configCheck(node),
]

export function checksOf(seen: Seen): readonly Check[] {
  return CHECKS.flatMap((one) => one(seen) ?? [])
}

export function worstOf(checks: readonly Check[]): Verdict {
  const has = (verdict: Verdict): boolean => checks.some((one) => one.verdict === verdict)
  return has('fail') ? 'fail' : has('warn') ? 'warn' : 'ok'
}

function storeCheck(findings: BooksFindings | undefined): Check {
  if (findings === undefined)
    return check('store', 'fail', 'PostgreSQL does not answer: the ledger could not be checked')
  const name = findings.install.server === undefined ? 'the built-in database' : 'PostgreSQL'
  return check('store', 'ok', `${name} answers`)
}

function unknownsCheck({ unknowns: { open, amountNanoUsd } }: BooksFigures): Check {
  const says =
    open === 0
      ? 'none open'
      : `${open} open, which count as ${dollars(amountNanoUsd)} spent: see torana unknowns`
  return check('unknowns', open === 0 ? 'ok' : 'warn', says, { open, usd: usdOf(amountNanoUsd) })
}

function nodesCheck({ nodes }: BooksFigures): Check {
  const { alive, silent } = nodes
  return silent === 0
    ? check('nodes', 'ok', `${alive} alive`, { ...nodes })
    : check('nodes', 'warn', `${alive} alive, ${silent} silent for more than a minute: see torana nodes`, {
        ...nodes,
      })
}

function leasesCheck({ lostLeases }: BooksFigures): Check {
  const lostNanoUsd = lostLeases.reduce((sum, { amountNanoUsd }) => sum + amountNanoUsd, 0n)
  const figures = { lost_usd: usdOf(lostNanoUsd) }
  if (lostNanoUsd === 0n) return check('leases', 'ok', 'no lost node has a budget lease', figures)
  const holders = lostLeases.map(({ nodeId }) => nodeId).join(', ')
  const says = `lost nodes have leased ${dollars(lostNanoUsd)} of budgets (${holders}): if the machine is gone, run torana nodes end`
  return check('leases', 'warn', says, figures)
}

function deletionsCheck({ deletedProjects }: BooksFigures): Check {
  const says = `${count(deletedProjects, 'deleted project')} with data left`
  return check('deletions', 'ok', says, { projects: deletedProjects })
}

function callsCheck({ journalOpen }: NodeFigures): Check {
  return check('calls', 'ok', `${count(journalOpen, 'call')} in flight on this node`, { open: journalOpen })
}

/** The newest signature vouches for all entries before it, so the newest entry must have one. */
function auditCheck({ newest, ...figures }: AuditFigures): Check {
  const { entries, broken, unkeyed } = figures
  if (newest === undefined) return check('audit', 'ok', 'no entries yet', figures)
  const all = count(entries, 'entry', 'entries')
  if (broken > 0)
    return check(
      'audit',
      'fail',
      `${broken} of the newest ${all} not intact: changed in the database, or a predecessor removed`,
      figures,
    )
  if (newest === 'unkeyed')
    return check(
      'audit',
      'warn',
      `${all}, the newest unkeyed: from before Torana signed them. The next change is signed, and covers them`,
      figures,
    )
  if (newest === 'other_key')
    return check(
      'audit',
      'warn',
      `${all}, the newest signed with a TORANA_SECRET that this node does not have`,
      figures,
    )
  const old = unkeyed === 0 ? '' : `; ${unkeyed} unkeyed, covered by the first signed entry after them`
  return check('audit', 'ok', `${all} intact${old}`, figures)
}

function ledgerCheck({ entries, differences }: Reconciliation): Check {
  const figures = { entries, differences: differences.length }
  const [first] = differences
  return first === undefined
    ? check(
        'ledger',
        'ok',
        `${count(entries, 'entry', 'entries')} added up again: the hourly sums agree`,
        figures,
      )
    : check(
        'ledger',
        'fail',
        `${count(differences.length, 'difference')} from the hourly sums; ${describe(first)}`,
        figures,
      )
}

function describe({ project, label, fromMs, ledger, rollup }: LedgerDifference): string {
  const since = fromMs === undefined ? 'the beginning' : new Date(fromMs).toISOString()
  const sums = ({ posts, tokens, amountNanoUsd }: typeof ledger): string =>
    `${posts} posts, ${tokens} tokens, ${dollars(amountNanoUsd)}`
  const about = label === undefined ? `project ${project}` : `project ${project} by ${label}`
  return `${about} from ${since}: ledger ${sums(ledger)}; hourly sums ${sums(rollup)}`
}

/** Nothing is lost: such calls are in every sum but those of single users and tags. */
function labelsCheck({ overflows }: BooksFigures): Check {
  const [first] = overflows
  const figures = { overflowed: overflows.length }
  if (first === undefined)
    return check('labels', 'ok', 'all users and tags of the last day are counted apart', figures)
  const { project, label, amountNanoUsd } = first
  const which =
    label === 'tag:'
      ? `more than ${MOST_TAG_KEYS} keys of tags`
      : `more than ${MOST_VALUES} values of ${label}`
  const more = overflows.length === 1 ? '' : `, and ${overflows.length - 1} more`
  const says = `project ${project} sent ${which} in a day: ${dollars(amountNanoUsd)} is counted together as other${more}. Send ids of tenants or teams, not of requests`
  return check('labels', 'warn', says, figures)
}

function correctionsCheck({ budgetsCompared, budgetsCorrected }: Reconciliation): Check {
  const figures = { compared: budgetsCompared, corrected: budgetsCorrected.length }
  const [first] = budgetsCorrected
  if (first === undefined)
    return check(
      'budgets',
      'ok',
      `${count(budgetsCompared, 'period')} compared: all agree with the ledger`,
      figures,
    )
  const { budgetId, spentNanoUsd: spent, leasedNanoUsd: leased } = first
  const moved = `spent ${dollars(spent.before)} → ${dollars(spent.after)}, leased ${dollars(leased.before)} → ${dollars(leased.after)}`
  return check('budgets', 'warn', `${budgetsCorrected.length} corrected; ${budgetId}: ${moved}`, figures)
}

function fullestCheck({ budgets }: BooksFigures): Check {
  const [fullest] = budgets
  if (fullest === undefined) return check('spending', 'ok', 'no hard budget is in use', { budgets: 0 })
  const { budgetId, spentNanoUsd, limitNanoUsd } = fullest
  const percent = limitNanoUsd === 0n ? 100 : Math.floor((Number(spentNanoUsd) / Number(limitNanoUsd)) * 100)
  const says = `${count(budgets.length, 'hard budget')}; fullest ${budgetId}: ${dollars(spentNanoUsd)} of ${dollars(limitNanoUsd)} (${percent} %)`
  return check('spending', percent >= 100 ? 'warn' : 'ok', says, {
    budgets: budgets.length,
    fullest_percent: percent,
  })
}

function partitionsCheck({ restRows }: BooksFigures, { missing }: PartitionsMade): Check {
  const figures = {
    missing: missing.length,
    ledger_rest_rows: restRows.ledger,
    requests_rest_rows: restRows.requests,
  }
  const problems = [
    ...missing.map(({ partition, reason }) => `${partition} could not be created (${reason})`),
    ...(restRows.ledger > 0 ? [`${count(restRows.ledger, 'row')} of the ledger without a partition`] : []),
    ...(restRows.requests > 0 ? [`${count(restRows.requests, 'row')} of the request log without one`] : []),
  ]
  return problems.length === 0
    ? check('partitions', 'ok', 'created ahead; no row is outside of them', figures)
    : check('partitions', 'warn', problems.join('; '), figures)
}

function spoolCheck({ spoolWaiting }: NodeFigures, isReachable: boolean): Check {
  const figures = { waiting: spoolWaiting }
  if (spoolWaiting === 0)
    return check('spool', 'ok', 'no usage record waits on the disk of this node', figures)
  const waits = `${count(spoolWaiting, 'record')} on the disk of this node`
  return isReachable
    ? check('spool', 'warn', `${waits} on the way to PostgreSQL`, figures)
    : check('spool', 'warn', `${waits}, safe until PostgreSQL is back`, figures)
}

function diskCheck({ diskFailure }: NodeFigures): Check {
  return diskFailure === undefined
    ? check('disk', 'ok', 'the data folder of this node can be written')
    : check('disk', 'fail', `${diskFailure}: this node takes no requests until it can be written again`)
}

function configCheck({ hasConfigFile, configRefusal }: NodeFigures): Check {
  if (configRefusal === undefined) {
    const says = hasConfigFile ? 'the configuration file is in use' : 'there is no configuration file'
    return check('configuration', 'ok', says, { problems: 0 })
  }
  const { sinceMs, problems } = configRefusal
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  const says = `the file is wrong since ${new Date(sinceMs).toISOString()}, an earlier one is in use: ${problems[0]}${more}`
  return check('configuration', 'warn', says, { problems: problems.length })
}

function limiterCheck({ limiter }: NodeFigures): Check {
  if (limiter === undefined)
    return check('redis', 'ok', 'not configured: each node applies its share of the rate limits')
  const { takes, localDecisions, timeouts, errors } = limiter.counts
  const figures = { takes, local_decisions: localDecisions, timeouts, errors }
  if (limiter.state === 'local')
    return check('redis', 'warn', 'unreachable: this node applies its share of the rate limits', figures)
  const { evictionPolicy = 'noeviction' } = limiter
  if (evictionPolicy === 'noeviction')
    return check('redis', 'ok', 'answers: Redis counts the rate limits', figures)
  const says = `its maxmemory-policy is ${evictionPolicy}, so it may evict rate limits, which then start anew: set noeviction`
  return check('redis', 'warn', says, figures)
}
