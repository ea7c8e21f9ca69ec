/** `model_list` → upstreams and models. Entries with one `model_name` become the deployments of one model. */
import { factsOf, modelFactsOf } from 'torana/config'
import { limitsOf, priceOf, ranksOf } from './deployments.ts'
import { readEntry, type Entry, type EntryOptions } from './entries.ts'
import type { Context } from './home.ts'
import { isTrue, listOf, literal, numberOf } from './read.ts'
import type { Place } from './notes.ts'
import type { DeploymentDraft, ModelDraft, UpstreamDraft } from './torana-file.ts'

export interface ModelOptions extends EntryOptions {
  /** `litellm_settings.drop_params`. */
  readonly dropParams: boolean
  /** LiteLLM's default strategy draws by rate limits where there are no weights. */
  readonly drawsByRate: boolean
  /** How long LiteLLM kept vectors, if it kept them. */
  readonly cacheTtl: string | undefined
  /** Of an entry of `model_list`, or of something in it. */
  readonly placeOf: (index: number, ...path: string[]) => Place
}

export interface Models {
  readonly upstreams: ReadonlyMap<
    string,
    { readonly draft: UpstreamDraft; readonly comment: string | undefined }
  >
  readonly models: Map<string, ModelDraft>
  /** Torana's id, by LiteLLM's `model_name`. */
  readonly ids: ReadonlyMap<string, string>
}

export function translateModels(modelList: unknown, options: ModelOptions, context: Context): Models {
  const entries = listOf(modelList).flatMap(
    (item, index) => readEntry(item, (...path) => options.placeOf(index, ...path), options, context) ?? [],
  )
  const groups = Map.groupBy(entries, ({ name }) => name)
  const upstreams = new Upstreams()
  const models = new Map<string, ModelDraft>()
  const ids = new Map<string, string>()
  for (const [name, group] of groups) {
    const isFree = (id: string) => !groups.has(id) && !models.has(id) && !modelFactsOf(context.facts, id)
    const { id, model } = buildModel(name, group, isFree, upstreams, options, context)
    models.set(id, model)
    ids.set(name, id)
  }
  return { upstreams: upstreams.all, models, ids }
}

function buildModel(
  name: string,
  group: readonly Entry[],
  isFree: (id: string) => boolean,
  upstreams: Upstreams,
  options: ModelOptions,
  context: Context,
): { readonly id: string; readonly model: ModelDraft } {
  const identity = identityOfGroup(name, group)
  const kept = oneModel(group, identity, context)
  const isEmbedding = kept[0]?.kind === 'embedding'
  const id = idFor(name, kept, identity, isFree, context)
  return {
    id,
    model: {
      places: kept.map(({ place }) => place),
      identity,
      facts: identity,
      aliases: id === name ? [] : [name],
      embedding: identity === undefined ? ownFacts(name, kept, context) : undefined,
      cacheTtl: isEmbedding ? options.cacheTtl : undefined,
      dropsUnsupported: options.dropParams || kept.some(({ params }) => isTrue(params['drop_params'])),
      deployments: deploymentsOf(id, kept, identity, upstreams, options, context),
    },
  }
}

/** What the model is called when callers' name says so, else what its first deployment is. */
function identityOfGroup(name: string, group: readonly Entry[]): string | undefined {
  const known = group.flatMap(({ identity }) => identity?.id ?? [])
  return known.includes(name) ? name : known[0]
}

/** Vectors of two models can't be compared, so that what is known to be another model stays out. So it is with images. */
function oneModel(
  group: readonly Entry[],
  identity: string | undefined,
  { notes }: Context,
): readonly Entry[] {
  const kind = group.find((entry) => entry.identity?.id === identity)?.kind ?? group[0]?.kind
  const kept = group.filter(
    (entry) => entry.kind === kind && (entry.identity === undefined || entry.identity.id === identity),
  )
  for (const entry of group) {
    const subject = `${entry.name}: ${entry.written}`
    if (!kept.includes(entry)) {
      notes.leave(
        entry.place,
        subject,
        `another model than ${identity}, the rest of its group: one name stands for one model. Give it a name of its own`,
      )
    } else if (identity !== undefined && (entry.identity?.isAssumed ?? true)) {
      notes.mention(
        entry.place,
        subject,
        `taken to be ${identity}, as its name or the rest of its group says`,
      )
    }
  }
  if (identity === undefined && new Set(kept.map(({ upstreamModel }) => upstreamModel)).size > 1) {
    for (const { place, written } of kept)
      notes.mention(place, written, 'taken to be one model, as they share a name')
  }
  return kept
}

/** An unknown model must not get the facts of the known one that it is named after. */
function idFor(
  name: string,
  kept: readonly Entry[],
  identity: string | undefined,
  isFree: (id: string) => boolean,
  { facts, notes }: Context,
): string {
  if (!modelFactsOf(facts, name)) return name
  if (identity !== undefined) {
    const isItself = [...facts.values()].some((provider) => factsOf(provider, name)?.id === identity)
    if (!isItself) notes.mention(kept[0]?.place ?? '', name, `is ${identity} under the name of another model`)
    return name
  }
  const id = [kept[0]?.upstreamModel ?? '', `${name}.own`].find(
    (candidate) => /^[\w./:@-]{1,200}$/.test(candidate) && isFree(candidate),
  )
  if (id === undefined) return name
  notes.mention(
    kept[0]?.place ?? '',
    name,
    `is another model than its name says: it is called ${id} and keeps the name as an alias`,
  )
  return id
}

function ownFacts(name: string, kept: readonly Entry[], { variables }: Context): ModelDraft['embedding'] {
  const stated = (field: string) => {
    const values = kept.map(({ info }) => numberOf(info[field]))
    return values.find(
      (value) => value !== undefined && Number.isInteger(value) && value > 0 && value <= 65_536,
    )
  }
  const ask = () =>
    variables.ask(`${name}_DIMENSIONS`, `the width of the vectors of ${name}`, kept[0]?.place ?? '', '8')
  return {
    dimensions: stated('output_vector_size') ?? ask(),
    maxInputTokens: stated('max_input_tokens'),
  }
}

function deploymentsOf(
  id: string,
  kept: readonly Entry[],
  identity: string | undefined,
  upstreams: Upstreams,
  { drawsByRate, enforcesRates }: ModelOptions,
  { facts, notes }: Context,
): DeploymentDraft[] {
  const ranks = ranksOf(kept, drawsByRate)
  const deployments = new Map<string, DeploymentDraft>()
  kept.forEach((entry, index) => {
    const { place, params, info, home, upstreamModel, written, name } = entry
    const { priority = 0, weight = 1 } = ranks[index] ?? {}
    const upstream = upstreams.add(home.wish, home.draft, place)
    const price = priceOf(entry.kind, params, info)
    if (price === 'unreadable') notes.leave(place, `${name}: its price`, 'is no price that Torana can keep')
    const known = factsOf(facts.get(home.provider ?? ''), identity ?? id)
    const byDefault = known && (known.facts.upstreamModel ?? known.id)
    const key = JSON.stringify([upstream, upstreamModel])
    const twin = deployments.get(key)
    if (twin)
      notes.mention(place, `${name}: ${written}`, 'stands there twice: one deployment has the weight of both')
    deployments.set(key, {
      upstream,
      model: upstreamModel === byDefault ? undefined : literal(upstreamModel),
      priority: Math.min(priority, twin?.priority ?? priority),
      weight: weight + (twin?.weight ?? 0),
      price: price === 'unreadable' ? undefined : price,
      limits: enforcesRates ? limitsOf(params) : undefined,
      comment: `${place}: ${written}`,
    })
  })
  return [...deployments.values()]
}

/** Deployments that share an address and a credential share an upstream. */
class Upstreams {
  readonly all = new Map<string, { readonly draft: UpstreamDraft; readonly comment: string | undefined }>()
  readonly #names = new Map<string, string>()

  add(wish: string, draft: UpstreamDraft, place: Place): string {
    const content = JSON.stringify(draft)
    const existing = this.#names.get(content)
    if (existing !== undefined) return existing
    // Two names less long than the 63 characters a name may have, for the number behind them.
    const base =
      wish
        .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
        .replace(/^[^A-Za-z0-9]+/, '')
        .slice(0, 59) || 'upstream'
    let name = base
    for (let number = 2; this.all.has(name); number += 1) name = `${base}-${number}`
    const isUnknown = draft.provider === undefined && draft.dialect === 'openai'
    const advice = isUnknown
      ? '. Say `provider` (tei, vllm…) if it is one: it brings the limits of such a server'
      : ''
    this.all.set(name, { draft, comment: `${place}${advice}` })
    this.#names.set(content, name)
    return name
  }
}
