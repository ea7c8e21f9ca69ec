/** Draws one run: what each upstream truly was, what the node made of it, and what callers got. */
import { join } from 'node:path'
import sharp from 'sharp'
import type { DeploymentReport } from '#core/schedule/scheduler.ts'
import { consultOracle, simulate, type SentCall } from './schedule.ts'
import { scenarioOf, type Weather } from './schedule-world.ts'

const PATH = join(import.meta.dirname, '../../../docs/pictures/schedule.png')

const WIDTH = 1400
const LEFT = 170
const RIGHT = 30
const TOP = 150
const LANE = 92
const GAP = 16
const CHART = 150
const BIN_MS = 500

const COLOURS: Readonly<Record<Weather, string>> = {
  fine: '#e3f4e6',
  slow: '#ffe9a8',
  erring: '#ffcf9e',
  down: '#f2a6a0',
  hanging: '#cdb4e8',
  garbage: '#e6b8a2',
  limited: '#a9d3f5',
  limitedSilently: '#c4dff2',
  rejecting: '#c9c9c9',
}
const WORDS: Readonly<Record<Weather, string>> = {
  fine: 'fine',
  slow: 'slow',
  erring: 'some calls fail',
  down: 'down',
  hanging: 'hangs',
  garbage: 'answers garbage',
  limited: '429 with Retry-After',
  limitedSilently: '429 without',
  rejecting: 'refuses our key',
}
const INK = '#1f2933'
const FAINT = '#7b8794'
const CALLS = '#1f5fa8'
const PROBE = '#c2185b'
const EJECTED = '#30343a'
/** Height of the bar that marks it. */
const BAR = 7

export async function plot(seed: number): Promise<void> {
  const scenario = scenarioOf(seed)
  const sent: SentCall[] = []
  const answers: { readonly atMs: number; readonly isGood: boolean }[] = []
  const changes: Change[] = []
  const outcome = simulate(scenario, {
    sent: (call) => sent.push(call),
    answered: (atMs, isGood) => answers.push({ atMs, isGood }),
    changed: (atMs, deployment, state) => changes.push({ atMs, deployment, state }),
  })
  const oracle = consultOracle(scenario)

  const { durationMs, upstreams } = scenario
  const x = (ms: number): number => LEFT + (Math.min(ms, durationMs) / durationMs) * (WIDTH - LEFT - RIGHT)
  const bins = Math.ceil(durationMs / BIN_MS)
  const most = Math.max(...upstreams.flatMap(({ offer }) => perBin(callsTo(offer.deployment.id), bins)))
  const chartTop = TOP + upstreams.length * (LANE + GAP) + 24
  const height = chartTop + CHART + 64
  const parts: string[] = []

  function callsTo(id: string): number[] {
    return sent.filter(({ deployment }) => deployment === id).map(({ atMs }) => atMs)
  }

  for (const [index, { offer, slots, spells, latencyMs }] of upstreams.entries()) {
    const { id, priority, weight } = offer.deployment
    const top = TOP + index * (LANE + GAP)
    const bottom = top + LANE
    for (const [at, { fromMs, weather }] of spells.entries()) {
      const toMs = spells[at + 1]?.fromMs ?? durationMs
      if (fromMs < durationMs)
        parts.push(
          `<rect x="${x(fromMs)}" y="${top}" width="${x(toMs) - x(fromMs)}" height="${LANE}" fill="${COLOURS[weather]}"/>`,
        )
    }
    const rates = perBin(callsTo(id), bins)
    const y = (calls: number): number => bottom - 8 - (calls / most) * (LANE - 26)
    parts.push(
      text(LEFT - 12, top + 28, `deployment ${id}`, { anchor: 'end', weight: 700 }),
      text(LEFT - 12, top + 47, `priority ${priority}, weight ${weight}`, {
        anchor: 'end',
        size: 12,
        colour: FAINT,
      }),
      text(LEFT - 12, top + 64, `${slots} at once, ~${latencyMs.toFixed(0)} ms`, {
        anchor: 'end',
        size: 12,
        colour: FAINT,
      }),
      text(LEFT - 12, top + 81, `line: 0 to ${(most * 1000) / BIN_MS} calls/s`, {
        anchor: 'end',
        size: 12,
        colour: CALLS,
      }),
      line(
        rates.map((calls, bin) => [x(bin * BIN_MS), y(calls)] as const),
        BIN_MS,
        x,
        CALLS,
      ),
    )
    parts.push(
      ...closedBars(
        changes.filter(({ deployment }) => deployment === id),
        top,
        durationMs,
        x,
      ),
    )
    for (const { deployment, atMs, isProbe } of sent)
      if (deployment === id && isProbe)
        parts.push(`<path d="M ${x(atMs)} ${bottom} l -4.5 9 h 9 z" fill="${PROBE}" fill-opacity="0.85"/>`)
  }

  const total = perBin(
    answers.map(({ atMs }) => atMs),
    bins,
  )
  const good = perBin(
    answers.filter(({ isGood }) => isGood).map(({ atMs }) => atMs),
    bins,
  )
  const shares = good.map((times, bin) => (total[bin] ? times / total[bin] : 1))
  const y = (share: number): number => chartTop + CHART - share * CHART
  for (const share of [0, 0.25, 0.5, 0.75, 1])
    parts.push(
      `<path d="M ${LEFT} ${y(share)} H ${WIDTH - RIGHT}" stroke="#e4e7eb"/>`,
      text(LEFT - 12, y(share) + 4, `${share * 100} %`, { anchor: 'end', size: 12, colour: FAINT }),
    )
  const steps = shares.map((share, bin) => [x(bin * BIN_MS), y(share)] as const)
  parts.push(
    text(LEFT, chartTop - 8, 'requests answered, of those that ended in each half second', { weight: 700 }),
    line(steps, BIN_MS, x, '#2e7d32'),
  )
  for (let ms = 0; ms <= durationMs; ms += 5000)
    parts.push(
      `<path d="M ${x(ms)} ${chartTop + CHART} v 5" stroke="${FAINT}"/>`,
      text(x(ms), chartTop + CHART + 20, `${ms / 1000}`, { anchor: 'middle', size: 12, colour: FAINT }),
    )
  parts.push(
    text((LEFT + WIDTH - RIGHT) / 2, chartTop + CHART + 44, 'seconds', {
      anchor: 'middle',
      size: 13,
      colour: FAINT,
    }),
  )

  const percent = (share: number): string => `${(share * 100).toFixed(2)} %`
  const { requests } = outcome
  const title = `One node, ${upstreams.length} deployments that misbehave, ${scenario.callsPerSecond.toFixed(0)} requests a second (seed ${seed})`
  const facts =
    `${requests.toLocaleString('en')} requests: ${percent(outcome.good / requests)} answered; an oracle that knows every upstream's state: ` +
    `${percent(oracle / requests)}. Extra calls: ${percent(outcome.retries / outcome.firstCalls)}.`
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="DejaVu Sans, Liberation Sans, Arial, sans-serif">
<rect width="100%" height="100%" fill="#ffffff"/>
${text(24, 38, title, { size: 21, weight: 700 })}
${text(24, 64, facts, { size: 14, colour: FAINT })}
${legend(new Set(upstreams.flatMap(({ spells }) => spells.filter(({ fromMs }) => fromMs < durationMs).map(({ weather }) => weather))))}
${parts.join('\n')}
</svg>`
  const { size } = await sharp(Buffer.from(svg)).png({ palette: true, compressionLevel: 9 }).toFile(PATH)
  console.log(`${PATH}: ${(size / 1024).toFixed(0)} KB`)
}

function perBin(timesMs: readonly number[], bins: number): number[] {
  const counts = Array.from({ length: bins }, () => 0)
  for (const ms of timesMs) {
    const bin = Math.floor(ms / BIN_MS)
    if (bin < bins) counts[bin] = (counts[bin] as number) + 1
  }
  return counts
}

/** Steps: each value holds for its bin. */
function line(
  points: readonly (readonly [number, number])[],
  binMs: number,
  x: (ms: number) => number,
  colour: string,
): string {
  const steps = points.map(
    ([px, py], bin) => `${bin === 0 ? 'M' : 'L'} ${px} ${py} H ${x((bin + 1) * binMs)}`,
  )
  return `<path d="${steps.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.8"/>`
}

function legend(weathers: ReadonlySet<Weather>): string {
  let left = 24
  const parts: string[] = [text(left, 96, 'truth:', { size: 13, weight: 700 })]
  left += 54
  for (const weather of weathers) {
    parts.push(
      `<rect x="${left}" y="84" width="16" height="14" fill="${COLOURS[weather]}" stroke="#9aa5b1" stroke-width="0.6"/>`,
      text(left + 22, 96, WORDS[weather], { size: 13 }),
    )
    left += 44 + WORDS[weather].length * 7.4
  }
  parts.push(
    text(24, 124, 'node:', { size: 13, weight: 700 }),
    `<path d="M 78 119 h 24" stroke="${CALLS}" stroke-width="2"/>`,
    text(108, 124, 'calls a second', { size: 13 }),
    `<rect x="226" y="115" width="26" height="${BAR}" fill="${EJECTED}"/>`,
    text(258, 124, 'ejected: gets probes only', { size: 13 }),
    `<rect x="446" y="115" width="26" height="${BAR}" fill="${CALLS}"/>`,
    text(478, 124, 'closed because it said 429', { size: 13 }),
    `<path d="M 690 114 l -4.5 9 h 9 z" fill="${PROBE}"/>`,
    text(702, 124, 'probe: one real request', { size: 13 }),
  )
  return parts.join('\n')
}

interface Change {
  readonly atMs: number
  readonly deployment: string
  readonly state: DeploymentReport['state']
}

/** When the node kept a deployment from its callers. */
function closedBars(
  changes: readonly Change[],
  top: number,
  durationMs: number,
  x: (ms: number) => number,
): string[] {
  return changes.flatMap(({ atMs, state }, index) => {
    if (state === 'healthy') return []
    const toMs = changes[index + 1]?.atMs ?? durationMs
    const colour = state === 'limited' ? CALLS : EJECTED
    const width = Math.max(1, x(toMs) - x(atMs))
    return [`<rect x="${x(atMs)}" y="${top}" width="${width}" height="${BAR}" fill="${colour}"/>`]
  })
}

interface Style {
  readonly size?: number
  readonly weight?: number
  readonly anchor?: 'start' | 'middle' | 'end'
  readonly colour?: string
}

function text(x: number, y: number, words: string, style: Style = {}): string {
  const { size = 14, weight = 400, anchor = 'start', colour = INK } = style
  return `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" fill="${colour}">${words}</text>`
}
