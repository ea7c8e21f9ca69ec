import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runRounds, type RoundResult } from './rounds.ts'
import { SMOKE } from './smoke.ts'
import { TABLE, tableRow } from './table.ts'

test('whatever is killed under load, every call is in the ledger once and no hard budget is exceeded', async (t) => {
  const results: RoundResult[] = []
  t.diagnostic(TABLE.head())
  const { violations, folder } = await runRounds(SMOKE, (result) => {
    results.push(result)
    t.diagnostic(tableRow(result))
  })
  assert.deepEqual(violations, [], `logs and records are in ${folder}`)
  // However slow the machine: a cluster that served nothing would prove nothing.
  for (const { round, answered, posted } of results) {
    assert.ok(answered > 0 && posted > 0, `round ${round + 1} served nothing`)
  }
})
