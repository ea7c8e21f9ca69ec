/** When a declared model ends, and the warning for a retired one. */
import type { Upstream } from '#core/catalog/catalog.ts'
import { modelEnd, type EndFields, type ModelEnd } from '#core/catalog/model-end.ts'
import { didYouMean, type Path, type Report } from '../file/problem.ts'
import type { DeploymentEntry, ModelEntry } from '../schema/schema.ts'
import {
  endByName,
  endOfFacts,
  knownModels,
  type Facts,
  type ModelFacts,
  type ProviderFacts,
} from './facts.ts'
import type { UpstreamByKind } from './upstream.ts'

interface DeclaredModel {
  /** The id of its facts. */
  readonly factsId: string
  readonly entry: ModelEntry
  readonly upstreams: ReadonlyMap<string, UpstreamByKind>
  readonly facts: Facts
}

interface Retirement {
  readonly words: string
  /** The providers of all its deployments have shut it down. */
  readonly isEverywhere: boolean
}

/** The retirement of a model by its providers: first those that it is deployed on. */
export function retirementOf({ factsId, entry, upstreams, facts }: DeclaredModel): Retirement | undefined {
  const own = entry.deployments.map(({ upstream }) => upstreams.get(upstream)?.embedding.provider)
  const isEverywhere = own.every((provider) => facts.get(provider ?? '')?.retired[factsId] !== undefined)
  for (const provider of [...own, ...facts.keys()]) {
    const one = facts.get(provider ?? '')?.retired[factsId]
    if (one === undefined) continue
    const { on, successor, note } = one
    const next = successor === undefined ? '' : ` Its successor is ${successor}.`
    const how = note === undefined ? '' : `: ${note}`
    return { words: `${provider} retired ${factsId} on ${on}${how}.${next}`, isEverywhere }
  }
  return undefined
}

export function unknownWords(id: string, retired: Retirement | undefined, facts: Facts): string {
  if (retired !== undefined) return retired.words
  return `there are no built-in facts about ${id}.${didYouMean(id, knownModels(facts))}`
}

interface CalledModel {
  readonly provider: ProviderFacts | undefined
  readonly own: ModelFacts | undefined
  readonly factsId: string
  readonly upstream: Upstream
  readonly upstreamModel: string
}

/**
 * The end that its provider announced. The upstream's own name of the model identifies it best, except for Azure, where an
 * operator chose the name.
 */
export function knownEnd({
  provider,
  own,
  factsId,
  upstream,
  upstreamModel,
}: CalledModel): EndFields | undefined {
  if (provider === undefined) return undefined
  const named = upstream.dialect === 'azure' ? undefined : endByName(provider, upstreamModel)
  return named ? named.end : own ? endOfFacts(own) : provider.retired[factsId]
}

/** torana.yaml takes precedence over the facts. */
export function endOf(
  { endsOn, successor, endSource }: DeploymentEntry,
  path: Path,
  known: EndFields | undefined,
  report: Report,
): { readonly end?: ModelEnd } {
  if (endsOn === undefined && known === undefined && (successor ?? endSource) !== undefined)
    report.problem(
      [...path, successor === undefined ? 'endSource' : 'successor'],
      'is told with endsOn, and no day is known: write endsOn too',
    )
  if (endsOn === 'none') return {}
  if (endsOn !== undefined)
    return {
      end: modelEnd(
        {
          on: endsOn,
          successor: successor ?? known?.successor,
          source: endSource ?? report.place([...path, 'endsOn']),
        },
        'configuration',
      ),
    }
  if (known === undefined) return {}
  const { on, source, asOf, note } = known
  return {
    end: modelEnd(
      { on, successor: successor ?? known.successor, source: endSource ?? source, asOf, note },
      'catalog',
    ),
  }
}
