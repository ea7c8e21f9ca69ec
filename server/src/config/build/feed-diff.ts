/** The differences between two catalogues, by provider, model and group of facts. */
import { isDeepStrictEqual } from 'node:util'
import type { FactChange, FactGroup } from '#core/feed/effects.ts'
import { endOfFacts, priceOriginOf, type Facts, type ModelFacts, type ProviderFacts } from './facts.ts'

interface Group {
  readonly value: unknown
  readonly source: string | undefined
  readonly asOf: string | undefined
}

/** By provider, model and group, in the order of the catalogue. */
type Groups = ReadonlyMap<string, Group & Pick<FactChange, 'provider' | 'model' | 'group'>>

export function factChanges(before: Facts, after: Facts): readonly FactChange[] {
  const [old, now] = [groupsOf(before), groupsOf(after)]
  return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((key) => {
    const [earlier, later] = [old.get(key), now.get(key)]
    const known = later ?? earlier
    if (known === undefined || isDeepStrictEqual(earlier?.value, later?.value)) return []
    const { provider, model, group, source, asOf } = known
    return [{ provider, model, group, before: earlier?.value, after: later?.value, source, asOf }]
  })
}

function groupsOf(facts: Facts): Groups {
  return new Map(
    [...facts.values()].flatMap((one) =>
      [
        ...wireGroups(one),
        ...Object.entries(one.models).flatMap(([id, model]) => modelGroups(one, id, model)),
        ...Object.entries(one.retired).map(([model, { source, asOf, ...value }]) => ({
          model,
          group: 'retired' as const,
          value,
          source: source ?? one.factSource.source,
          asOf: asOf ?? one.factSource.asOf,
        })),
      ].map((group) => [
        `${one.provider}\0${group.model ?? ''}\0${group.group}`,
        { provider: one.provider, ...group },
      ]),
    ),
  )
}

type ModelGroup = Group & { readonly model: string | undefined; readonly group: FactGroup }

function wireGroups({ name, capabilities, imageCapabilities, factSource }: ProviderFacts): ModelGroup[] {
  return [
    { model: undefined, group: 'wire', value: { name, capabilities, imageCapabilities }, ...factSource },
  ]
}

function modelGroups(provider: ProviderFacts, model: string, facts: ModelFacts): ModelGroup[] {
  const { kind, upstreamModel, aliases, capabilities } = facts
  const read = facts.factSource ?? provider.factSource
  const own = kind === 'embedding' ? { embedding: facts.embedding } : { image: facts.image }
  const end = endOfFacts(facts)
  return [
    { model, group: 'facts', value: { kind, upstreamModel, aliases, ...own }, ...read },
    ...(capabilities === undefined ? [] : [{ model, group: 'wire' as const, value: capabilities, ...read }]),
    ...(facts.price === undefined
      ? []
      : [{ model, group: 'price' as const, value: priceForm(facts.price), ...originOf(facts) }]),
    ...(end === undefined
      ? []
      : [
          {
            model,
            group: 'end' as const,
            value: { on: end.on, successor: end.successor, note: end.note },
            source: end.source,
            asOf: end.asOf,
          },
        ]),
  ]
}

function originOf(facts: ModelFacts): Pick<Group, 'source' | 'asOf'> {
  return priceOriginOf(facts) ?? { source: undefined, asOf: undefined }
}

/** The price without its source: a price that was read again is no change. */
function priceForm(price: NonNullable<ModelFacts['price']>): unknown {
  if (typeof price === 'string') return price
  const { origin: _, ...form } = price as { readonly origin?: unknown }
  return form
}
