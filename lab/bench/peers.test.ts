import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64Of, vectorOf } from '../fake-provider/vectors.ts'
import { judged, QUESTIONS } from './peers/answers.ts'
import { publishedFigures } from '../book/publish.ts'
import { peerParts } from './peers/document.ts'
import { mergedFigures, type CaseFigures, type ContenderFigures, type PeerFigures } from './peers/figures.ts'
import { readmePlots } from './peers/readme-plot.ts'
import { figuresById, keptFigures } from './peers/write.ts'

const TEXTS = ['one', 'two', 'three']

const RUN = { day: '2026-11-16', commit: 'abc1234', version: '1.0', load: 2.04 }

function caseOf(cpuUs: number): CaseFigures {
  const cpuWindows = [cpuUs + 1, cpuUs, cpuUs - 1]
  return { ...RUN, requestsPerSecond: 1_000_000 / cpuUs, cpuUs, cpuWindows, storesCpuUs: 0, bareCpuUs: 50 }
}

function figuresOf(id: string, cpuUs: number, p50Ms = 3): ContenderFigures {
  const rate = { perSecond: 100, p50Ms, p99Ms: 9, bareP50Ms: 1, bareP99Ms: 2 }
  const answers = { ...RUN, texts: Object.fromEntries(QUESTIONS.map(({ name }) => [name, 'right'])) }
  return {
    id,
    name: id,
    settings: 'none',
    cores: 1,
    start: { ...RUN, seconds: 1, idleMegabytes: 90, usedMegabytes: 200 },
    cases: { base64: caseOf(cpuUs) },
    latency: { ...RUN, rates: [rate], tooMuch: 500 },
    answers,
  }
}

const FIGURES: PeerFigures = {
  machine: 'two cores',
  contenders: [figuresOf('bare', 50), figuresOf('torana-strict', 100), figuresOf('slow', 1234)],
}

test('the page has each figure, with the run that measured it', () => {
  const parts = peerParts(FIGURES)
  assert.match(parts['peers-cpu'] ?? '', /\| slow \| 810 \| 1,234 µs \| 25× \| 1\.0, 2026-11-16 \|/)
  assert.match(parts['peers-latency'] ?? '', /\| slow \| 2\.0 \/ 7\.0 ms \|/)
  assert.match(parts['peers-start'] ?? '', /\| slow \| 1\.0 s \| 90 MB \| 200 MB \| 1\.0, 2026-11-16 \|/)
})

test('a rate that a gateway does not sustain is named as such', () => {
  const fast = figuresOf('torana-strict', 100)
  const rates = [
    ...(fast.latency?.rates ?? []),
    { perSecond: 500, p50Ms: 3, p99Ms: 9, bareP50Ms: 1, bareP99Ms: 2 },
  ]
  const { 'peers-latency': table = '' } = peerParts({
    ...FIGURES,
    contenders: [{ ...fast, latency: { ...RUN, rates } }, figuresOf('slow', 1234)],
  })
  assert.match(table, /\| slow \| 2\.0 \/ 7\.0 ms \| more than it sustains \|/)
})

test('latencies of another run are not compared', () => {
  const old = figuresOf('old', 200)
  const { 'peers-latency': table = '' } = peerParts({
    ...FIGURES,
    contenders: [
      figuresOf('torana-strict', 100),
      { ...old, latency: { ...RUN, commit: 'def5678', rates: old.latency?.rates ?? [] } },
    ],
  })
  assert.doesNotMatch(table, /\| old \|/)
})

test('a gateway that has the better figure is named with it', () => {
  const lean = figuresOf('lean', 80, 1.5)
  const { 'peers-better': lines = '' } = peerParts({ ...FIGURES, contenders: [...FIGURES.contenders, lean] })
  assert.match(lines, /\*\*lean\*\* adds 0\.5 ms at 100 requests per second \(Torana 2\.0 ms\); uses 1\.6×/)
  assert.doesNotMatch(lines, /\*\*slow\*\*/)
})

test('a longer bar of the chart stands for more, and the longest is cut', () => {
  const contenders = [figuresOf('torana-strict', 100), figuresOf('portkey', 500), figuresOf('litellm', 9000)]
  const { 'pictures/readme-chart-light.svg': chart = '' } = readmePlots(contenders)
  const widths = Array.from(chart.matchAll(/<rect x="224" y="\d+" width="([\d.]+)"/g), ([, width]) =>
    Number(width),
  )
  assert.equal(widths.length, 3)
  assert.ok((widths[0] ?? 0) < (widths[1] ?? 0) && (widths[1] ?? 0) < (widths[2] ?? 0), String(widths))
  assert.match(chart, /bar cut short/)
})

test('a later run keeps what it did not measure again, with its day', () => {
  const later: PeerFigures = {
    machine: 'two cores',
    contenders: [
      {
        id: 'slow',
        name: 'slow',
        settings: 'none',
        cores: 1,
        cases: { float: { ...caseOf(900), day: '2026-11-18' } },
      },
    ],
  }
  const slow = mergedFigures(FIGURES, later).contenders.find(({ id }) => id === 'slow')
  assert.equal(slow?.cases.base64?.day, '2026-11-16')
  assert.equal(slow?.cases.float?.day, '2026-11-18')
  assert.equal(slow?.latency?.tooMuch, 500)
})

test('a figure that pages cite is that of the measurement', () => {
  const published = Object.entries(publishedFigures()).filter(([id]) => id.startsWith('peers.'))
  assert.deepEqual(Object.fromEntries(published), figuresById(keptFigures()))
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
