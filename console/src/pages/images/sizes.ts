/** Which sizes a model makes, which of them are drawn, and what would do instead of one that it does not make. */
import type { Schema } from '../../api/client.ts'

export type SizeRules = NonNullable<Schema<'ModelRow'>['image']>['sizes']

export interface Size {
  readonly width: number
  readonly height: number
}

/** In the order in which they are drawn. */
const RATIOS = [
  [1, 1],
  [3, 2],
  [2, 3],
  [16, 9],
  [9, 16],
] as const

const UNBOUNDED_EDGE = 16_384

export function sizeOf(text: string): Size | undefined {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(text) ?? []
  return width === undefined || height === undefined
    ? undefined
    : { width: Number(width), height: Number(height) }
}

export function textOf({ width, height }: Size): string {
  return `${width}x${height}`
}

export type SizeFault = 'multiple' | 'few' | 'many' | 'edge' | 'ratio' | 'listed' | 'empty'

/** Undefined: it is made. */
export function faultOf(size: Size, rules: SizeRules): SizeFault | undefined {
  const { width, height } = size
  if (width < 1 || height < 1) return 'empty'
  if (rules.kind === 'any') return undefined
  if (rules.kind === 'list') return rules.values.includes(textOf(size)) ? undefined : 'listed'
  const multiple = rules.multiple_of ?? 1
  if (width % multiple !== 0 || height % multiple !== 0) return 'multiple'
  if (Math.max(width, height) > (rules.max_edge ?? UNBOUNDED_EDGE)) return 'edge'
  if (rules.max_ratio !== null && Math.max(width, height) > rules.max_ratio * Math.min(width, height))
    return 'ratio'
  if (width * height < (rules.min_pixels ?? 1)) return 'few'
  return width * height > rules.max_pixels ? 'many' : undefined
}

/** Those that are drawn: all of a list, or the usual ratios with about as many pixels as the model makes by itself. */
export function drawnSizes(rules: SizeRules): readonly Size[] {
  if (rules.kind === 'list') return rules.values.flatMap((text) => sizeOf(text) ?? [])
  const usual = sizeOf(rules.default) ?? { width: 1024, height: 1024 }
  if (rules.kind === 'any') return [usual]
  const pixels = usual.width * usual.height
  const drawn = RATIOS.flatMap(([across, down]) => {
    if (across * usual.height === down * usual.width) return [usual]
    const unit = Math.sqrt(pixels / (across * down))
    return nearestSizes({ width: unit * across, height: unit * down }, rules).slice(0, 1)
  })
  const known = new Set<string>()
  return drawn.filter((size) => !known.has(textOf(size)) && known.add(textOf(size)))
}

/** The two nearest that are made, the nearest first. */
export function nearestSizes(target: Size, rules: SizeRules): readonly Size[] {
  const candidates = rules.kind === 'list' ? drawnSizes(rules) : around(target, rules)
  return candidates
    .filter((size) => faultOf(size, rules) === undefined)
    .toSorted((a, b) => distance(a, target) - distance(b, target))
    .slice(0, 2)
}

/** How many steps of the grid are looked at on each side. */
const REACH = 2

function around(target: Size, rules: SizeRules): Size[] {
  const multiple = rules.multiple_of ?? 1
  const { width, height } = within(target, rules)
  const steps = Array.from({ length: REACH * 2 + 1 }, (_, index) => index - REACH)
  const near = (edge: number, step: number) => (Math.round(edge / multiple) + step) * multiple
  return steps.flatMap((across) =>
    steps.map((down) => ({ width: near(width, across), height: near(height, down) })),
  )
}

/** Scaled, and pulled to the ratio, so that the bounds are met but for the grid. */
function within({ width, height }: Size, rules: SizeRules): Size {
  const edge = rules.max_edge ?? UNBOUNDED_EDGE
  let [long, short] = [Math.max(width, height, 1), Math.max(Math.min(width, height), 1)]
  if (rules.max_ratio !== null && long > short * rules.max_ratio) {
    const area = long * short
    short = Math.sqrt(area / rules.max_ratio)
    long = short * rules.max_ratio
  }
  const most = Math.min(edge / long, Math.sqrt(rules.max_pixels / (long * short)))
  const least = Math.sqrt((rules.min_pixels ?? 1) / (long * short))
  const scale = Math.min(most, Math.max(1, least))
  ;[long, short] = [long * scale, short * scale]
  return width >= height ? { width: long, height: short } : { width: short, height: long }
}

function distance(a: Size, b: Size): number {
  return Math.hypot(a.width - b.width, a.height - b.height)
}

/** Under each drawing: its ratio, or its edges where another drawing has the same ratio. */
export function sizeLabels(drawn: readonly Size[]): readonly string[] {
  const ratios = drawn.map(ratioText)
  return drawn.map((size, index) => {
    const ratio = ratios[index] ?? ''
    return ratios.indexOf(ratio) === ratios.lastIndexOf(ratio) ? ratio : `${size.width}×${size.height}`
  })
}

/** `3:2`. */
export function ratioText({ width, height }: Size): string {
  for (const [across, down] of RATIOS)
    if (Math.abs(width / height - across / down) < 0.02) return `${across}:${down}`
  const divisor = commonDivisor(width, height)
  const [across, down] = [width / divisor, height / divisor]
  return across > 20 || down > 20 ? `${(width / height).toFixed(2)}:1` : `${across}:${down}`
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? Math.max(1, a) : commonDivisor(b, a % b)
}
