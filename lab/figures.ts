/**
 * `npm run lab -- figures`: fills docs/figures.json, and the figures behind docs/benchmarks.md and docs/sizing.md, with one run of
 * every program that measures. It publishes only what was measured on a quiet machine: it refuses to begin on a busy one, looks at the
 * machine during each program, and takes back what a disturbed or failed program wrote. `--only bench/peers,bench/scale` runs
 * some, `--proofs` also those that break things, `--quick` runs a short form of each and publishes nothing. The peers must be
 * installed (`bench/peers --install`).
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { MEASUREMENTS, type Measurement } from './figures-programs.ts'
import { disturbanceBetween, disturbanceText, disturbedText, lookAtMachine } from './machine.ts'
import { ended, runProgram } from './main.ts'
import { INCOMPLETE, loadText, print } from './report.ts'

const ROOT = join(import.meta.dirname, '..')
/** Whatever a program publishes. */
const KEPT = ['docs/figures.json', 'lab/bench/peers/figures.json', 'lab/bench/scale/figures.json']
/** How long the idle machine is looked at, and how often before it counts as busy: work of the program before may go on for a while. */
const [LOOK_MS, LOOKS] = [10_000, 6]

if (import.meta.main) {
  const { values: options } = parseArgs({
    options: {
      only: { type: 'string' },
      proofs: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
    },
  })
  process.exitCode = await measureAll(chosen(options.only, options.proofs), options.quick)
}

/** The exit code. */
async function measureAll(measurements: readonly Measurement[], isQuick: boolean): Promise<number> {
  const minutes = measurements.reduce((sum, one) => sum + one.minutes, 0)
  if (!isQuick) {
    console.log(`${measurements.length} programs, about ${minutes} minutes; nothing else may run meanwhile`)
    const problem = unnamedWork() ?? (await busyText())
    if (problem !== undefined) {
      console.error(`Nothing was measured: ${problem}`)
      return 1
    }
  }
  // Programs that measure the package measure this commit.
  if ((await ended('npm', ['run', 'build'], {})) !== 0) return 1
  const rows: string[][] = []
  let isWhole = true
  for (const one of measurements) {
    const { isGood, row } = await measure(one, isQuick)
    rows.push(row)
    isWhole &&= isGood
    // Without knowing the noise, no other figure means anything.
    if (!isGood && one.isGate && !isQuick) break
  }
  print([['program', 'minutes', 'the machine', 'figures'], ...rows])
  if (!isQuick && (await ended('npm', ['run', 'generate'], {})) !== 0) return 1
  return isWhole ? 0 : 1
}

/** `isGood`: it ran, and its figures count. */
async function measure(
  { program, options, quick, isGate }: Measurement,
  isQuick: boolean,
): Promise<{ readonly isGood: boolean; readonly row: string[] }> {
  const before = KEPT.map(contentOf)
  const busy = isQuick ? undefined : await busyText()
  const startedMs = performance.now()
  const machine = lookAtMachine()
  console.log(`\n== ${program} ${(isQuick ? quick : options).join(' ')}; ${loadText()}`)
  const code = busy === undefined ? await runProgram(program, isQuick ? quick : [...options, '--write']) : 1
  const seen = disturbanceBetween(machine, lookAtMachine())
  const whyNot =
    busy ??
    (code === 0 || code === INCOMPLETE ? undefined : `failed with ${code}`) ??
    (isQuick ? undefined : disturbedText(seen))
  if (whyNot !== undefined)
    KEPT.forEach((file, index) => writeFileSync(join(ROOT, file), before[index] ?? ''))
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1)
  const good = `${isQuick ? 'ran' : 'published'}${code === 0 ? '' : ', but see what it said'}`
  const outcome = whyNot === undefined ? good : `not published: ${whyNot}`
  const row = [`${program}${isGate ? ' (gate)' : ''}`, minutes, disturbanceText(seen), outcome]
  return { isGood: whyNot === undefined, row }
}

/** Figures name a commit: it must be the code that ran. */
function unnamedWork(): string | undefined {
  const changed = execFileSync(
    'git',
    ['-C', ROOT, 'status', '--porcelain', '--', 'server', 'lab', 'console'],
    {
      encoding: 'utf8',
    },
  )
  const others = changed.split('\n').filter((line) => line !== '' && !KEPT.includes(line.slice(3)))
  return others.length === 0 ? undefined : `commit first, figures name a commit:\n${others.join('\n')}`
}

/** Undefined: the machine is quiet. */
async function busyText(): Promise<string | undefined> {
  let text: string | undefined
  for (let look = 0; look < LOOKS; look += 1) {
    const before = lookAtMachine()
    await wait(LOOK_MS)
    text = disturbedText(disturbanceBetween(before, lookAtMachine()))
    if (text === undefined) return undefined
  }
  return `the machine is not quiet: ${text}`
}

function contentOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

function chosen(only: string | undefined, withProofs: boolean): readonly Measurement[] {
  const names = only?.split(',')
  for (const name of names ?? [])
    if (!MEASUREMENTS.some(({ program }) => program === name))
      throw new Error(`${name} is not one of ${MEASUREMENTS.map(({ program }) => program).join(', ')}`)
  return MEASUREMENTS.filter(
    ({ program, isProof = false }) => names?.includes(program) ?? (withProofs || !isProof),
  )
}
