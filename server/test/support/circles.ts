/** Which names each name leads to. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** All groups of names that lead back to themselves, by Tarjan's algorithm. Each is sorted. */
export function circlesOf(graph: Graph): readonly (readonly string[])[] {
  const circles: string[][] = []
  const order = new Map<string, number>()
  const earliest = new Map<string, number>()
  const path: string[] = []
  const visit = (name: string): number => {
    let least = order.size
    order.set(name, least)
    earliest.set(name, least)
    const place = path.push(name) - 1
    for (const next of graph.get(name) ?? []) {
      // A known node that is no longer on the path belongs to a complete group.
      if (!order.has(next)) least = Math.min(least, visit(next))
      else if (path.includes(next)) least = Math.min(least, earliest.get(next) ?? least)
    }
    earliest.set(name, least)
    if (least === order.get(name)) {
      const group = path.splice(place)
      if (group.length > 1 || graph.get(name)?.has(name)) circles.push(group.sort())
    }
    return least
  }
  for (const name of graph.keys()) if (!order.has(name)) visit(name)
  return circles
}
