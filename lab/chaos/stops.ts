/** `npm run lab -- chaos/stops`: SIGTERM at every moment of a start, and while clients hold on to the gateway. */
import { parseArgs } from 'node:util'
import { DRAIN_MS, startGatewayToStop, startHouse } from './stops/house.ts'
import { stopWithStalls } from './stops/stalls.ts'
import { Workplace } from '../workplace.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    /** Milliseconds between two moments of the start. */
    step: { type: 'string', default: '100' },
    readers: { type: 'string', default: '100' },
    writers: { type: 'string', default: '100' },
    jobs: { type: 'string', default: '20' },
  },
})
/** Time beyond the drain, for closing everything. */
const CLOSE_MS = 5000

await using place = new Workplace('stops')
const house = await startHouse(place.folder, (await place.postgres()).url)
const wrongs: string[] = []
const [readers, writers, jobs] = [values.readers, values.writers, values.jobs].map(Number) as [
  number,
  number,
  number,
]

// The first start makes the tables. The duration of a later one determines the number of moments.
const first = await startGatewayToStop(house)
await first.ready()
await first.stop()
const startMs = performance.now()
const probe = await startGatewayToStop(house)
await probe.ready()
const takesMs = performance.now() - startMs
await probe.stop()
console.log(`a start takes ${Math.round(takesMs)} ms`)
for (let afterMs = 0; afterMs <= takesMs + Number(values.step); afterMs += Number(values.step)) {
  const gateway = await startGatewayToStop(house)
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  const { code, tookMs, left, output } = await gateway.stop()
  console.log(`SIGTERM after ${afterMs} ms: ends with ${code} in ${Math.round(tookMs)} ms`)
  // Node itself handles no signal before it has loaded the first file of the program.
  const isBeforeItsTime = code === 'SIGTERM' && output === ''
  if (code !== 0 && !isBeforeItsTime) wrongs.push(`after ${afterMs} ms it ended with ${code}: ${output}`)
  for (const what of left) wrongs.push(`after ${afterMs} ms it left ${what}`)
}

console.log(
  `${readers} readers, ${writers} writers and as many silent connections, ${jobs} pictures; drain ${DRAIN_MS} ms`,
)
for (let round = 1; round <= Number(values.rounds); round += 1) {
  const { code, tookMs, left, pictures, served, inLedger } = await stopWithStalls(house, {
    readers,
    writers,
    jobs,
  })
  const answered = pictures.filter((status) => status === 200).length
  console.log(
    `round ${round}: ends with ${code} in ${Math.round(tookMs)} ms, ${answered} of ${jobs} pictures answered, ${served} calls served, ${inLedger} in the ledger`,
  )
  if (code !== 0) wrongs.push(`round ${round} ended with ${code}`)
  if (tookMs > DRAIN_MS + CLOSE_MS) wrongs.push(`round ${round} took ${Math.round(tookMs)} ms`)
  if (served !== inLedger)
    wrongs.push(`round ${round}: ${served} calls were served, ${inLedger} are in the ledger`)
  if (answered !== jobs) wrongs.push(`round ${round}: ${jobs - answered} pictures were not answered`)
  for (const what of left) wrongs.push(`round ${round} left ${what}`)
}
await house.close()
for (const wrong of wrongs) console.log(wrong)
console.log(wrongs.length === 0 ? 'nothing is wrong' : `${wrongs.length} wrong`)
process.exitCode = wrongs.length === 0 ? 0 : 1
