/** Metrics of the ledger: entries, spool, budgets, limits, and the reconciler's findings. */
import type { LedgerFigures, NodeFigures, Reconciliation } from '#ports/upkeep.ts'
import { counters, histograms, samplesText, valueText, type Sample } from './series.ts'

export class LedgerMetrics {
  readonly #entries = counters('torana_ledger_entries_total')
  readonly #batches = histograms('torana_ledger_batch_entries')
  readonly #seconds = histograms('torana_ledger_write_duration_seconds')
  readonly #series = { store: this.#seriesOf('store'), spool: this.#seriesOf('spool') }
  #refused = 0
  #dropped = 0
  #reconciliations = 0
  #corrections = 0
  #exportWaiting: number | undefined
  readonly #failing = new Map<string, boolean>()
  #partitionsMissing: number | undefined
  #figures: LedgerFigures | undefined
  #ofNode: (() => NodeFigures) | undefined

  #seriesOf(where: 'store' | 'spool') {
    return {
      entries: this.#entries.get({ where }),
      batches: this.#batches.get({ where }),
      seconds: this.#seconds.get({ where }),
    }
  }

  /** A batch is durable. */
  written({
    entries,
    where,
    durationMs,
  }: {
    readonly entries: number
    readonly where: 'store' | 'spool'
    readonly durationMs: number
  }): void {
    const series = this.#series[where]
    series.entries.value += entries
    series.batches.observe(entries)
    series.seconds.observe(durationMs / 1000)
  }

  /** The store refused an entry for its content. */
  refused(): void {
    this.#refused += 1
  }

  /** Records of the request log that were dropped. */
  requestLogDropped(records: number): void {
    this.#dropped += records
  }

  reconciled({ budgetsCorrected }: Pick<Reconciliation, 'budgetsCorrected'>): void {
    this.#reconciliations += 1
    this.#corrections += budgetsCorrected.length
  }

  /** How a background job of the ledger ended. */
  chore(name: string, outcome: 'done' | 'failed'): void {
    this.#failing.set(name, outcome === 'failed')
  }

  partitions({ missing }: { readonly missing: readonly unknown[] }): void {
    this.#partitionsMissing = missing.length
  }

  /** Days that wait for their export after a round. */
  exported(waitingDays: number): void {
    this.#exportWaiting = waitingDays
  }

  /** Undefined when another node reports them now. */
  figures(figures: LedgerFigures | undefined): void {
    this.#figures = figures
    if (figures !== undefined) return
    this.#failing.clear()
    this.#partitionsMissing = undefined
    this.#exportWaiting = undefined
  }

  readNode(read: () => NodeFigures): void {
    this.#ofNode = read
  }

  #failingText(): string {
    const samples = Array.from(this.#failing, ([chore, isFailing]) => ({
      labels: { chore },
      value: Number(isFailing),
    }))
    return samplesText('torana_upkeep_failing', samples)
  }

  text(): string {
    return [
      this.#entries.text(),
      this.#batches.text(),
      this.#seconds.text(),
      valueText('torana_ledger_refused_total', this.#refused),
      valueText('torana_request_log_dropped_total', this.#dropped),
      valueText('torana_reconciliations_total', this.#reconciliations),
      valueText('torana_budget_corrections_total', this.#corrections),
      valueText('torana_ledger_export_waiting_days', this.#exportWaiting),
      ...(this.#ofNode ? nodeTexts(this.#ofNode()) : []),
      valueText('torana_partitions_missing', this.#partitionsMissing),
      ...(this.#failing.size > 0 ? [this.#failingText()] : []),
      ...(this.#figures ? figureTexts(this.#figures) : []),
    ].join('')
  }
}

function nodeTexts({
  isStoreUnreachable,
  spoolWaiting,
  journalOpen,
  diskFailure,
  clockSkewMs,
  limiter,
}: NodeFigures): string[] {
  const texts = [
    valueText('torana_store_away', Number(isStoreUnreachable)),
    valueText('torana_spool_waiting', spoolWaiting),
    valueText('torana_journal_open', journalOpen),
    valueText('torana_disk_failing', Number(diskFailure !== undefined)),
    valueText('torana_clock_skew_seconds', clockSkewMs === undefined ? undefined : clockSkewMs / 1000),
  ]
  if (limiter === undefined) return texts
  const { takes, localDecisions, scriptCalls, timeouts, errors } = limiter.counts
  return [
    ...texts,
    valueText('torana_limiter_shared', Number(limiter.state === 'shared')),
    valueText('torana_limiter_takes_total', takes),
    valueText('torana_limiter_local_decisions_total', localDecisions),
    valueText('torana_limiter_calls_total', scriptCalls),
    valueText('torana_limiter_timeouts_total', timeouts),
    valueText('torana_limiter_errors_total', errors),
  ]
}

function figureTexts({
  unknowns,
  refused,
  nodes,
  lostLeases,
  restRows,
  budgets,
  deletedProjects,
  overflows,
  differences,
  seal,
}: LedgerFigures): string[] {
  const lostNanoUsd = lostLeases.reduce((sum, { amountNanoUsd }) => sum + amountNanoUsd, 0n)
  const ratios = budgets.map(({ budgetId, spentNanoUsd, limitNanoUsd }): Sample => {
    const value = limitNanoUsd === 0n ? 1 : Number(spentNanoUsd) / Number(limitNanoUsd)
    return { labels: { budget: budgetId }, value }
  })
  return [
    valueText('torana_unknowns_open', unknowns.open),
    valueText('torana_unknowns_open_usd', usd(unknowns.amountNanoUsd)),
    valueText('torana_ledger_refused', refused.entries),
    samplesText('torana_nodes', [
      { labels: { state: 'alive' }, value: nodes.alive },
      { labels: { state: 'silent' }, value: nodes.silent },
    ]),
    valueText('torana_lost_leases_usd', usd(lostNanoUsd)),
    samplesText('torana_rest_rows', [
      { labels: { table: 'usage_events' }, value: restRows.ledger },
      { labels: { table: 'requests' }, value: restRows.requests },
    ]),
    valueText('torana_ledger_differences', differences),
    valueText('torana_ledger_sealed_through_seconds', (seal.sealedThroughMs ?? 0) / 1000),
    samplesText('torana_ledger_waits_seconds', [
      { labels: { step: 'compare' }, value: seal.compareWaitsMs / 1000 },
      { labels: { step: 'seal' }, value: seal.sealWaitsMs / 1000 },
    ]),
    valueText('torana_deleted_projects', deletedProjects),
    valueText('torana_usage_labels_overflowed', overflows.length),
    samplesText('torana_budget_spent_ratio', ratios),
  ]
}

function usd(nanoUsd: bigint): number {
  return Number(nanoUsd) / 1e9
}
