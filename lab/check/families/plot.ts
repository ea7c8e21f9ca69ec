/** The chart of docs/space-guard.md: what each simulated model keeps of an index's neighbours, and its measured agreement. */

export interface Point {
  readonly name: string
  /** Share of the ten nearest. */
  readonly kept: number
  readonly agreement: number
}

interface Limits {
  readonly MEMBER_KEEPS: number
  readonly STRANGER_KEEPS: number
  readonly MIN_AGREEMENT: number
}

/** The colours of the console. */
const THEMES = {
  light: {
    page: '#ffffff',
    ink: '#1a1b1e',
    quiet: '#53565c',
    line: '#e5e4e0',
    member: '#2b59c3',
    stranger: '#d23a2c',
    between: '#8d9097',
  },
  dark: {
    page: '#17181b',
    ink: '#ececee',
    quiet: '#acb0b7',
    line: '#2a2c31',
    member: '#8fb2ff',
    stranger: '#e8604f',
    between: '#747881',
  },
} as const

type Theme = (typeof THEMES)[keyof typeof THEMES]

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [1000, 560, 92, 40, 64, 72]
const [LOWEST, HIGHEST] = [-1, 1]

/** By the names of their files. */
export function plotsOf(points: readonly Point[], limits: Limits): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(THEMES).map(([name, theme]) => [`families-${name}.svg`, plotOf(points, limits, theme)]),
  )
}

const across = (kept: number): number => LEFT + kept * (WIDTH - LEFT - RIGHT)
const down = (agreement: number): number =>
  TOP + ((HIGHEST - agreement) / (HIGHEST - LOWEST)) * (HEIGHT - TOP - BOTTOM)

function plotOf(points: readonly Point[], limits: Limits, theme: Theme): string {
  const { MEMBER_KEEPS, STRANGER_KEEPS, MIN_AGREEMENT } = limits
  const colourOf = ({ kept }: Point): string =>
    kept >= MEMBER_KEEPS ? theme.member : kept <= STRANGER_KEEPS ? theme.stranger : theme.between
  const text = (x: number, y: number, words: string, more = ''): string =>
    `<text x="${x}" y="${y}" fill="${theme.quiet}" ${more}>${words}</text>`
  const marks = points.map(
    (point) =>
      `<circle cx="${across(point.kept).toFixed(1)}" cy="${down(point.agreement).toFixed(1)}" r="3.2" fill="${colourOf(point)}" fill-opacity="0.55"/>`,
  )
  const levels = [-1, -0.5, 0, 0.5, 1].map(
    (level) =>
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${down(level)}" y2="${down(level)}" stroke="${theme.line}"/>` +
      text(LEFT - 12, down(level) + 5, level.toFixed(1).replace('-', '−'), 'text-anchor="end"'),
  )
  const shares = [0, 2, 4, 6, 8, 10].map((count) =>
    text(across(count / 10), HEIGHT - BOTTOM + 26, String(count), 'text-anchor="middle"'),
  )
  const limit = down(MIN_AGREEMENT)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="15">
<rect width="${WIDTH}" height="${HEIGHT}" rx="10" fill="${theme.page}"/>
<rect x="${across(STRANGER_KEEPS)}" y="${TOP}" width="${across(MEMBER_KEEPS) - across(STRANGER_KEEPS)}" height="${HEIGHT - TOP - BOTTOM}" fill="${theme.line}" fill-opacity="0.5"/>
${levels.join('\n')}
${shares.join('\n')}
${marks.join('\n')}
<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${limit}" y2="${limit}" stroke="${theme.ink}" stroke-dasharray="6 5"/>
<text x="${LEFT + 10}" y="${limit - 9}" fill="${theme.ink}">a model joins from ${MIN_AGREEMENT} on</text>
<text x="${LEFT}" y="34" fill="${theme.ink}" font-size="17" font-weight="600">Agreement on the family texts</text>
<g>${[
    [theme.stranger, 'stranger', 560],
    [theme.between, 'between', 690],
    [theme.member, 'member', 810],
  ]
    .map(
      ([colour, word, x]) =>
        `<circle cx="${x}" cy="29" r="5" fill="${colour}"/>${text(Number(x) + 12, 34, String(word))}`,
    )
    .join('')}</g>
${text(across(0.5), HEIGHT - 18, 'of the ten nearest of other sentences, a query by one model finds in an index by the other', 'text-anchor="middle"')}
</svg>
`
}
