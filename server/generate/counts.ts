/** The counts of the catalog among the figures of docs/figures.json, which pages and the site print. */
import { builtInFacts, type Facts } from '#config/build/facts.ts'

/** The figures with these counts; all others, which are measured, stay. */
export function withCounts(figures: string, facts: Facts = builtInFacts()): string {
  const all = { ...(JSON.parse(figures) as object), ...countsOf(facts) }
  const sorted = Object.entries(all).toSorted(([left], [right]) => (left < right ? -1 : 1))
  return `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`
}

/** The models of the demo are in the program, not in the catalog. */
function countsOf(facts: Facts) {
  const providers = [...facts.values()].filter(({ provider }) => provider !== 'demo')
  const models = (kind: 'embedding' | 'image'): number =>
    new Set(providers.flatMap((one) => Object.keys(one.models).filter((id) => one.models[id]?.kind === kind)))
      .size
  const counted = (count: number) => ({ text: String(count), program: 'generate' })
  return {
    'catalog.providers': counted(providers.length),
    'catalog.embedding-models': counted(models('embedding')),
    'catalog.image-models': counted(models('image')),
  }
}
