/**
 * Torana beside other gateways: the same upstream, the same load, the same cores, one gateway at a time, alternating with
 * the bare proxy; then the answer of each when an upstream misbehaves. `npm run lab -- bench/peers --install` installs the
 * others, `-- --only torana-memory,bifrost --cases base64` measures some, `-- --answers-only` only asks, `-- --write` puts
 * the figures into docs/benchmarks.md beside the earlier ones. All of it takes some forty minutes.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { answersOf, questionUpstreams } from './peers/answers.ts'
import { CASES, fixedAnswers } from './peers/cases.ts'
import type { Contender, Stage } from './peers/contender.ts'
import type { ContenderFigures } from './peers/figures.ts'
import { installPeers } from './peers/install.ts'
import { measureContender } from './peers/measure.ts'
import { OTHERS } from './peers/others.ts'
import { BARE, TORANA } from './peers/own.ts'
import { machineText, writeBenchmarks } from './peers/write.ts'
import { startNginx } from './parts.ts'
import { stopAll } from '../processes.ts'
import { startProvider } from '../provider.ts'
import { writeResults } from '../report.ts'

const { values: options } = parseArgs({
  options: {
    install: { type: 'boolean', default: false },
    only: { type: 'string' },
    cases: { type: 'string' },
    windows: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '6' },
    warmup: { type: 'string', default: '6' },
    'no-answers': { type: 'boolean', default: false },
    'answers-only': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const [GATEWAY_CORE, LOAD_CORE] = [0, 1]
const ALL: readonly Contender[] = [BARE, ...TORANA, ...OTHERS]
/** One of each program is asked. */
const ASKED = new Set(['torana-memory', 'portkey', 'bifrost', 'litellm'])

if (options.install) installPeers()
else await measureAll()

async function measureAll(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'torana-peers-'))
  const contenders: ContenderFigures[] = []
  const skipped: Record<string, string> = {}
  try {
    for (const contender of chosen(ALL, options.only))
      try {
        contenders.push(await figuresOf(contender, join(folder, contender.id)))
      } catch (error) {
        // One that fails must not cost the figures of the others.
        skipped[contender.name] = error instanceof Error ? error.message : String(error)
        console.log(`SKIPPED ${contender.name}: ${skipped[contender.name]}`)
      } finally {
        await stopAll()
      }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const figures = { machine: machineText(), contenders, skipped }
  writeResults('peers', figures)
  if (options.write) writeBenchmarks(figures)
}

async function figuresOf(contender: Contender, folder: string): Promise<ContenderFigures> {
  if (contender.version() === undefined) throw new Error('it is not installed: run with --install')
  const cores = contender.cores === 2 ? `${GATEWAY_CORE},${LOAD_CORE}` : String(GATEWAY_CORE)
  const stage = { cores, loadCore: LOAD_CORE }
  const cases = options['answers-only'] ? [] : chosen(CASES, options.cases)
  mkdirSync(folder)
  const provider = await startProvider(LOAD_CORE, folder)
  const { origin } = await startNginx(folder, LOAD_CORE, await fixedAnswers(provider))
  const upstreams = CASES.map(({ id, kind }) => ({ name: id, kind, baseUrl: `${origin}/${id}/v1` }))
  const bare = await BARE.start({ ...stage, cores: String(GATEWAY_CORE), upstreams, folder })
  const parts = { bare, stage: { ...stage, folder, upstreams } }
  const measured = await measureContender(contender, parts, {
    cases,
    windows: Number(options.windows),
    seconds: Number(options.seconds),
    warmupSeconds: Number(options.warmup),
  })
  if (options['no-answers'] || !ASKED.has(contender.id)) return measured
  const asked = { ...stage, folder: join(folder, 'asked'), upstreams: questionUpstreams(provider.origin) }
  const answers = await answersIn(contender, asked)
  console.log(`${contender.name}: ${JSON.stringify(answers, undefined, 2)}`)
  return { ...measured, answers }
}

async function answersIn(contender: Contender, stage: Stage): Promise<Record<string, string>> {
  mkdirSync(stage.folder, { recursive: true })
  const running = await contender.start(stage)
  try {
    return await answersOf(running)
  } finally {
    await running.stop()
  }
}

function chosen<One extends { readonly id: string }>(
  all: readonly One[],
  ids: string | undefined,
): readonly One[] {
  const wanted = ids?.split(',')
  for (const id of wanted ?? [])
    if (!all.some((one) => one.id === id))
      throw new Error(`there is no ${id}; there are ${all.map((one) => one.id).join(', ')}`)
  return wanted === undefined ? all : all.filter(({ id }) => wanted.includes(id))
}
