/** Bars of the figures, as SVG. The axis is logarithmic: the gateways differ by powers of ten. */
import { CASES } from './cases.ts'
import { addedMs } from './document.ts'
import type { CaseFigures, ContenderFigures } from './figures.ts'

const [WIDTH, LEFT, RIGHT, TOP, BAR, GAP] = [760, 260, 70, 34, 12, 14]
const COLOURS = ['#2f6fed', '#15803d', '#c2410c', '#7c3aed']

interface Bars {
  readonly title: string
  /** Zero and less have no place on the axis, and are drawn at its beginning. */
  readonly of: (figures: CaseFigures) => number
  readonly text: (value: number) => string
}

export function cpuPlot(contenders: readonly ContenderFigures[]): string {
  return barsOf(contenders, {
    title: 'CPU time of a request, µs (logarithmic)',
    of: ({ cpuUs }) => cpuUs,
    text: (value) => Math.round(value).toLocaleString('en-US'),
  })
}

export function latencyPlot(contenders: readonly ContenderFigures[]): string {
  return barsOf(
    contenders.filter(({ id }) => id !== 'bare'),
    {
      title: 'added p50 at half load, ms (logarithmic)',
      of: (figures) => addedMs(figures).p50,
      text: (value) => value.toFixed(1),
    },
  )
}

function barsOf(contenders: readonly ContenderFigures[], { title, of, text }: Bars): string {
  const groups = contenders.map(({ name, cases }) => ({
    name: name.replaceAll('`', ''),
    bars: CASES.flatMap(({ id }, index) => {
      const found = cases[id]
      return found ? [{ value: of(found), colour: COLOURS[index] as string }] : []
    }),
  }))
  const values = groups.flatMap(({ bars }) => bars.map(({ value }) => value)).filter((value) => value > 0)
  const first = Math.floor(Math.log10(Math.min(...values, 1000)))
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values, 10 ** first))))
  const x = (value: number): number => {
    const power = value > 0 ? Math.max(first, Math.log10(value)) : first
    return LEFT + ((power - first) / (last - first)) * (WIDTH - LEFT - RIGHT)
  }
  const drawn: string[] = []
  let y = TOP + 10
  for (const { name, bars } of groups) {
    const middle = y + (bars.length * BAR) / 2
    drawn.push(`<text x="${LEFT - 10}" y="${middle}" dy="4" text-anchor="end">${name}</text>`)
    for (const { value, colour } of bars) {
      const width = Math.max(1, x(value) - LEFT)
      drawn.push(
        `<rect x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${BAR - 2}" fill="${colour}"/>`,
        `<text x="${(LEFT + width + 5).toFixed(1)}" y="${y + BAR - 3}" font-size="10">${text(value)}</text>`,
      )
      y += BAR
    }
    y += GAP
  }
  const grid = Array.from({ length: last - first + 1 }, (_, power) => {
    const at = x(10 ** (first + power)).toFixed(1)
    return `<path d="M${at} ${TOP}V${y}" stroke="#8884"/><text x="${at}" y="${y + 16}" text-anchor="middle">${Number((10 ** (first + power)).toPrecision(1)).toLocaleString('en-US')}</text>`
  })
  const legend = CASES.map(({ name }, index) => {
    const at = 8 + index * 190
    return `<rect x="${at}" y="8" width="10" height="10" fill="${COLOURS[index]}"/><text x="${at + 15}" y="17">${name}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y + 44}" font-family="system-ui, sans-serif" font-size="12" fill="#667">
${[...legend, ...grid, ...drawn].join('\n')}
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${y + 36}" text-anchor="middle">${title}</text>
</svg>
`
}
