/**
 * The cost of a batch. `npm run lab -- bench/batches --parts CL --lines 20000 --width 1536`. Parts: C: CPU time of the node per
 * text, and its memory, with an upstream that costs nothing. L: texts per second beside a bare loop that makes the same
 * calls without a gateway, both with a real model. B: the effect of a batch on waiting callers (`lab/bench/batches-beside.ts`).
 * Exits with 1 when a goal is missed.
 */
import { statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { sampleTexts } from '../model-server/ceiling.ts'
import { measureBeside } from './batches-beside.ts'
import { runBatches, startStage, startUpstream, upload, UPSTREAM_CORE, writeLines } from './batch-stage.ts'
import { cpuMicroseconds, stopAll, type Started } from '../processes.ts'
import { startModelServer } from '../provider.ts'
import { Report, loadText, median, spreadText } from '../report.ts'
import { profileFlags } from './torana.ts'
import { Workplace } from '../workplace.ts'

const { values: options } = parseArgs({
  options: {
    parts: { type: 'string', default: 'CLB' },
    /** For C: lines of one file, and parallel batches of that file. Ten of a million are 10⁷. */
    lines: { type: 'string', default: '20000' },
    batches: { type: 'string', default: '1' },
    width: { type: 'string', default: '1536' },
    /** Of a text of C. */
    characters: { type: 'string', default: '200' },
    /** Texts of each round of L, and rounds. */
    texts: { type: 'string', default: '4000' },
    rounds: { type: 'string', default: '3' },
    /** Of each measurement of B. */
    seconds: { type: 'string', default: '20' },
    /** The node's program, such as that of a built package. Default: the sources. */
    program: { type: 'string' },
    profile: { type: 'boolean', default: false },
  },
})

/** Facts of the issue. */
const AIM_CPU_US = 100
const AIM_SHARE = 0.95
const AIM_MB = 300
const AIM_GROWTH = 1.05
/** Lines that are run before, unmeasured: a cold process compiles its code first. */
const WARM_LINES = 10_000
/**
 * Parallel calls of the bare loop: as many as an experienced author would make, each of twice as many texts as a node's
 * calls grow to.
 */
const LOOP_CALLS = 8
const LOOP_INPUTS = 512

await using place = new Workplace('batches')
const { folder } = place
const report = new Report()

if (options.parts.includes('C')) await measureCost()
if (options.parts.includes('L')) await measureLoop()
if (options.parts.includes('B')) await measureBeside(folder, Number(options.seconds), report)
process.stdout.write(`\n${loadText()}\n`)
process.exitCode = report.isKept ? 0 : 1

async function measureCost(): Promise<void> {
  const [lines, width, batches] = [Number(options.lines), Number(options.width), Number(options.batches)]
  const upstream = await startUpstream({ width, parallel: 64, callMs: 0, inputMs: 0 }, folder)
  const flags = profileFlags(options.profile)
  const { program } = options
  const stage = await startStage({ folder, baseUrl: `${upstream.origin}/v1`, width, flags, program })
  const words = 'one two three four five six seven eight nine ten '
  const text = words.repeat(Math.ceil(Number(options.characters) / words.length))
  const textOf = (line: number): string => `${line} ${text.slice(0, Number(options.characters))}`
  await runBatches(stage, await upload(stage, await writeLines(folder, WARM_LINES, textOf)))
  const path = await writeLines(folder, lines, textOf)
  const before = { cpu: cpuMicroseconds(stage.torana.pid), ms: performance.now() }
  const file = await upload(stage, path)
  const uploadCpu = (cpuMicroseconds(stage.torana.pid) - before.cpu) / lines
  const uploadSeconds = (performance.now() - before.ms) / 1000
  const { seconds, cpuSeconds, residentMb } = await runBatches(stage, file, batches)
  const texts = lines * batches
  const cpu = (cpuSeconds * 1e6) / texts
  report.figure('bytes of the file', String(statSync(path).size))
  report.figure(
    'upload, with the scan of its lines',
    `${uploadCpu.toFixed(1)} µs of CPU a line, ${uploadSeconds.toFixed(1)} s`,
  )
  report.figure('texts a second', (texts / seconds).toFixed(0))
  report.aim('CPU of the node a text', `${cpu.toFixed(1)} µs`, `≤ ${AIM_CPU_US} µs`, cpu <= AIM_CPU_US)
  const most = Math.max(...residentMb)
  report.aim('most memory of the node', `${most.toFixed(0)} MB`, `< ${AIM_MB} MB`, most < AIM_MB)
  const [first = 0, last = 0] = [residentMb[0], residentMb.at(-1)]
  report.aim(
    'memory in the last tenth beside the first',
    (last / first).toFixed(2),
    `≤ ${AIM_GROWTH}`,
    last / first <= AIM_GROWTH,
  )
  report.figure('memory by tenths', residentMb.map((mb) => mb.toFixed(0)).join(' '))
  report.print(`C: ${texts} texts of ${width} dimensions, an upstream that costs nothing`)
  await stopAll(stage.torana.pid, upstream.pid)
}

async function measureLoop(): Promise<void> {
  const model = await startModelServer(UPSTREAM_CORE)
  const stage = await startStage({
    folder,
    baseUrl: `${model.origin}/v1`,
    upstreamModel: 'demo-embed',
    width: 512,
  })
  const count = Number(options.texts)
  const shares: number[] = []
  await loopedRate(model, sampleTexts(LOOP_INPUTS))
  for (let round = 0; round < Number(options.rounds); round += 1) {
    const texts = sampleTexts(count, undefined, (round + 1) * count)
    const file = await upload(stage, await writeLines(folder, count, (line) => texts[line] ?? String(line)))
    // The order alternates with each round: a machine that changes its speed favours neither.
    const isLoopFirst = round % 2 === 0
    const looped = isLoopFirst ? await loopedRate(model, texts) : 0
    const batched = count / (await runBatches(stage, file)).seconds
    const rate = isLoopFirst ? looped : await loopedRate(model, texts)
    shares.push(batched / rate)
    report.figure(
      `round ${round + 1}`,
      `${batched.toFixed(0)} texts a second by a batch, ${rate.toFixed(0)} by the loop`,
    )
  }
  const share = median(shares)
  report.aim('of the bare loop', spreadText(shares), `≥ ${AIM_SHARE}`, share >= AIM_SHARE)
  report.print(`L: ${count} texts in each round, with a real model`)
  await stopAll(stage.torana.pid, model.pid)
}

/** Texts per second of a script without a gateway. A refused call waits a moment, as a script would. */
async function loopedRate({ origin }: Started, texts: readonly string[]): Promise<number> {
  const startedMs = performance.now()
  let next = 0
  const loop = async (): Promise<void> => {
    for (let first = next; first < texts.length; first = next) {
      next += LOOP_INPUTS
      for (;;) {
        const answer = await fetch(`${origin}/v1/embeddings`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            model: 'demo-embed',
            input: texts.slice(first, first + LOOP_INPUTS),
            encoding_format: 'base64',
          }),
        })
        const { data } = (await answer.json()) as { data?: readonly unknown[] }
        if (answer.status === 200 && data !== undefined) break
        if (answer.status !== 429) throw new Error(`the model answered ${answer.status}`)
        await new Promise((resolve) => setTimeout(resolve, 1000))
      }
    }
  }
  await Promise.all(Array.from({ length: LOOP_CALLS }, loop))
  return texts.length / ((performance.now() - startedMs) / 1000)
}
