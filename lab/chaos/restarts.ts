/** `npm run lab -- chaos/restarts`: rolling restarts, replaced and killed workers, and an upgrade and back, under load. Not one request may fail. */
import { parseArgs } from 'node:util'
import { publishTexts } from '../book/publish.ts'
import { BALANCERS, type BalancerKind } from './restarts/balancers.ts'
import { killWorkers, replaceWorkers, rollProcesses } from './restarts/rolling.ts'
import { upgradeAndBack } from './restarts/upgrade.ts'

const { values } = parseArgs({
  options: {
    /** Names of proofs, as in workers,upgrade. Undefined for all. */
    only: { type: 'string' },
    /** Balancer of the processes: `haproxy`, `nginx` or `tcp`. Undefined for all. */
    balancer: { type: 'string' },
    times: { type: 'string', default: '20' },
    /** Commit of the version that the upgrade begins with. Undefined for this one. */
    before: { type: 'string' },
    /** Puts the figures that pages cite into docs/figures.json. */
    write: { type: 'boolean', default: false },
  },
})
const PROOFS = {
  processes: rollProcesses,
  workers: replaceWorkers,
  'killed-worker': killWorkers,
  upgrade: upgradeAndBack,
}
/** Ids of published figures, by the proofs that have them. */
const FIGURES: Readonly<Record<string, string>> = { processes: 'restarts', upgrade: 'upgrade' }

const kinds = Object.keys(BALANCERS) as BalancerKind[]
const balancers = kinds.filter((kind) => values.balancer === undefined || values.balancer === kind)
if (balancers.length === 0) throw new Error(`--balancer: expected one of ${kinds.join(', ')}`)
const wrongs: string[] = []
const texts: Record<string, string> = {}
for (const [name, prove] of Object.entries(PROOFS)) {
  if (values.only !== undefined && !values.only.split(',').includes(name)) continue
  const outcome = await prove({ times: Number(values.times), before: values.before, balancers })
  wrongs.push(...outcome.wrongs)
  const figure = FIGURES[name]
  if (figure === undefined) continue
  texts[`${figure}.failed`] = String(outcome.failed)
  texts[`${figure}.requests`] = outcome.requests.toLocaleString('en-US')
}
if (values.write && Object.keys(texts).length > 0) publishTexts('chaos/restarts', texts)
console.log(wrongs.length === 0 ? '\nnothing is wrong' : `\n${wrongs.length} wrong`)
process.exit(wrongs.length === 0 ? 0 : 1)
