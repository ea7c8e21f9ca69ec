/**
 * `npm run lab -- bench/noise`: the bare proxy beside itself, both at the same time on core 0 under equal load. Their CPU time for a
 * request should be equal: what it differs by is noise, and a smaller difference between two gateways means nothing. Fails when
 * the noise is too large for figures. `--write` publishes it, `--quick` is a short look.
 */
import { parseArgs } from 'node:util'
import { publishTexts } from '../book/publish.ts'
import { loadText, spreadText } from '../report.ts'
import { Workplace } from '../workplace.ts'
import { BASE64, startEmbeddingsStage } from './embeddings-stage.ts'
import { isQuiet, noiseOf } from './noise-verdict.ts'
import { startNginx } from './parts.ts'
import { LOAD_CORE } from './side-by-side.ts'

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, write: { type: 'boolean', default: false } },
})
const [WINDOWS, SECONDS, WARMUP_SECONDS] = options.quick ? [3, 1, 2] : [9, 5, 8]
const CONNECTIONS = 64

await using place = new Workplace('noise')
const { origin } = await startNginx(place.folder, LOAD_CORE)
const both = await startEmbeddingsStage({
  folder: place.folder,
  shape: BASE64,
  origin,
  connections: CONNECTIONS,
  isControl: true,
})
await both.window(WARMUP_SECONDS)
const ratios: number[] = []
for (let window = 0; window < WINDOWS; window += 1) {
  const { bare, torana: again } = await both.window(SECONDS)
  ratios.push(bare.cpuUs / again.cpuUs)
}
await both.stop()
const noise = noiseOf(ratios)
console.log(
  `the bare proxy beside itself: ${spreadText(ratios)}, so ±${(noise * 100).toFixed(0)} %; ${loadText()}`,
)
if (options.write) publishTexts('bench/noise', { 'noise.bare': `±${(noise * 100).toFixed(0)} %` })
if (!isQuiet(ratios) && !options.quick) process.exitCode = 1
