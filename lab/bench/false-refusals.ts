/**
 * Refusals of requests that a node could have served. Callers that wait for their answers ask an upstream that always takes
 * 20 ms, while the gateway is (a) alone on its core, (b) beside a busy process on it, (c) stopped for 50 of every 100 ms,
 * (d) in a control group of half a core. The bare proxy has the same handicap in the same run. No request may be refused,
 * and the gateway must do nine tenths of what the bare proxy does, times the ordinary ratio: the bare proxy's CPU time per
 * request without a handicap, divided by the gateway's. `npm run lab -- bench/false-refusals --seconds 6 --rounds 3`. Exits with 1
 * when a goal is missed. (d) needs root.
 */
import { parseArgs } from 'node:util'
import { HALF_A_CORE, inControlGroup } from './control-group.ts'
import { startGateway } from './load-stage.ts'
import { startBare } from './parts.ts'
import { fixedPath } from '../fake-provider/players/fixed.ts'
import { spawnOn } from '../processes.ts'
import { startProvider } from '../provider.ts'
import { loadScript, wrk, type Load } from '../wrk.ts'
import { costOf, GATEWAY_CORE, LOAD_CORE } from './side-by-side.ts'
import { loadText, median, print } from '../report.ts'
import { Workplace } from '../workplace.ts'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '3' },
    callers: { type: 'string', default: '8,64,256' },
    cases: { type: 'string', default: 'abcd' },
  },
})
const seconds = Number(options.seconds)
const rounds = Number(options.rounds)

const DELAY_MS = 20
const AIM = 0.9
const MODEL = 'steady-w16'

/** Puts a process at a disadvantage until it is disposed of. */
type Handicap = (pid: number) => Disposable

const handicaps: Readonly<Record<string, { readonly name: string; readonly begin: Handicap }>> = {
  a: { name: 'alone', begin: () => ({ [Symbol.dispose]: () => {} }) },
  b: { name: 'beside a busy process', begin: besideBusyProcess },
  c: { name: 'stopped 50 of 100 ms', begin: stoppedHalfTheTime },
  d: { name: 'half a core', begin: halfACore },
}

await using place = new Workplace('refusals')
const { folder } = place
if (!(await run())) process.exitCode = 1

async function run(): Promise<boolean> {
  const { origin } = await startProvider(LOAD_CORE, folder)
  const played = fixedPath({ width: 16, parallel: Infinity, callMs: DELAY_MS, inputMs: 0 })
  const bareProxy = await startBare(origin, GATEWAY_CORE)
  const bare = { ...bareProxy, origin: `${bareProxy.origin}/${played}` }
  const gateway = await startGateway(folder, {
    models: { [MODEL]: [`${origin}/${played}/v1`] },
    projects: ['all'],
  })
  const script = loadScript(folder, { key: gateway.keyOf('all'), model: MODEL })
  const load = (to: string, callers: number): Promise<Load> =>
    wrk({
      url: `${to}/v1/embeddings`,
      script,
      connections: callers,
      seconds,
      core: LOAD_CORE,
    })
  const own = `http://127.0.0.1:${gateway.port}`
  for (const to of [bare.origin, own]) await load(to, 64)

  const rows = [['callers', 'handicap', 'bare /s', 'Torana /s', 'refused', 'of bare × ordinary ratio']]
  let isKept = true
  for (const callers of options.callers.split(',').map(Number)) {
    let ordinary = Number.NaN
    for (const name of options.cases) {
      const handicap = handicaps[name]
      if (!handicap) throw new Error(`there is no case ${name}`)
      const rates: { readonly bare: number; readonly torana: number }[] = []
      const costs: number[] = []
      let refused = 0
      for (let round = 0; round < rounds; round += 1) {
        const ofBare = await costOf(bare.pid, () =>
          under(handicap.begin, bare.pid, () => load(bare.origin, callers)),
        )
        const ofTorana = await costOf(gateway.pid, () =>
          under(handicap.begin, gateway.pid, () => load(own, callers)),
        )
        refused += ofTorana.load.errors
        costs.push(ofBare.cpuUs / ofTorana.cpuUs)
        rates.push({ bare: rate(ofBare.load), torana: rate(ofTorana.load) })
      }
      const ratio = median(rates.map(({ bare, torana }) => torana / bare))
      if (name === 'a') ordinary = median(costs)
      const share = ratio / ordinary
      const isMet = refused === 0 && !(share < AIM)
      isKept &&= isMet
      rows.push([
        String(callers),
        handicap.name,
        median(rates.map(({ bare }) => bare)).toFixed(0),
        median(rates.map(({ torana }) => torana)).toFixed(0),
        String(refused),
        `${share.toFixed(2)}${isMet ? '' : ' MISSED'}`,
      ])
    }
  }
  print(rows)
  process.stdout.write(`${loadText()}; aims: nothing refused, last column ≥ ${AIM}\n`)
  return isKept
}

async function under(begin: Handicap, pid: number, work: () => Promise<Load>): Promise<Load> {
  using stack = new DisposableStack()
  stack.use(begin(pid))
  return await work()
}

/** Answers, not refusals. */
function rate({ requests, errors, seconds: took }: Load): number {
  return (requests - errors) / took
}

function besideBusyProcess(): Disposable {
  const { pid } = spawnOn(GATEWAY_CORE, process.execPath, ['-e', 'for (;;);'], {})
  return { [Symbol.dispose]: () => process.kill(pid, 'SIGKILL') }
}

function stoppedHalfTheTime(pid: number): Disposable {
  let isStopped = false
  const timer = setInterval(() => {
    isStopped = !isStopped
    process.kill(pid, isStopped ? 'SIGSTOP' : 'SIGCONT')
  }, 50)
  return {
    [Symbol.dispose]: () => {
      clearInterval(timer)
      process.kill(pid, 'SIGCONT')
    },
  }
}

function halfACore(pid: number): Disposable {
  return inControlGroup(pid, HALF_A_CORE)
}
