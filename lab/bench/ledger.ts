/**
 * Durable records per second of the batcher alone, on a dedicated PostgreSQL with fsync on: writers that each wait for
 * their record, as requests do, with the journal and the rollups, and then pause for a while, so that those of one batch do
 * not all come together again. Beside it what `pgbench` writes into the same PostgreSQL: rows of the same columns with the same
 * primary key and nothing else, in batches of the same size. `npm run lab -- bench/ledger --seconds 8 --writers 512`
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { LedgerEntry } from '../../server/src/core/money/ledger.ts'
import { openOwnLedger } from './own-ledger.ts'
import { publishTexts } from '../book/publish.ts'
import { print, writeResults } from '../report.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    writers: { type: 'string', default: '64,512,2048' },
    keys: { type: 'string', default: '1000' },
    /** Of a writer between two records, on average. */
    pauseMs: { type: 'string', default: '2' },
    /** Puts the figures that pages cite into docs/figures.json. */
    write: { type: 'boolean', default: false },
  },
})

let batches = 0
let spooled = 0
const { ledger, database, url, identifiers, close } = await openOwnLedger({
  queryTimeoutMs: 2000,
  written({ entries, where }) {
    batches += 1
    if (where === 'spool') spooled += entries
  },
  onFailure: (error) => console.error(error),
})

const rows = [
  [
    'writers',
    'records/s',
    'records a batch',
    'p50 ms',
    'p99 ms',
    'CPU µs/record (this process)',
    'spooled',
    'pgbench rows/s',
    'of pgbench',
  ],
]
await database.query(
  'CREATE TABLE plain_rows (LIKE usage_events INCLUDING DEFAULTS, PRIMARY KEY (request_id, attempt, kind))',
)
for (const writers of options.writers.split(',').map(Number)) {
  const row = await measure(writers)
  const [, perSecond, batch] = row.map(Number) as [number, number, number]
  const plain = plainRowsPerSecond(Math.max(1, batch))
  rows.push([...row, String(Math.round(plain)), (perSecond / plain).toFixed(2)])
}
const [check] = await database.query<{ ledger: bigint; rollups: bigint }>(
  `SELECT (SELECT count(*) FROM usage_events) AS ledger, (SELECT sum(posts)::bigint FROM usage_hours) AS rollups`,
)
print(rows)
writeResults('ledger', { pauseMs: Number(options.pauseMs), rows })
// With the most writers: batches are largest there.
const [, perSecond = '', , , , cpuUs = ''] = rows.at(-1) ?? []
if (options.write)
  publishTexts('bench/ledger', {
    'rate.ledger.postgres': Number(perSecond).toLocaleString('en-US'),
    'cpu.ledger.record': `${Math.round(Number(cpuUs))} µs`,
  })
console.log(`${check?.ledger} rows in the ledger, ${check?.rollups} in the rollups`)
await close()

async function measure(writers: number): Promise<string[]> {
  const waits: number[] = []
  batches = 0
  spooled = 0
  let key = 0
  const endMs = performance.now() + Number(options.seconds) * 1000
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  await Promise.all(
    Array.from({ length: writers }, async () => {
      while (performance.now() < endMs) {
        key = (key + 1) % Number(options.keys)
        const entry = entryOf(key)
        const beganMs = performance.now()
        await ledger.begin({ ...entry, kind: 'unknown' })
        await ledger.write([entry])
        waits.push(performance.now() - beganMs)
        await wait(Math.random() * 2 * Number(options.pauseMs))
      }
    }),
  )
  const seconds = (performance.now() - startMs) / 1000
  const { user, system } = process.cpuUsage(cpu)
  waits.sort((a, b) => a - b)
  const quantile = (share: number): string => (waits[Math.floor(waits.length * share)] ?? 0).toFixed(1)
  return [
    String(writers),
    String(Math.round(waits.length / seconds)),
    (waits.length / batches).toFixed(0),
    quantile(0.5),
    quantile(0.99),
    ((user + system) / waits.length).toFixed(1),
    String(spooled),
  ]
}

/** By two clients, as a node has two lanes. */
function plainRowsPerSecond(batch: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'torana-pgbench-'))
  try {
    const script = join(folder, 'insert.sql')
    writeFileSync(
      script,
      `\\set key random(1, ${options.keys})
INSERT INTO plain_rows (request_id, attempt, kind, call_id, node_id, project, key_id, model, deployment, usage, tokens, images, amount_nano)
SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1e6)::bigint), 16, '0') || lpad(to_hex(:client_id * 65536 + nth), 16, '0'))::uuid,
  0, 'post', gen_random_uuid(), gen_random_uuid(), 'project-' || :key % 50, 'project-' || :key % 50 || '/key-' || :key,
  'text-embedding-3-small', 'text-embedding-3-small/openai', 'upstream', 8, 0, 160
FROM generate_series(1, ${batch}) AS nth;\n`,
    )
    const args = ['-n', '-f', script, '-c', '2', '-j', '1', '-M', 'prepared', '-T', options.seconds, url]
    const text = execFileSync('pgbench', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
    return Number(/tps = ([\d.]+)/.exec(text)?.[1]) * batch
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function entryOf(key: number): LedgerEntry {
  const project = `project-${key % 50}`
  return {
    requestId: identifiers.next(),
    attempt: 0,
    kind: 'post',
    callId: identifiers.next(),
    project,
    keyId: `${project}/key-${key}`,
    model: 'text-embedding-3-small',
    deployment: 'text-embedding-3-small/openai',
    usage: 'upstream',
    tokens: 8,
    images: 0,
    amountNanoUsd: 160n,
    projectLeaseNanoUsd: 0n,
    keyLeaseNanoUsd: 0n,
  }
}
