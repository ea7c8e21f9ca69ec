/**
 * The chart of README.md: the cost of one embeddings request, and the faults of an upstream that reach the caller. Linear,
 * one case.
 */
import { countsOf, QUESTIONS } from './answers.ts'
import { countText, timesText, type CaseFigures, type ContenderFigures } from './figures.ts'

interface Theme {
  readonly page: string
  readonly ink: string
  readonly quiet: string
  readonly line: string
  readonly own: string
  readonly other: string
  readonly bad: string
}

/** The colours of the console. */
const THEMES = {
  light: {
    page: '#ffffff',
    ink: '#1a1b1e',
    quiet: '#53565c',
    line: '#e5e4e0',
    own: '#2b59c3',
    other: '#8d9097',
    bad: '#d23a2c',
  },
  dark: {
    page: '#17181b',
    ink: '#ececee',
    quiet: '#acb0b7',
    line: '#2a2c31',
    own: '#8fb2ff',
    other: '#747881',
    bad: '#e8604f',
  },
} as const satisfies Record<string, Theme>

/** The rows, with what each gateway does in this setup. */
const ROWS: readonly (readonly [id: string, does: string])[] = [
  ['torana-strict', 'ledger in PostgreSQL'],
  ['portkey', 'no keys, no ledger'],
  ['bifrost', 'virtual key, log in SQLite'],
  ['litellm', 'master key, no database'],
]
const CASE = 'base64'
/** In lines: SVG breaks none. */
const FOOT = [
  'Bars are ratios to a bare proxy that took turns with each gateway on the same core; microseconds are medians as measured. The gateways',
  'do not do the same work: Torana commits each request to PostgreSQL before it answers (hatched: CPU of PostgreSQL and Redis); Portkey',
  'and LiteLLM keep no records in these setups. Other sizes, latency, and the cases in which the others are better: docs/benchmarks.md',
]

const [WIDTH, LEFT, TOP, ROW, BAR] = [1000, 224, 128, 59, 17]
/** Of one time the bare proxy. A longer bar than the axis is cut, and says so. */
const [UNIT, AXIS_TIMES] = [22.8, 16]
const [SQUARE, SQUARES_LEFT] = [19.5, 700]

interface Measured {
  readonly one: ContenderFigures
  readonly does: string
  readonly figures: CaseFigures
  readonly answers: Readonly<Record<string, string>>
}

/** Rows that were measured and asked. */
function measuredRows(contenders: readonly ContenderFigures[]): readonly Measured[] {
  return ROWS.flatMap(([id, does]) => {
    const one = contenders.find((each) => each.id === id)
    const [figures, answers] = [one?.cases[CASE], one?.answers?.texts]
    return one && figures && answers ? [{ one, does, figures, answers }] : []
  })
}

/** By their paths below `docs`. */
export function readmePlots(contenders: readonly ContenderFigures[]): Readonly<Record<string, string>> {
  const rows = measuredRows(contenders)
  return Object.fromEntries(
    Object.entries(THEMES).map(([name, theme]) => [`pictures/readme-chart-${name}.svg`, plotOf(rows, theme)]),
  )
}

/** The chart on a page, with its figures as text. `folder`: of the charts, as the page links to it. */
export function chartPart(contenders: readonly ContenderFigures[], folder: string): string {
  const rows = measuredRows(contenders)
  const texts = rows.map(
    ({ one, figures, answers }) =>
      `${nameOf(one)} ${timesText(costOf(figures).cpu)} and ${countsOf(answers).passedOn}`,
  )
  return `<picture>
  <source media="(prefers-color-scheme: dark)" srcset="${folder}readme-chart-dark.svg">
  <img alt="CPU per request as a multiple of a bare Node.js proxy, and the number of ${QUESTIONS.length} upstream faults that reach the caller: ${texts.join(', ')}" src="${folder}readme-chart-light.svg">
</picture>`
}

function daysText(rows: readonly Measured[]): string {
  const days = [...new Set(rows.map(({ figures }) => figures.day))].toSorted()
  const text = (day: string | undefined): string =>
    new Date(day ?? '').toLocaleDateString('en-GB', {
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      timeZone: 'UTC',
    })
  return days.length < 2 ? text(days[0]) : `${text(days[0])} to ${text(days.at(-1))}`
}

function plotOf(rows: readonly Measured[], theme: Theme): string {
  const bottom = TOP + ROW * rows.length
  const height = bottom + 98
  const tick = (times: number, text: string): string => {
    const at = LEFT + times * UNIT
    return `<path d="M${at} ${TOP - 4}V${bottom}" stroke="${theme.line}"/><text x="${at}" y="${bottom + 18}" text-anchor="middle" fill="${theme.quiet}">${text}</text>`
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="Inter, system-ui, -apple-system, 'Segoe UI', sans-serif" font-size="13">
<title>What an embedding request costs, and what gets through</title>
<desc>${rows.map(descriptionOf).join(' ')}</desc>
<defs><pattern id="stores" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V5" stroke="${theme.own}" stroke-width="4"/></pattern></defs>
<rect width="${WIDTH}" height="${height}" rx="8" fill="${theme.page}"/>
<text x="28" y="42" font-size="20" font-weight="650" fill="${theme.ink}">What an embedding request costs, and what gets through</text>
<text x="28" y="66" font-size="14" fill="${theme.quiet}">8 KB base64 answer, one core per gateway, ${daysText(rows)}. Shorter bars and fewer red squares are better.</text>
<text x="${LEFT}" y="${TOP - 20}" fill="${theme.quiet}">CPU per request, × a bare Node.js proxy</text>
<text x="${SQUARES_LEFT}" y="${TOP - 20}" fill="${theme.quiet}">${QUESTIONS.length} upstream faults: what the caller got</text>
${[tick(0, '0'), tick(1, '1×'), tick(5, '5×'), tick(10, '10×'), ...rows.map((one, at) => row(one, at, theme))].join('\n')}
${FOOT.map((line, at) => `<text x="28" y="${height - 46 + at * 17}" font-size="12" fill="${theme.quiet}">${line}</text>`).join('\n')}
</svg>
`
}

function row({ one, figures, answers, does }: Measured, at: number, theme: Theme): string {
  const y = TOP + at * ROW
  const isOwn = one.id.startsWith('torana')
  const { cpu, stores, cpuUs, storesUs } = costOf(figures)
  const isCut = cpu > AXIS_TIMES
  const width = Math.min(cpu, AXIS_TIMES) * UNIT
  const end = LEFT + width + stores * UNIT
  const us = stores > 0 ? `${cpuUs} µs + ${storesUs} µs` : `${cpuUs} µs${isCut ? ' · bar cut short' : ''}`
  const cut = isCut
    ? `<path d="M${end - 26} ${y + 4}l6 ${BAR / 2 + 2}l-6 ${BAR / 2 + 2}" stroke="${theme.page}" stroke-width="5" fill="none"/>`
    : ''
  const hatched =
    stores > 0
      ? `<rect x="${LEFT + width}" y="${y + 6}" width="${(stores * UNIT).toFixed(1)}" height="${BAR}" fill="url(#stores)"/>`
      : ''
  const { squares, text } = outcomesOf(answers, { y, theme })
  const more =
    stores > 0
      ? `<tspan font-weight="400" fill="${theme.quiet}" dx="6">+ ${timesText(stores)} in PostgreSQL and Redis</tspan>`
      : ''
  return `<path d="M28 ${y + ROW - 4}H${WIDTH - 28}" stroke="${theme.line}"/>
<text x="28" y="${y + 18}" font-size="15" font-weight="600" fill="${theme.ink}">${nameOf(one)}</text>
<text x="28" y="${y + 40}" fill="${theme.quiet}">${does}</text>
<rect x="${LEFT}" y="${y + 6}" width="${width.toFixed(1)}" height="${BAR}" fill="${isOwn ? theme.own : theme.other}"/>${hatched}${cut}
<text x="${(end + 8).toFixed(1)}" y="${y + 19}" font-size="14" font-weight="650" fill="${theme.ink}">${timesText(cpu)}${more}</text>
<text x="${LEFT}" y="${y + 40}" fill="${theme.quiet}">${us}</text>
${squares}<text x="${SQUARES_LEFT}" y="${y + 40}" fill="${theme.quiet}">${text}</text>`
}

/** As times the CPU of the bare proxy of the same minutes, and in microseconds. */
function costOf({ cpuUs, storesCpuUs, bareCpuUs }: CaseFigures) {
  return {
    cpu: cpuUs / bareCpuUs,
    stores: storesCpuUs / bareCpuUs,
    cpuUs: countText(cpuUs),
    storesUs: countText(storesCpuUs),
  }
}

function outcomesOf(
  answers: Readonly<Record<string, string>>,
  { y, theme }: { readonly y: number; readonly theme: Theme },
) {
  const { right, refused, passedOn } = countsOf(answers)
  const fills = [
    ...Array.from({ length: passedOn }, () => `fill="${theme.bad}"`),
    ...Array.from({ length: right }, () => `fill="${theme.own}"`),
    ...Array.from({ length: refused }, () => `fill="none" stroke="${theme.other}" stroke-width="1.5"`),
  ]
  const squares = fills.map(
    (fill, index) =>
      `<rect x="${SQUARES_LEFT + index * SQUARE}" y="${y + 7}" width="14" height="14" rx="2" ${fill}/>`,
  )
  const bold = `<tspan font-weight="650" fill="${theme.ink}">${passedOn} passed on</tspan>`
  const text = [bold, ...(right > 0 ? [`${right} corrected`] : []), `${refused} refused`].join(' · ')
  return { squares: squares.join(''), text }
}

function nameOf({ id, name, answers, cases }: ContenderFigures): string {
  if (id.startsWith('torana')) return 'Torana'
  return `${name.replace(/ gateway| proxy|,.*/g, '')} ${cases[CASE]?.version ?? answers?.version ?? ''}`
}

function descriptionOf({ one, does, figures, answers }: Measured): string {
  const { cpu, stores } = costOf(figures)
  const { right, refused, passedOn } = countsOf(answers)
  const more = stores > 0 ? `, and ${timesText(stores)} in PostgreSQL and Redis` : ''
  return `${nameOf(one)} (${does}): ${timesText(cpu)} the CPU of a bare proxy${more}; ${passedOn} of ${QUESTIONS.length} faults passed on, ${right} corrected, ${refused} refused.`
}
