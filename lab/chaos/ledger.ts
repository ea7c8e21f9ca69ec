/** `npm run lab -- chaos/ledger`: kills everything again and again under load, and shows that the ledger stays right. */
import { parseArgs } from 'node:util'
import { FOLDER_PLANS, type FolderPlan } from './cluster.ts'
import { runRounds, violationText, type ChaosOptions, type RoundResult } from './rounds.ts'
import { SMOKE } from './smoke.ts'
import { TABLE, tableRow } from './table.ts'

/** Violations printed; all of them are in the folder named below. */
const SHOWN_VIOLATIONS = 20

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '45' },
    rate: { type: 'string', default: '550' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    folders: { type: 'string', default: 'mixed' },
    keep: { type: 'boolean', default: false },
    smoke: { type: 'boolean', default: false },
  },
})
if (!Object.hasOwn(FOLDER_PLANS, values.folders)) {
  throw new Error(`--folders is one of ${Object.keys(FOLDER_PLANS).join(', ')}`)
}

const chosen: ChaosOptions = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  requestsPerSecond: Number(values.rate),
  seed: Number(values.seed),
  // In ten rounds: a hundred gateways, twenty PostgreSQL servers, thirty Redis servers.
  faults: { gateway: 10, postgres: 2, redis: 3 },
  folderPlan: values.folders as FolderPlan,
  restMs: 15_000,
  keep: values.keep,
}
const options = values.smoke ? { ...SMOKE, seed: chosen.seed } : chosen

const results: RoundResult[] = []
console.log(
  `seed ${options.seed}, ${options.rounds} rounds of ${options.seconds} s, folders ${options.folderPlan}`,
)
console.log(TABLE.head())
const { violations, folder } = await runRounds(options, (result) => {
  results.push(result)
  console.log(tableRow(result))
})
console.log(TABLE.total(results))
for (const violation of violations.slice(0, SHOWN_VIOLATIONS))
  console.log(`${violation.kind}: ${violationText(violation)}`)
if (violations.length > SHOWN_VIOLATIONS) console.log(`and ${violations.length - SHOWN_VIOLATIONS} more`)
if (folder !== undefined) console.log(`logs, records and violations are in ${folder}`)
process.exitCode = violations.length > 0 ? 1 : 0
