/** Figures of the books: ledger, spool, budgets, limits, and what the reconciler found. */
import type { BooksFigures, NodeFigures, Reconciliation } from '#ports/upkeep.ts'
import { counters, counterText, gaugeText, histograms, samplesText, type Sample } from './series.ts'

/** From a commit on the same machine to the two seconds after which a record goes to the spool. */
const COMMIT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5]
/** A batch takes in up to a thousand entries, and the last request's whole. */
const BATCH_ENTRIES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]

export class BooksMetrics {
  readonly #entries = counters('torana_ledger_entries_total', 'Durable usage records, by place.')
  readonly #batches = histograms(
    'torana_ledger_batch_entries',
    'Usage records written together.',
    BATCH_ENTRIES,
  )
  readonly #seconds = histograms(
    'torana_ledger_write_duration_seconds',
    'Time to make one batch of usage records durable; answers wait for it.',
    COMMIT_SECONDS,
  )
  readonly #series = { store: this.#seriesOf('store'), spool: this.#seriesOf('spool') }
  #refused = 0
  #dropped = 0
  #reconciliations = 0
  #corrections = 0
  #differences: number | undefined
  #partitionsMissing: number | undefined
  #figures: BooksFigures | undefined
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

  /** Entries that the store refused for what they are. */
  refused(entries: number): void {
    this.#refused += entries
  }

  /** Records of the request log that found no room. */
  requestLogDropped(records: number): void {
    this.#dropped += records
  }

  reconciled({ differences, budgetsCorrected }: Reconciliation): void {
    this.#reconciliations += 1
    this.#corrections += budgetsCorrected.length
    this.#differences = differences.length
  }

  partitions({ missing }: { readonly missing: readonly unknown[] }): void {
    this.#partitionsMissing = missing.length
  }

  /** Undefined: another node tells them now. */
  figures(figures: BooksFigures | undefined): void {
    this.#figures = figures
    if (figures !== undefined) return
    this.#differences = undefined
    this.#partitionsMissing = undefined
  }

  readNode(read: () => NodeFigures): void {
    this.#ofNode = read
  }

  text(): string {
    return [
      this.#entries.text(),
      this.#batches.text(),
      this.#seconds.text(),
      counterText(
        'torana_ledger_refused_total',
        'Usage records that PostgreSQL refused; they are kept aside.',
        this.#refused,
      ),
      counterText(
        'torana_request_log_dropped_total',
        'Request log records dropped because the buffer was full.',
        this.#dropped,
      ),
      counterText(
        'torana_reconciliations_total',
        'Comparisons of the ledger with its sums by this node.',
        this.#reconciliations,
      ),
      counterText(
        'torana_budget_corrections_total',
        'Budgets that differed from the ledger and were corrected.',
        this.#corrections,
      ),
      ...(this.#ofNode ? nodeTexts(this.#ofNode()) : []),
      gaugeText(
        'torana_ledger_differences',
        'Projects and hours in which the ledger and its sums differ. Must be 0.',
        this.#differences,
      ),
      gaugeText(
        'torana_partitions_missing',
        'Partitions that are due and could not be created.',
        this.#partitionsMissing,
      ),
      ...(this.#figures ? booksTexts(this.#figures) : []),
    ].join('')
  }
}

function nodeTexts({ isStoreAway, spoolWaiting, journalOpen, diskFailure, limiter }: NodeFigures): string[] {
  const texts = [
    gaugeText('torana_store_away', '1 while PostgreSQL is unreachable.', Number(isStoreAway)),
    gaugeText(
      'torana_spool_waiting',
      'Usage records that wait on the disk of this node for PostgreSQL.',
      spoolWaiting,
    ),
    gaugeText('torana_journal_open', 'Calls to upstreams in flight.', journalOpen),
    gaugeText(
      'torana_disk_failing',
      '1 while the data folder cannot be written: the node takes no requests.',
      Number(diskFailure !== undefined),
    ),
  ]
  if (limiter === undefined) return texts
  const { takes, localDecisions, scriptCalls, timeouts, errors } = limiter.counts
  return [
    ...texts,
    gaugeText(
      'torana_limiter_shared',
      '1 while limits are counted in Redis.',
      Number(limiter.state === 'shared'),
    ),
    ...(
      [
        ['takes', takes, 'Requests checked against rate limits.'],
        ['local_decisions', localDecisions, 'Of those, decided by this node without Redis.'],
        ['calls', scriptCalls, 'Calls of the rate limit script in Redis.'],
        ['timeouts', timeouts, 'Of those, not answered in time.'],
        ['errors', errors, 'Of those, failed with another error.'],
      ] as const
    ).map(([name, value, help]) => counterText(`torana_limiter_${name}_total`, help, value)),
  ]
}

function booksTexts({
  unknowns,
  nodes,
  lostLeases,
  restRows,
  budgets,
  deletedProjects,
}: BooksFigures): string[] {
  const lostNanoUsd = lostLeases.reduce((sum, { amountNanoUsd }) => sum + amountNanoUsd, 0n)
  const ratios = budgets.map(({ budgetId, spentNanoUsd, limitNanoUsd }): Sample => {
    const value = limitNanoUsd === 0n ? 1 : Number(spentNanoUsd) / Number(limitNanoUsd)
    return { labels: { budget: budgetId }, value }
  })
  return [
    gaugeText('torana_unknowns_open', 'Calls with an unknown outcome.', unknowns.open),
    gaugeText(
      'torana_unknowns_open_usd',
      'Amount with which unknown calls count as spent.',
      usd(unknowns.amountNanoUsd),
    ),
    samplesText('torana_nodes', 'Nodes that have not ended.', 'gauge', [
      { labels: { state: 'alive' }, value: nodes.alive },
      { labels: { state: 'silent' }, value: nodes.silent },
    ]),
    gaugeText('torana_lost_leases_usd', 'Budget leased by nodes that are gone.', usd(lostNanoUsd)),
    samplesText('torana_rest_rows', 'Rows outside of all partitions.', 'gauge', [
      { labels: { table: 'usage_events' }, value: restRows.ledger },
      { labels: { table: 'requests' }, value: restRows.requests },
    ]),
    gaugeText('torana_deleted_projects', 'Projects that wait for deletion.', deletedProjects),
    samplesText(
      'torana_budget_spent_ratio',
      'Spent share of each hard budget in its present period.',
      'gauge',
      ratios,
    ),
  ]
}

function usd(nanoUsd: bigint): number {
  return Number(nanoUsd) / 1e9
}
