/**
 * Torana and other gateways: the same upstream, the same rates, the same cores, one gateway at a time, alternating with the
 * bare proxy; then the answer of each when an upstream misbehaves. `npm run lab -- bench/peers --install` installs the
 * others, `-- --only torana-memory,bifrost --cases base64 --rates 100,500` measures some (`none` for no case or rate),
 * `-- --answers-only` only asks, `-- --write` keeps the figures. All of it takes some forty minutes.
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
import { measureContender, runOf } from './peers/measure.ts'
import { OTHERS } from './peers/others.ts'
import { BARE, TORANA } from './peers/own.ts'
import { machineText, writeFigures } from './peers/write.ts'
import { startNginx } from './parts.ts'
import { stopAll } from '../processes.ts'
import { startProvider } from '../provider.ts'
import { writeResults } from '../report.ts'

const { values: options } = parseArgs({
  options: {
    install: { type: 'boolean', default: false },
    only: { type: 'string' },
    cases: { type: 'string' },
    rates: { type: 'string', default: '20,100,500,1000' },
    windows: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '6' },
    warmup: { type: 'string', default: '6' },
    'no-answers': { type: 'boolean', default: false },
    'answers-only': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
/** The value of an option that leaves its part out. */
const NONE = 'none'
const [GATEWAY_CORE, LOAD_CORE] = [0, 1]
const ALL: readonly Contender[] = [BARE, ...TORANA, ...OTHERS]
/** One of each program is asked. */
const ASKED = new Set(['torana-strict', 'portkey', 'bifrost', 'litellm'])

if (options.install) installPeers()
else await measureAll()

async function measureAll(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'torana-peers-'))
  const contenders: ContenderFigures[] = []
  try {
    for (const contender of chosen(ALL, options.only))
      try {
        contenders.push(await figuresOf(contender, join(folder, contender.id)))
      } catch (error) {
        // One that fails must not cost the figures of the others.
        console.log(`SKIPPED ${contender.name}: ${error instanceof Error ? error.message : String(error)}`)
        process.exitCode = 1
      } finally {
        await stopAll()
      }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const figures = { machine: machineText(), contenders }
  writeResults('peers', figures)
  if (options.write) writeFigures(figures)
}

async function figuresOf(contender: Contender, folder: string): Promise<ContenderFigures> {
  if (contender.version() === undefined) throw new Error('it is not installed: run with --install')
  const cores = contender.cores === 2 ? `${GATEWAY_CORE},${LOAD_CORE}` : String(GATEWAY_CORE)
  const stage = { cores, loadCore: LOAD_CORE }
  const isAskedOnly = options['answers-only']
  mkdirSync(folder)
  const provider = await startProvider(LOAD_CORE, folder)
  const { origin } = await startNginx(folder, LOAD_CORE, await fixedAnswers(provider))
  const upstreams = CASES.map(({ id, kind }) => ({ name: id, kind, baseUrl: `${origin}/${id}/v1` }))
  const bare = await BARE.start({ ...stage, cores: String(GATEWAY_CORE), upstreams, folder })
  const parts = { bare, stage: { ...stage, folder, upstreams } }
  const measured = await measureContender(contender, parts, {
    cases: isAskedOnly ? [] : chosen(CASES, options.cases),
    rates: isAskedOnly || options.rates === NONE ? [] : options.rates.split(',').map(Number),
    windows: Number(options.windows),
    seconds: Number(options.seconds),
    warmupSeconds: Number(options.warmup),
  })
  if (options['no-answers'] || !ASKED.has(contender.id)) return measured
  const asked = { ...stage, folder: join(folder, 'asked'), upstreams: questionUpstreams(provider.origin) }
  const texts = await answersIn(contender, asked)
  console.log(`${contender.name}: ${JSON.stringify(texts, undefined, 2)}`)
  return { ...measured, answers: { ...runOf(contender), texts } }
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
  if (ids === NONE) return []
  const wanted = ids?.split(',')
  for (const id of wanted ?? [])
    if (!all.some((one) => one.id === id))
      throw new Error(`there is no ${id}; there are ${all.map((one) => one.id).join(', ')}`)
  return wanted === undefined ? all : all.filter(({ id }) => wanted.includes(id))
}
