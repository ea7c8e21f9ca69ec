/**
 * `npm run lab -- chaos/slips`: two gateways under load, and one slip of an operator in each round (`slips/all.ts`). After it nothing may be
 * lost, doubled, or done too early. The chores of the gateways are due every second. Exits with 1 when anything was wrong.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { SOURCE_PROGRAM } from '../../server/test/support/process.ts'
import { RunningTable } from '../report.ts'
import { Workplace } from '../workplace.ts'
import { startHouse } from './cluster.ts'
import type { Tally, Violation } from './invariants.ts'
import { keepLedger, withDatabase, withLedger } from './ledger-checks.ts'
import { evidenceFrom, judgedAtRest, startLoad, violationText, watchBudgets } from './rounds.ts'
import { SLIPS } from './slips/all.ts'
import { checkKept, fillPast, readKept } from './slips/kept.ts'
import { GATEWAY_ROLE, type Slip, type SlipStage } from './slips/slip.ts'
import { configText, GENEROUS_KEY, OPEN_KEY, SHORT_LIMITS, TEXT_MODELS } from './traffic.ts'

const { values } = parseArgs({
  options: {
    /** Slips whose name has this. */
    only: { type: 'string', default: '' },
    /** Undefined: each slip once. */
    rounds: { type: 'string' },
    rate: { type: 'string', default: '40' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})

/** Load before a slip, during it, and after it. A dozen rounds of chores, and of heartbeats, fit into it. */
const BEFORE_MS = 3000
const DURING_MS = 12_000
const AFTER_MS = 4000
const REST_MS = 90_000
const DAY_MS = 86_400_000
const SHOWN_VIOLATIONS = 20
const CHECKS = join(import.meta.dirname, '../check')

interface SlipResult extends Tally {
  readonly slip: string
  readonly violations: readonly Violation[]
  readonly restedInMs: number
}

const slips = SLIPS.filter(({ name }) => name.includes(values.only))
if (slips.length === 0) throw new Error(`no slip has ${values.only} in its name`)
const rounds = Number(values.rounds ?? slips.length)

await using place = new Workplace('slips')
/** Kept when something was wrong. */
const folder = mkdtempSync(join(tmpdir(), 'torana-slips-'))
const postgres = await place.postgres()
await withDatabase(postgres.url, async (client) => {
  await client.query(`CREATE ROLE ${GATEWAY_ROLE} LOGIN`)
  await client.query(`CREATE DATABASE ${GATEWAY_ROLE} OWNER ${GATEWAY_ROLE}`)
})
const { port } = postgres
const urlAs = (role: string): string => `postgres://${role}@127.0.0.1:${port}/${GATEWAY_ROLE}`
const clockFileOf = (gateway: number): string => join(folder, `clock-${gateway}`)
const setClock = (gateway: number, days: number): void =>
  writeFileSync(clockFileOf(gateway), String(days * DAY_MS))
for (const gateway of [0, 1]) setClock(gateway, 0)
const terms = { rounds: 0, tightUsd: 1, requestsPerMinute: 1_000_000, limits: SHORT_LIMITS }
const house = await startHouse({
  folder,
  dataFolders: ['a', 'b'],
  configOf: (providerUrl) =>
    JSON.stringify({ ...JSON.parse(configText(providerUrl, terms)), ledger: { export: true } }),
  env: { DATABASE_URL: urlAs(GATEWAY_ROLE), ASSETS_URL: `file:${join(folder, 'assets')}` },
  ofGateway: (gateway) => ({
    program: SOURCE_PROGRAM,
    env: { LAB_CLOCK_FILE: clockFileOf(gateway) },
    flags: ['ledger-age/moved-clock.ts', 'ledger-age/quick-chores.ts'].flatMap((file) => [
      '--import',
      join(CHECKS, file),
    ]),
  }),
})
/** Node ids sort by the time of their start. */
const eldest = (): number => {
  const own = house.gateways.map(({ dataFolder }) =>
    house.nodeFolders().find((one) => one.startsWith(dataFolder)),
  )
  return basename(own[0] ?? '') <= basename(own[1] ?? '') ? 0 : 1
}
const stage: SlipStage = {
  ...house,
  setClock,
  eldest,
  asSuperuser: (statements) =>
    withDatabase(urlAs('postgres'), async (client) => void (await client.query(statements))),
  async restart(gateway) {
    house.gateways[gateway]?.kill9()
    await wait(500)
    await house.gateways[gateway]?.ready()
  },
}
await withLedger(house, fillPast)

const TABLE = new RunningTable<SlipResult>('slip', 36, [
  { title: 'requests', width: 8, of: ({ requests }) => requests },
  { title: '2xx', width: 6, of: ({ answered }) => answered },
  { title: 'failed', width: 6, of: ({ failed }) => failed },
  { title: 'served', width: 6, of: ({ served }) => served },
  { title: 'posted', width: 6, of: ({ posted }) => posted },
  { title: 'unknown', width: 7, of: ({ unknown }) => unknown },
  { title: 'lost', width: 5, of: countOf('lost') },
  { title: 'doubled', width: 7, of: countOf('doubled') },
  { title: 'other', width: 5, of: countOf('other') },
  { title: 'rest s', width: 6, of: ({ restedInMs }) => Math.round(restedInMs / 1000), isMean: true },
])

console.log(`seed ${values.seed}, ${rounds} rounds of ${slips.length} slips`)
console.log(TABLE.head())
const results: SlipResult[] = []
for (let round = 0; round < rounds; round += 1) {
  const result = await runRound(slips[round % slips.length] as Slip, round)
  results.push(result)
  console.log(TABLE.row(result.slip, result))
}
console.log(TABLE.total(results))
const violations = results.flatMap((result) => result.violations)
violations.push(
  ...house.gateways.flatMap(({ crashes }) =>
    crashes.map((what): Violation => ({ kind: 'other', what, ids: {} })),
  ),
)
for (const violation of violations.slice(0, SHOWN_VIOLATIONS))
  console.log(`${violation.kind}: ${violationText(violation)}`)
if (violations.length > 0) await withLedger(house, (client) => keepLedger(client, folder))
await house.stop()
if (violations.length === 0) rmSync(folder, { recursive: true, force: true })
else console.log(`logs, records and the ledger are in ${folder}`)
process.exitCode = violations.length === 0 ? 0 : 1

async function runRound(slip: Slip, round: number): Promise<SlipResult> {
  const evidence = evidenceFrom(house, join(folder, `records-${round}.jsonl`))
  const watch = watchBudgets(house)
  const load = startLoad({
    url: house.url,
    requestsPerSecond: Number(values.rate),
    seed: Number(values.seed) + round,
    keys: [OPEN_KEY, GENEROUS_KEY],
    models: TEXT_MODELS,
    leavingShare: 0.03,
    recordsFile: evidence.recordsFile,
  })
  await wait(BEFORE_MS)
  const before = await withLedger(house, readKept)
  await slip.begin(stage)
  await wait(DURING_MS)
  await slip.end(stage)
  await wait(AFTER_MS)
  await load.stop()
  const { tally, restedInMs, violations } = await judgedAtRest(house, evidence, REST_MS)
  const early = await withLedger(house, (client) => checkKept(client, before))
  return {
    ...tally,
    slip: slip.name,
    restedInMs,
    violations: [...violations, ...early, ...(await watch.stop())],
  }
}

function countOf(kind: Violation['kind']) {
  return ({ violations }: SlipResult): number => violations.filter((one) => one.kind === kind).length
}
