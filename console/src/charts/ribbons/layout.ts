/** Where the nodes and ribbons of three columns stand. Pure, tested. */

interface RibbonNode {
  readonly id: string
  /** Nodes of one group stand closer together. */
  readonly group?: string
}

export interface Ribbon {
  readonly id: string
  /** Nodes of neighbouring columns. */
  readonly from: string
  readonly to: string
  readonly value: number
}

export interface RibbonGraph {
  readonly columns: readonly (readonly RibbonNode[])[]
  readonly ribbons: readonly Ribbon[]
}

export interface NodePlace {
  readonly y: number
  readonly height: number
}

export interface RibbonPlace {
  /** The upper edge at each end. */
  readonly fromY: number
  readonly toY: number
  readonly width: number
}

export interface RibbonLayout {
  readonly height: number
  readonly nodes: ReadonlyMap<string, NodePlace>
  readonly ribbons: ReadonlyMap<string, RibbonPlace>
}

/** A name has to fit beside it. */
const LEAST_HEIGHTS = [14, 24, 20]
const GAPS = [20, 20, 15]
const GAP_IN_GROUP = 5
/** Thinner is not seen. */
const LEAST_WIDTH = 1.2
/** Halves the range until it is far below a pixel. */
const STEPS = 50

/** One unit for all columns. The picture grows beyond the given height when the least heights need more. */
export function ribbonLayout(graph: RibbonGraph, givenHeight: number): RibbonLayout {
  const needed = (unit: number): number =>
    Math.max(0, ...graph.columns.map((_, column) => columnHeight(graph, column, unit)))
  const height = Math.max(givenHeight, needed(0))
  const unit = largestUnit(needed, height)
  const nodes = new Map<string, NodePlace>()
  for (const [column, list] of graph.columns.entries()) {
    let y = (height - columnHeight(graph, column, unit)) / 2
    for (const [index, node] of list.entries()) {
      y += gapBefore(list, index, column)
      const own = nodeHeight(graph, node.id, column, unit)
      nodes.set(node.id, { y, height: own })
      y += own
    }
  }
  return { height, nodes, ribbons: ribbonPlaces(graph, nodes, unit) }
}

function largestUnit(needed: (unit: number) => number, height: number): number {
  let [low, high] = [0, 1]
  while (needed(high) < height && high < 1e12) high *= 2
  // Nothing grows with the unit: there is no traffic.
  if (needed(high) < height) return 0
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (low + high) / 2
    if (needed(middle) <= height) low = middle
    else high = middle
  }
  return low
}

function columnHeight(graph: RibbonGraph, column: number, unit: number): number {
  const list = graph.columns[column] ?? []
  return list.reduce(
    (sum, { id }, index) => sum + gapBefore(list, index, column) + nodeHeight(graph, id, column, unit),
    0,
  )
}

function gapBefore(list: readonly RibbonNode[], index: number, column: number): number {
  if (index === 0) return 0
  const [before, node] = [list[index - 1], list[index]]
  const isGrouped = node?.group !== undefined && node.group === before?.group
  return isGrouped ? GAP_IN_GROUP : (GAPS[column] ?? 0)
}

function nodeHeight({ ribbons }: RibbonGraph, id: string, column: number, unit: number): number {
  const sum = (side: readonly Ribbon[]): number => side.reduce((all, one) => all + widthOf(one, unit), 0)
  const into = sum(ribbons.filter(({ to }) => to === id))
  const outOf = sum(ribbons.filter(({ from }) => from === id))
  return Math.max(LEAST_HEIGHTS[column] ?? 0, into, outOf)
}

function widthOf({ value }: Ribbon, unit: number): number {
  return Math.max(LEAST_WIDTH, value * unit)
}

/** At a node, ribbons are stacked in the order of their other ends, so that they do not cross there. */
function ribbonPlaces(
  { columns, ribbons }: RibbonGraph,
  nodes: ReadonlyMap<string, NodePlace>,
  unit: number,
): ReadonlyMap<string, RibbonPlace> {
  const stacked = (end: 'from' | 'to', other: 'from' | 'to'): Map<string, number> => {
    const tops = new Map<string, number>()
    for (const { id } of columns.flat()) {
      const own = ribbons
        .filter((one) => one[end] === id)
        .toSorted((left, right) => yOf(nodes, left[other]) - yOf(nodes, right[other]))
      const place = nodes.get(id) ?? { y: 0, height: 0 }
      let y = place.y + (place.height - own.reduce((sum, one) => sum + widthOf(one, unit), 0)) / 2
      for (const one of own) {
        tops.set(one.id, y)
        y += widthOf(one, unit)
      }
    }
    return tops
  }
  const [fromTops, toTops] = [stacked('from', 'to'), stacked('to', 'from')]
  return new Map(
    ribbons.map((one) => [
      one.id,
      { fromY: fromTops.get(one.id) ?? 0, toY: toTops.get(one.id) ?? 0, width: widthOf(one, unit) },
    ]),
  )
}

function yOf(nodes: ReadonlyMap<string, NodePlace>, id: string): number {
  return nodes.get(id)?.y ?? 0
}

/** A band from one side to the other that leaves and arrives level. */
export function ribbonPath({ fromY, toY, width }: RibbonPlace, fromX: number, toX: number): string {
  const middle = (fromX + toX) / 2
  const there = `M${fromX} ${round(fromY)}C${middle} ${round(fromY)} ${middle} ${round(toY)} ${toX} ${round(toY)}`
  const [fromBelow, toBelow] = [round(fromY + width), round(toY + width)]
  return `${there}V${toBelow}C${middle} ${toBelow} ${middle} ${fromBelow} ${fromX} ${fromBelow}Z`
}

function round(pixels: number): number {
  return Math.round(pixels * 100) / 100
}

/** A layout on its way from one to another: what is new grows from nothing. */
export function between(before: RibbonLayout, after: RibbonLayout, share: number): RibbonLayout {
  const mix = (from: number, to: number): number => from + (to - from) * share
  const nodes = new Map(
    Array.from(after.nodes, ([id, place]) => {
      const old = before.nodes.get(id) ?? place
      return [id, { y: mix(old.y, place.y), height: mix(old.height, place.height) }]
    }),
  )
  const ribbons = new Map(
    Array.from(after.ribbons, ([id, place]) => {
      const old = before.ribbons.get(id) ?? {
        fromY: place.fromY + place.width / 2,
        toY: place.toY + place.width / 2,
        width: 0,
      }
      return [
        id,
        {
          fromY: mix(old.fromY, place.fromY),
          toY: mix(old.toY, place.toY),
          width: mix(old.width, place.width),
        },
      ]
    }),
  )
  return { height: after.height, nodes, ribbons }
}
