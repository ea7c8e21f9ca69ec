/**
 * Usage by user and by tag against the ledger, over a million calls written as a node writes them: by the batcher, with its
 * journal, to a dedicated PostgreSQL. Every call has a unique tag, so there are as many values as calls. The script adds up
 * what it sent, and compares to the nano-dollar. `npm run lab -- bench/usage-labels --calls 1000000`
 */
import { parseArgs } from 'node:util'
import type { LedgerEntry } from '../../server/src/core/money/ledger.ts'
import { MAX_LABEL_VALUES, type Labels } from '../../server/src/core/money/labels.ts'
import { dollars } from '../../server/src/core/money/price.ts'
import { systemClock } from '../../server/src/runtime/clock.ts'
import { PostgresReconciler } from '../../server/src/stores/postgres/ledger/reconciler.ts'
import { emptyRankings, usageTable, type UsageCell } from '../../server/src/control/usage/queries.ts'
import type { UsageLabel } from '../../server/src/control/usage/rollup-queries.ts'
import { openOwnLedger } from './own-ledger.ts'
import { print, writeResults } from '../report.ts'

const { values: options } = parseArgs({
  options: {
    calls: { type: 'string', default: '1000000' },
    writers: { type: 'string', default: '2048' },
  },
})
const calls = Number(options.calls)
/** Fewer than are counted separately: each must be exact to the nano-dollar. */
const TENANTS = 500
const TEAMS = 20
/** Every how many calls one is left unknown, to be resolved afterwards. */
const UNKNOWN_EVERY = 500

const { ledger, store, database, identifiers, nodeId, close } = await openOwnLedger({
  queryTimeoutMs: 60_000,
  onFailure: (error) => {
    throw error
  },
})

/** The sums of what was sent. */
const sent = { nanoUsd: 0n, users: new Map<string, bigint>(), teams: new Map<string, bigint>() }
const unknowns: LedgerEntry[] = []
const fromMs = dayOf(Date.now())
const startedMs = performance.now()
let next = 0
await Promise.all(
  Array.from({ length: Number(options.writers) }, async () => {
    while (next < calls) {
      const number = next
      next += 1
      const entry = entryOf(number)
      await ledger.begin({ ...entry, kind: 'unknown' })
      if (number % UNKNOWN_EVERY === 0) {
        const open: LedgerEntry = { ...entry, kind: 'unknown', tokens: undefined, amountNanoUsd: 5000n }
        await ledger.write([open])
        unknowns.push(open)
      } else {
        await ledger.write([entry])
        note(entry)
      }
      if (number % 100_000 === 99_999)
        console.log(`${number + 1} calls after ${Math.round((performance.now() - startedMs) / 1000)} s`)
    }
  }),
)
await ledger.settled()
const seconds = (performance.now() - startedMs) / 1000
for (const unknown of unknowns) {
  const resolved: LedgerEntry = { ...unknown, kind: 'post', tokens: 3, amountNanoUsd: 77n }
  await store.appendLate(nodeId, [resolved])
  note(resolved)
}

const span = { projects: undefined, only: {}, fromMs, endMs: dayOf(Date.now()) + 86_400_000 }
const [row] = await database.query<{ nano: bigint; rows: bigint; counted: bigint }>(
  `SELECT sum(amount_nano)::bigint AS nano, count(*) AS rows,
     (SELECT count(*) FROM usage_label_hours) AS counted FROM usage_events`,
)
const ledgerNano = row?.nano ?? 0n
const table = [['sum', 'values', 'of values', 'other', 'none', 'together', 'ms', 'equals the ledger']]
const problems: string[] = []
if (ledgerNano !== sent.nanoUsd) problems.push(`the ledger has ${ledgerNano}, and ${sent.nanoUsd} was sent`)
for (const by of ['user', 'tag:team', 'tag:request'] as const) table.push(await compared(by))
const { differences } = await new PostgresReconciler(database, systemClock).reconcile('all')
if (differences.length > 0) problems.push(`the doctor finds ${differences.length} differences`)
const { overflows } = await new PostgresReconciler(database, systemClock).figures()

print(table)
console.log(
  `${row?.rows} rows in the ledger, ${dollars(ledgerNano)} (${ledgerNano} nano-dollars); ${row?.counted} rows of sums by label; ${Math.round(calls / seconds)} calls a second`,
)
for (const { project, label, amountNanoUsd } of overflows)
  console.log(`told: project ${project}, ${label}: ${dollars(amountNanoUsd)} is counted together as other`)
console.log(problems.length === 0 ? 'All sums are equal.' : problems.join('\n'))
writeResults('usage-labels', { calls, rows: table, problems })
process.exitCode = problems.length === 0 ? 0 : 1
await close()

async function compared(by: UsageLabel): Promise<string[]> {
  const askedMs = performance.now()
  const question = { ...span, by, slot: 'day', groups: 2 * MAX_LABEL_VALUES } as const
  const { cells, groups, beside } = await usageTable(database, question, systemClock.nowMs(), emptyRankings())
  const tookMs = performance.now() - askedMs
  const [values, other, none] = [cells, beside?.overflow ?? [], beside?.none ?? []].map(sumOf)
  const whole = (values ?? 0n) + (other ?? 0n) + (none ?? 0n)
  if (whole !== ledgerNano) problems.push(`by ${by}: ${whole} instead of ${ledgerNano}`)
  const expected = by === 'user' ? sent.users : by === 'tag:team' ? sent.teams : undefined
  for (const [name, nanoUsd] of expected ?? []) {
    const own = sumOf(cells.filter((cell) => cell.name === name))
    if (own !== nanoUsd) problems.push(`${by} ${name}: ${own} instead of ${nanoUsd}`)
  }
  return [
    `by ${by}`,
    String(groups),
    dollars(values ?? 0n),
    dollars(other ?? 0n),
    dollars(none ?? 0n),
    dollars(whole),
    String(Math.round(tookMs)),
    whole === ledgerNano ? 'yes' : 'no',
  ]
}

function sumOf(cells: readonly UsageCell[]): bigint {
  return cells.reduce((total, { nano }) => total + nano, 0n)
}

function note({ amountNanoUsd = 0n, labels }: LedgerEntry): void {
  sent.nanoUsd += amountNanoUsd
  const add = (sums: Map<string, bigint>, name: string | undefined): void => {
    if (name !== undefined) sums.set(name, (sums.get(name) ?? 0n) + amountNanoUsd)
  }
  add(sent.users, labels?.user)
  add(sent.teams, labels?.tags?.['team'])
}

/** Of ten calls, seven name a tenant and a team. */
function entryOf(number: number): LedgerEntry {
  const project = number % 2 === 0 ? 'search' : 'ads'
  return {
    requestId: identifiers.next(),
    attempt: 0,
    kind: 'post',
    callId: identifiers.next(),
    project,
    keyId: `${project}/key-${number % 3}`,
    model: 'text-embedding-3-small',
    deployment: 'text-embedding-3-small/openai',
    usage: 'upstream',
    tokens: 8,
    images: 0,
    amountNanoUsd: BigInt(100 + Math.floor(Math.random() * 10_000)),
    projectLeaseNanoUsd: 0n,
    keyLeaseNanoUsd: 0n,
    countsRequest: true,
    labels: labelsOf(number),
  }
}

function labelsOf(number: number): Labels {
  const request = `request-${number}`
  if (number % 10 < 3) return { tags: { request } }
  return { user: `tenant-${number % TENANTS}`, tags: { team: `team-${number % TEAMS}`, request } }
}

function dayOf(ms: number): number {
  return Math.floor(ms / 86_400_000) * 86_400_000
}
