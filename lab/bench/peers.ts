/**
 * Torana and other gateways: the same upstream, the same rates, the same cores, one gateway at a time, alternating with the
 * bare proxy; then the answer of each when an upstream misbehaves. `npm run lab -- bench/peers --install` installs the
 * others, `-- --only torana-memory,bifrost --cases base64 --rates 100,500` measures some (`none` for no case or rate),
 * `-- --answers-only` only asks, `-- --quick` is a short look, `-- --write` keeps the figures of a whole run, so that all gateways
 * have the same rates in the same hour. All of it takes some forty minutes.
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
import { INCOMPLETE, writeResults } from '../report.ts'

const { values: options } = parseArgs({
  options: {
    install: { type: 'boolean', default: false },
    only: { type: 'string' },
    cases: { type: 'string' },
    rates: { type: 'string' },
    windows: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    warmup: { type: 'string', default: '4' },
    quick: { type: 'boolean', default: false },
    'no-answers': { type: 'boolean', default: false },
    'answers-only': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
/** One window of the first rate and the first case. */
const QUICK = { cases: 'base64', rates: '20', windows: '1', seconds: '3', warmup: '3' }
const scope = options.quick ? { ...options, ...QUICK } : options
/** The value of an option that leaves its part out. */
const NONE = 'none'
/** Requests per second of every gateway: from one that the slowest sustains to one that needs most of a core. */
const RATES: readonly number[] = [20, 100, 500, 1000]
const [GATEWAY_CORE, LOAD_CORE] = [0, 1]
const ALL: readonly Contender[] = [BARE, ...TORANA, ...OTHERS]
/** One of each program is asked. */
const ASKED = new Set(['torana-strict', 'portkey', 'bifrost', 'litellm'])

if (options.install) installPeers()
else await measureAll()

async function measureAll(): Promise<void> {
  if (options.write && (options.only ?? options.cases ?? options.rates) !== undefined)
    throw new Error('--write keeps a whole run: gateways of different runs are not compared')
  const folder = mkdtempSync(join(tmpdir(), 'torana-peers-'))
  const contenders: ContenderFigures[] = []
  try {
    for (const contender of chosen(ALL, options.only))
      try {
        contenders.push(await figuresOf(contender, join(folder, contender.id)))
      } catch (error) {
        // One that fails must not cost the figures of the others.
        console.log(`SKIPPED ${contender.name}: ${error instanceof Error ? error.message : String(error)}`)
        process.exitCode = INCOMPLETE
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
  const [version, { pinned = version }] = [contender.version(), contender]
  if (version === undefined || version !== pinned)
    throw new Error(`${pinned} is measured, ${version ?? 'none'} is installed: run with --install`)
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
    cases: isAskedOnly ? [] : chosen(CASES, scope.cases),
    // With both cores it shares one with the load, which would be part of its latency.
    rates: isAskedOnly || scope.rates === NONE || contender.cores === 2 ? [] : ratesOf(scope.rates),
    windows: Number(scope.windows),
    seconds: Number(scope.seconds),
    warmupSeconds: Number(scope.warmup),
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

function ratesOf(text: string | undefined): readonly number[] {
  return text?.split(',').map(Number) ?? RATES
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
