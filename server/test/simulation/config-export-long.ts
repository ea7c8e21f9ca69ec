/** `npm run lab -- check/config-export --configurations 1000 --requests 1000 --seed 1`. Prints the seed of a counterexample. */
import { parseArgs } from 'node:util'
import { judgeExport } from './config-export.ts'

const { values } = parseArgs({
  options: {
    configurations: { type: 'string', default: '1000' },
    requests: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
  },
})
const [configurations, requests, first] = [values.configurations, values.requests, values.seed].map(
  Number,
) as [number, number, number]
const startedMs = performance.now()
for (let seed = first; seed < first + configurations; seed += 1) judgeExport(seed, requests)
const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
console.log(
  `${configurations} random installations from seed ${first}, each exported into a new one: equal models, routing, key terms and prices, equal decisions in ${requests} requests each, ${seconds} s, no counterexample`,
)
