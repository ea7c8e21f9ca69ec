/** What the doctor says about the ledger: its sums, its sealed hours, its partitions and its files. */
import { dollars } from '#core/money/price.ts'
import { HOUR_MS } from '#core/money/ledger.ts'
import { MAX_WAITING_DAYS, type LakeFindings } from '#ports/lake.ts'
import type { LedgerFigures, LedgerDifference, PartitionsMade, Reconciliation } from '#ports/upkeep.ts'
import { slowerStep } from '../shared/sealing.ts'
import { count, fail, ok, warn, type Finding } from './check-rules.ts'

/** Problems that are named: one kind is not hidden by another, such as a missing file by a changed hour. */
const MAX_NAMED = 5

export function ledgerCheck({ entries, differences }: Reconciliation): Finding {
  const figures = { entries, differences: differences.length }
  if (differences.length === 0)
    return ok(`${count(entries, 'entry', 'entries')} checked: the hourly totals agree`, figures)
  const named = differences.slice(0, MAX_NAMED).map(describe).join('; ')
  return fail(`${count(differences.length, 'difference')} from the hourly totals; ${named}`, figures)
}

export function sealingCheck({ seal }: LedgerFigures): Finding {
  const { sealedThroughMs, aheadUntilMs, earlierNodes } = seal
  const through =
    sealedThroughMs === undefined
      ? 'no hour is sealed yet'
      : `hours before ${new Date(sealedThroughMs).toISOString()} are sealed`
  const { step, waitsMs, isStalled } = slowerStep(seal)
  const figures = { waits_seconds: Math.round(waitsMs / 1000), earlier_nodes: earlierNodes }
  if (aheadUntilMs !== undefined)
    return fail(
      `the ledger is sealed until ${new Date(aheadUntilMs).toISOString()}, which is in the future: a clock was wrong. Until then every entry counts as a correction, and no hour is sealed. See docs/inside/background-jobs.md#a-clock-that-was-wrong`,
      figures,
    )
  if (earlierNodes > 0)
    return warn(
      `${through}; ${count(earlierNodes, 'node')} of an earlier version must be stopped or ended first`,
      figures,
    )
  if (!isStalled) return ok(through, figures)
  return fail(
    `${through}; the next one has waited for ${Math.floor(waitsMs / HOUR_MS)} h: see why job ${step === 'seal' ? 'seal' : 'reconcile'} fails in the log of the oldest node`,
    figures,
  )
}

function describe({ project, label, fromMs, ledger, rollup, sealed }: LedgerDifference): string {
  const since = fromMs === undefined ? 'the beginning' : new Date(fromMs).toISOString()
  const sums = ({ posts, tokens, amountNanoUsd }: typeof ledger): string =>
    `${posts} posts, ${tokens} tokens, ${dollars(amountNanoUsd)}`
  if (sealed === 'hash') return `the hash of the sealed hour ${since}: its entries were changed`
  if (sealed !== undefined)
    return `the sealed hour ${since}: ${sealed === 'entries' ? 'ledger' : 'hourly totals'} ${sums(ledger)}; sealed ${sums(rollup)}`
  const about = label === undefined ? `project ${project}` : `project ${project} by ${label}`
  return `${about} from ${since}: ledger ${sums(ledger)}; hourly totals ${sums(rollup)}`
}

export function correctionsCheck({ budgetsCompared, budgetsCorrected }: Reconciliation): Finding {
  const figures = { compared: budgetsCompared, corrected: budgetsCorrected.length }
  const [first] = budgetsCorrected
  if (first === undefined)
    return ok(`${count(budgetsCompared, 'period')} checked: all agree with the ledger`, figures)
  const { budgetId, spentNanoUsd: spent, leasedNanoUsd: leased } = first
  const moved = `spent ${dollars(spent.before)} → ${dollars(spent.after)}, leased ${dollars(leased.before)} → ${dollars(leased.after)}`
  return warn(`${budgetsCorrected.length} corrected; ${budgetId}: ${moved}`, figures)
}

export function partitionsCheck(
  { restRows }: LedgerFigures,
  { missing }: PartitionsMade,
  lostLogDays: readonly string[],
): Finding {
  const figures = {
    missing: missing.length,
    ledger_rest_rows: restRows.ledger,
    requests_rest_rows: restRows.requests,
    lost_log_days: lostLogDays.length,
  }
  if (lostLogDays.length > 0)
    return fail(
      `the request log of ${lostLogDays.join(', ')} is missing, though requests were served: it was dropped too early, or by hand. See docs/inside/background-jobs.md#a-clock-that-was-wrong`,
      figures,
    )
  const problems = [
    ...missing.map(({ partition, reason }) => `${partition} could not be created (${reason})`),
    ...(restRows.ledger > 0 ? [`${count(restRows.ledger, 'row')} of the ledger without a partition`] : []),
    ...(restRows.requests > 0 ? [`${count(restRows.requests, 'row')} of the request log without one`] : []),
  ]
  return problems.length === 0
    ? ok('created ahead; no row is outside of them', figures)
    : warn(problems.join('; '), figures)
}

/** Undefined: nothing was ever exported, and nothing is to be. */
export function lakeCheck({
  isExported,
  status,
  manifests,
  bytes,
  problems,
  isPartial,
}: LakeFindings): Finding | undefined {
  const { days, waiting, keptFrom, problem } = status
  if (!isExported && days === 0) return undefined
  const figures = { days, waiting, manifests, bytes, problems: problems.length }
  const more = problems.length - MAX_NAMED
  if (problems.length > 0)
    return fail(
      `${problems.slice(0, MAX_NAMED).join('; ')}${more > 0 ? `; and ${count(more, 'more problem')}` : ''}`,
      figures,
    )
  const where = keptFrom === undefined ? '' : `; days before ${keptFrom} are in files only`
  const checked = isPartial
    ? `${count(manifests, 'manifest')} checked in time`
    : `${count(manifests, 'manifest')} checked`
  const says = `${count(days, 'day')} exported, ${checked}${where}`
  if (problem !== undefined) return warn(`the export waits: ${problem.text}`, figures)
  if (!isExported) return ok(`the export is off; ${says}`, figures)
  return waiting > MAX_WAITING_DAYS || isPartial
    ? warn(`${says}; ${count(waiting, 'day')} waiting`, figures)
    : ok(says, figures)
}
