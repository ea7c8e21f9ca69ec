import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LedgerMetrics } from './ledger-metrics.ts'
import { Metrics } from './metrics.ts'

const FIGURES = {
  unknowns: { open: 2, amountNanoUsd: 1_500_000_000n, oldestAtMs: 0 },
  nodes: { alive: 3, silent: 1 },
  lostLeases: [
    { nodeId: 'a', amountNanoUsd: 250_000_000n },
    { nodeId: 'b', amountNanoUsd: 250_000_000n },
  ],
  restRows: { ledger: 4, requests: 0 },
  budgets: [
    { budgetId: 'project:search', limitNanoUsd: 200n, spentNanoUsd: 50n, leasedNanoUsd: 0n },
    { budgetId: 'key:"odd"\n', limitNanoUsd: 0n, spentNanoUsd: 0n, leasedNanoUsd: 0n },
  ],
  deletedProjects: 0,
  refused: { entries: 3, amountNanoUsd: 0n },
  overflows: [],
  differences: 0,
  seal: {
    sealedThroughMs: 7_200_000,
    comparedThroughMs: 0,
    sealWaitsMs: 0,
    aheadUntilMs: undefined,
    compareWaitsMs: 90_000,
    earlierNodes: 0,
  },
}

test('records are counted by where they became durable, from the start at 0', () => {
  const metrics = new LedgerMetrics()
  assert.match(metrics.text(), /^torana_ledger_entries_total\{where="spool"\} 0$/m)
  metrics.written({ entries: 30, where: 'store', durationMs: 4 })
  metrics.written({ entries: 3, where: 'store', durationMs: 400 })
  metrics.written({ entries: 7, where: 'spool', durationMs: 1 })
  const text = metrics.text()
  assert.match(text, /^torana_ledger_entries_total\{where="store"\} 33$/m)
  assert.match(text, /^torana_ledger_entries_total\{where="spool"\} 7$/m)
  assert.match(text, /^torana_ledger_batch_entries_bucket\{where="store",le="5"\} 1$/m)
  assert.match(text, /^torana_ledger_batch_entries_bucket\{where="store",le="50"\} 2$/m)
  assert.match(text, /^torana_ledger_write_duration_seconds_sum\{where="store"\} 0\.404$/m)
})

test('figures of the ledger are reported by the node in charge of them, and by no other', () => {
  const metrics = new LedgerMetrics()
  assert.doesNotMatch(metrics.text(), /torana_unknowns_open/)
  metrics.figures(FIGURES)
  metrics.partitions({ missing: [{}] })
  metrics.chore('seal', 'failed')
  metrics.chore('days', 'failed')
  metrics.chore('days', 'done')
  metrics.reconciled({ budgetsCorrected: [] })
  const text = metrics.text()
  assert.match(text, /^torana_unknowns_open 2$/m)
  assert.match(text, /^torana_unknowns_open_usd 1\.5$/m)
  assert.match(text, /^torana_nodes\{state="silent"\} 1$/m)
  assert.match(text, /^torana_lost_leases_usd 0\.5$/m)
  assert.match(text, /^torana_rest_rows\{table="usage_events"\} 4$/m)
  assert.match(text, /^torana_budget_spent_ratio\{budget="project:search"\} 0\.25$/m)
  assert.match(text, /^torana_budget_spent_ratio\{budget="key:\\"odd\\"\\n"\} 1$/m)
  assert.match(text, /^torana_ledger_differences 0$/m)
  assert.match(text, /^torana_ledger_refused 3$/m)
  assert.match(text, /^torana_partitions_missing 1$/m)
  assert.match(text, /^torana_ledger_sealed_through_seconds 7200$/m)
  assert.match(text, /^torana_ledger_waits_seconds\{step="compare"\} 90$/m)
  assert.match(text, /^torana_upkeep_failing\{chore="seal"\} 1$/m)
  assert.match(text, /^torana_upkeep_failing\{chore="days"\} 0$/m)
  metrics.figures(undefined)
  assert.doesNotMatch(
    metrics.text(),
    /torana_(unknowns|nodes|budget_spent|ledger_(differences|waits|sealed)|upkeep|partitions)/,
  )
  assert.match(metrics.text(), /^torana_reconciliations_total 1$/m)
})

test('what a node says of itself is asked at each scrape', () => {
  const metrics = new LedgerMetrics()
  const counts = { takes: 5, localDecisions: 2, scriptCalls: 3, timeouts: 1, errors: 0 }
  let spoolWaiting = 0
  metrics.readNode(() => {
    spoolWaiting += 1
    return {
      isStoreUnreachable: true,
      spoolWaiting,
      journalOpen: 9,
      hasConfigFile: false,
      diskFailure: 'full',
      clockSkewMs: -1500,
      configRefusal: undefined,
      limiter: { state: 'local', counts },
    }
  })
  metrics.text()
  const text = metrics.text()
  assert.match(text, /^torana_store_away 1$/m)
  assert.match(text, /^torana_spool_waiting 2$/m)
  assert.match(text, /^torana_journal_open 9$/m)
  assert.match(text, /^torana_disk_failing 1$/m)
  assert.match(text, /^torana_clock_skew_seconds -1.5$/m)
  assert.match(text, /^torana_limiter_shared 0$/m)
  assert.match(text, /^torana_limiter_local_decisions_total 2$/m)
})

test('every line is a comment or a sample, and every metric says its type once', async () => {
  const metrics = new Metrics({ version: '1.0.0', commit: 'abc' })
  metrics.ledger.figures(FIGURES)
  metrics.ledger.requestLogDropped(3)
  metrics.ledger.refused()
  metrics.requestEnded({ requestId: 'r', route: 'embeddings', status: 200, durationMs: 3 })
  const { text } = await metrics.text()
  const lines = text.trimEnd().split('\n')
  for (const line of lines) assert.match(line, /^$|^# (HELP|TYPE) \w+ .+$|^\w+(\{.*\})? (-?[\d.e+-]+|NaN)$/)
  const types = lines.filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2])
  assert.equal(new Set(types).size, types.length)
})
