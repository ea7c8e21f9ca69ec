import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { base64Of, vectorOf } from '../fake-provider/vectors.ts'
import { judged, QUESTIONS } from './peers/answers.ts'
import { benchmarksPage, timesOwn } from './peers/document.ts'
import { mergedFigures, type CaseFigures, type ContenderFigures, type Figures } from './peers/figures.ts'
import { cpuPlot } from './peers/plot.ts'
import { benchmarkFiles, keptFigures } from './peers/write.ts'

const DOCS = join(import.meta.dirname, '../../docs')
const TEXTS = ['one', 'two', 'three']

function caseOf(cpuUs: number): CaseFigures {
  const halfLoad = { requestsPerSecond: 100, p50Ms: 3, p99Ms: 9, bareP50Ms: 1, bareP99Ms: 2 }
  const cpuWindows = [cpuUs + 1, cpuUs, cpuUs - 1]
  return { requestsPerSecond: 1_000_000 / cpuUs, cpuUs, cpuWindows, storesCpuUs: 0, bareCpuUs: 50, halfLoad }
}

function figuresOf(id: string, cpuUs: number): ContenderFigures {
  const about = { name: id, version: '1.0', settings: 'none', cores: 1 as const, day: '2026-11-16' }
  return {
    id,
    ...about,
    startSeconds: 1,
    idleMegabytes: 90,
    usedMegabytes: 200,
    cases: { base64: caseOf(cpuUs) },
  }
}

const RUN: Figures = {
  machine: 'two cores',
  contenders: [figuresOf('bare', 50), figuresOf('torana-memory', 100), figuresOf('slow', 1234)],
  skipped: { absent: 'it is not installed' },
}

test('the page tells each figure, how many times Torana it is, and what was skipped', () => {
  const page = benchmarksPage(RUN)
  assert.match(page, /\| slow \| 810 \| 1,234 \| {2}\| 0\.041 \| 12 \| 1,233 1,234 1,235 \|/)
  assert.match(page, /\*\*absent\*\* was not measured: it is not installed/)
  assert.match(page, /\| slow \| 8 KB base64 \| 100 \| 2\.0 \| 7\.0 \|/)
  assert.equal(timesOwn(RUN.contenders, RUN.contenders[1] as ContenderFigures, 'base64'), '1.0')
})

test('a peer that has the better figure is named with it', () => {
  const lean = { ...figuresOf('lean', 80), idleMegabytes: 20 }
  const page = benchmarksPage({ ...RUN, contenders: [...RUN.contenders, lean] })
  assert.match(
    page,
    /\*\*lean\*\* takes 20 MB at rest \(Torana 90 MB\); took 80 µs for 8 KB base64 on 2026-11-16\./,
  )
  assert.doesNotMatch(page, /\*\*slow\*\* takes/)
})

test('a part that was measured again says so, and its newer figures decide who is better', () => {
  const contenders = {
    'torana-memory': { cpuUs: 70, timesBare: 1.4 },
    lean: { cpuUs: 80, timesBare: 1.6 },
  }
  const remeasured = [{ day: '2026-11-18', case: 'base64', arguments: '--cases base64', contenders } as const]
  const run: Figures = { ...RUN, contenders: [...RUN.contenders, figuresOf('lean', 80)], remeasured }
  const page = benchmarksPage(run)
  assert.match(page, /\*\*Measured again on 2026-11-18\*\*.* lean took 80 µs, 1\.6 times the bare proxy/)
  assert.doesNotMatch(page, /\*\*lean\*\* .*took/)
  assert.equal(mergedFigures(run, { ...RUN, contenders: [] }).remeasured?.length, 1)
  assert.equal(mergedFigures(run, RUN).remeasured?.length, 0)
})

test('a longer bar stands for more', () => {
  const widths = Array.from(
    cpuPlot(RUN.contenders).matchAll(/<rect x="260" y="\d+" width="([\d.]+)"/g),
    ([, width]) => Number(width),
  )
  assert.equal(widths.length, 3)
  assert.deepEqual(
    widths,
    widths.toSorted((left, right) => left - right),
  )
})

test('a later run keeps what it did not measure again', () => {
  const later: Figures = {
    machine: 'two cores',
    contenders: [{ ...figuresOf('slow', 900), cases: { float: caseOf(900) } }, figuresOf('absent', 70)],
    skipped: {},
  }
  const merged = mergedFigures(RUN, later)
  const slow = merged.contenders.find(({ id }) => id === 'slow')
  assert.equal(slow?.cases.base64?.cpuUs, 1234)
  assert.equal(slow?.cases.float?.cpuUs, 900)
  assert.deepEqual(merged.skipped, {})
})

test('the page of the repository is that of its figures', () => {
  const figures = keptFigures()
  if (figures === undefined) return
  for (const [name, text] of Object.entries(benchmarkFiles(figures)))
    assert.equal(readFileSync(join(DOCS, name), 'utf8'), text, name)
})

test('an answer is right only if each vector is that of its text, in the form that was asked for', () => {
  const question = {
    ...QUESTIONS[0],
    scenario: 'plain',
    name: 'plain',
    texts: 3,
    encoding: 'base64' as const,
  }
  const body = (vectors: readonly unknown[], indexes = [0, 1, 2]): string =>
    JSON.stringify({ data: vectors.map((embedding, at) => ({ embedding, index: indexes[at] })) })
  const right = TEXTS.map((text) => vectorOf(text, 1536))
  const base64 = right.map(base64Of)
  assert.equal(judged(body(base64), TEXTS, question), 'right')
  assert.match(judged(body(base64.toReversed(), [2, 1, 0]), TEXTS, question), /as it came/)
  assert.match(judged(body(base64.toReversed()), TEXTS, question), /wrong values/)
  assert.match(judged(body(base64, [0, 1, 1]), TEXTS, question), /an index twice/)
  assert.match(judged(body(base64.slice(1)), TEXTS, question), /2 vectors for 3 texts/)
  assert.match(judged(body(right.map((vector) => [...vector])), TEXTS, question), /float instead of base64/)
  assert.match(judged('<html>', TEXTS, question), /not JSON/)
})

test('the figures of the README are those of the measurement', () => {
  const figures = keptFigures()
  if (figures === undefined) return
  const readme = readFileSync(join(DOCS, '../README.md'), 'utf8')
  const found = (id: string): ContenderFigures =>
    figures.contenders.find((one) => one.id === id) as ContenderFigures
  const times = (id: string): string => {
    const { cpuUs, bareCpuUs } = found(id).cases.base64 as CaseFigures
    return (cpuUs / bareCpuUs).toFixed(cpuUs / bareCpuUs < 100 ? 1 : 0)
  }
  const passedOn = (id: string): number =>
    Object.values(found(id).answers ?? {}).filter((answer) => answer.includes('passed on')).length
  const bars = (
    [
      ['Torana', 'torana-strict', 'torana-memory'],
      ['Portkey', 'portkey', 'portkey'],
      ['Bifrost', 'bifrost', 'bifrost'],
      ['LiteLLM', 'litellm', 'litellm'],
    ] as const
  ).map(([name, id, asked]) => `${name} ${times(id)} and ${passedOn(asked)}`)
  assert.ok(readme.includes(bars.join(', ')), bars.join(', '))
  const latencyOf = (id: string): string => {
    const { halfLoad } = found(id).cases.base64 as CaseFigures
    const added = (halfLoad.p50Ms - halfLoad.bareP50Ms).toFixed(1)
    return `${added} ms[^.]* at ${Math.round(halfLoad.requestsPerSecond).toLocaleString('en-US')}`
  }
  for (const id of ['torana-strict', 'bifrost']) assert.match(readme, new RegExp(latencyOf(id)), id)
})
