/** `npm run lab -- chaos/restarts`: rolling restarts, replaced and killed workers, and an upgrade and back, under load. Not one request may fail. */
import { parseArgs } from 'node:util'
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
  },
})
const PROOFS = {
  processes: rollProcesses,
  workers: replaceWorkers,
  'killed-worker': killWorkers,
  upgrade: upgradeAndBack,
}

const kinds = Object.keys(BALANCERS) as BalancerKind[]
const balancers = kinds.filter((kind) => values.balancer === undefined || values.balancer === kind)
if (balancers.length === 0) throw new Error(`--balancer: expected one of ${kinds.join(', ')}`)
const wrongs: string[] = []
for (const [name, prove] of Object.entries(PROOFS)) {
  if (values.only !== undefined && !values.only.split(',').includes(name)) continue
  const outcome = await prove({ times: Number(values.times), before: values.before, balancers })
  wrongs.push(...outcome.wrongs)
}
console.log(wrongs.length === 0 ? '\nnothing is wrong' : `\n${wrongs.length} wrong`)
process.exit(wrongs.length === 0 ? 0 : 1)
