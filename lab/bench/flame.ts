/**
 * A flame graph of a process, from a Node profile. Widths are shares of the busy time; a bar was called by the one below
 * it. `npm run lab -- bench/flame results/CPU.….cpuprofile ../docs/pictures/flame.svg --from 0.3 --to 0.9`
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  readonly children?: readonly number[]
}

interface Profile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[]
}

interface Frame {
  readonly name: string
  readonly colour: string
  readonly callees: Map<string, Frame>
  micros: number
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Which part of the run, as shares of its time: a start and an end are no load. */
    from: { type: 'string', default: '0' },
    to: { type: 'string', default: '1' },
    title: { type: 'string', default: 'CPU time by function' },
  },
})
const [profileFile = '', pictureFile = ''] = positionals

const WIDTH = 1200
const ROW = 17
const HEADER = 44
/** Narrower bars can't be seen. */
const MIN_SHARE = 0.0015
/** Longest time of one sample: a process that waits for a CPU is not at work. */
const MAX_MICROS = 1500
const CHARACTER = 6.3

const COLOURS = [
  [/\/server\/src\//, '#e8743b', 'Torana'],
  [/undici|^wasm:/, '#5899da', 'undici'],
  [/^node:/, '#19a979', 'Node'],
  [/^/, '#945ecf', 'native code and garbage collection'],
] as const

const profile = JSON.parse(readFileSync(profileFile, 'utf8')) as Profile
writeFileSync(pictureFile, pictureOf(merged(profile)))

function merged({ nodes, samples, timeDeltas }: Profile): Frame {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const wholeMicros = timeDeltas.reduce((sum, delta) => sum + delta, 0)
  const all: Frame = { name: 'all', colour: '#bbb', callees: new Map(), micros: 0 }
  let atMicros = 0
  for (const [index, id] of samples.entries()) {
    atMicros += timeDeltas[index] ?? 0
    const share = atMicros / wholeMicros
    const name = byId.get(id)?.callFrame.functionName
    if (share < Number(values.from) || share > Number(values.to) || name === '(idle)') continue
    const micros = Math.min(timeDeltas[index] ?? 0, MAX_MICROS)
    const stack: ProfileNode[] = []
    for (let at: number | undefined = id; at !== undefined; at = callers.get(at))
      stack.unshift(byId.get(at) as ProfileNode)
    let frame = all
    frame.micros += micros
    for (const node of stack.slice(1)) {
      frame = calleeOf(frame, node)
      frame.micros += micros
    }
  }
  return all
}

function calleeOf({ callees }: Frame, { callFrame: { functionName, url, lineNumber } }: ProfileNode): Frame {
  const place = url === '' ? '' : ` ${url.replace(/.*\/(server\/src|node_modules)\//, '')}:${lineNumber + 1}`
  const name = `${functionName || '(anonymous)'}${place}`
  let callee = callees.get(name)
  if (callee === undefined) {
    const colour = COLOURS.find(([pattern]) => pattern.test(url))?.[1] ?? '#bbb'
    callee = { name, colour, callees: new Map(), micros: 0 }
    callees.set(name, callee)
  }
  return callee
}

function pictureOf(all: Frame): string {
  const bars: string[] = []
  let depth = 0
  const draw = (frame: Frame, row: number, from: number): void => {
    depth = Math.max(depth, row)
    const share = frame.micros / all.micros
    const width = share * WIDTH
    const text = escaped(frame.name.slice(0, Math.max(0, Math.floor((width - 4) / CHARACTER))))
    const label =
      width > 30 ? `<text x="${(from + 2).toFixed(1)}" y="${HEADER + row * ROW + 12}">${text}</text>` : ''
    const rest = `y="${HEADER + row * ROW}" width="${Math.max(0.4, width - 0.5).toFixed(1)}" height="${ROW - 1}" fill="${frame.colour}"`
    bars.push(
      `<g><title>${escaped(frame.name)}: ${(100 * share).toFixed(1)} %</title><rect x="${from.toFixed(1)}" ${rest}/>${label}</g>`,
    )
    let at = from
    for (const callee of [...frame.callees.values()].toSorted((a, b) => b.micros - a.micros)) {
      if (callee.micros / all.micros < MIN_SHARE) break
      draw(callee, row + 1, at)
      at += (callee.micros / all.micros) * WIDTH
    }
  }
  draw(all, 0, 0)
  const legend = COLOURS.map(
    ([, colour, name], index) =>
      `<rect x="${2 + index * 130}" y="25" width="11" height="11" fill="${colour}"/><text x="${17 + index * 130}" y="35">${name}</text>`,
  )
  const height = HEADER + (depth + 1) * ROW + 4
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="10.5">
<rect width="${WIDTH}" height="${height}" fill="#fff"/><text x="2" y="15" font-size="13">${escaped(values.title)}</text>
${legend.join('')}
${bars.join('\n')}
</svg>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
