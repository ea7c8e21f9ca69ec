/** One entry of `model_list`, as far as it is a model that Torana can serve. */
import { factsOf, modelFactsOf } from 'torana/config'
import { apiBaseOf } from './address.ts'
import type { Context, Home } from './home.ts'
import { identityOf, kindOf, type Identity, type Kind, type Names } from './identity.ts'
import { leaveParams } from './params.ts'
import { familyNamed, splitModel, type Split } from './providers.ts'
import { fieldsOf, isMapping, isModelId, isTrue, textOf, variableOf, type Fields } from './read.ts'
import { homeOf } from './upstream.ts'
import type { Place } from './notes.ts'

export interface Entry {
  readonly place: Place
  /** `model_name`: what callers ask for. */
  readonly name: string
  readonly kind: Exclude<Kind, 'other'>
  readonly params: Fields
  readonly info: Fields
  /** As it stands in the file: `azure/my-deployment`. */
  readonly written: string
  readonly upstreamModel: string
  readonly home: Home
  readonly identity: Identity | undefined
}

export interface EntryOptions {
  /** `credential_list`, by name. */
  readonly credentials: ReadonlyMap<string, Fields>
  /** The router refuses what goes beyond `rpm` and `tpm` of a deployment. */
  readonly enforcesRates: boolean
}

/** Undefined when it is not carried over; the notes say why. */
export function readEntry(
  item: unknown,
  placeOf: (...path: string[]) => Place,
  { credentials, enforcesRates }: EntryOptions,
  context: Context,
): Entry | undefined {
  const { facts, notes } = context
  const place = placeOf()
  const name = textOf(fieldsOf(item)['model_name'])
  const leave = (reason: string) => notes.leave(place, name ?? 'an entry of model_list', reason)
  const raw = fieldsOf(fieldsOf(item)['litellm_params'])
  const written = textOf(raw['model'])
  if (!isMapping(item) || name === undefined || written === undefined)
    return leave('needs a model_name and litellm_params with a model')
  if (name.includes('*') || written.includes('*'))
    return leave('wildcards: Torana serves the models that its file names, so add those you use')
  if (!isModelId(name)) return leave('its name holds characters that a model id can not have')
  if (variableOf(written) !== undefined)
    return leave('its model comes from a variable: write it down and import again')

  const params = { ...credentials.get(textOf(raw['litellm_credential_name']) ?? ''), ...raw }
  const info = fieldsOf(fieldsOf(item)['model_info'])
  const split = splitModel(written, textOf(params['custom_llm_provider']), (provider, model) =>
    Boolean(factsOf(facts.get(provider), model)),
  )
  const names: Names = {
    provider: likelyProvider(split, params),
    model: split.model,
    baseModel: textOf(info['base_model']),
    publicName: name,
  }
  const mode = textOf(info['mode'])
  const known = identityOf(names, facts)
  const kind = kindOf(mode, names, known && modelFactsOf(facts, known.id)?.kind)
  if (kind === 'other') return leave(reasonFor(mode))
  if (isTrue(info['blocked'])) return leave('is blocked in LiteLLM')
  if (info['team_id'] != null)
    return leave('belongs to one team: add it, and give its id to the keys of that team only')

  const placed = { params, place, at: (field: string) => placeOf('litellm_params', field) }
  const home = homeOf(split, placed, context)
  if ('reason' in home) return leave(home.reason)
  const identity = identityOf({ ...names, provider: home.provider }, facts)
  // Sizes, formats and prices of images differ from model to model: nothing of them is guessed.
  if (kind === 'image' && (identity === undefined || modelFactsOf(facts, identity.id)?.kind !== 'image'))
    return leave(
      'an image model that Torana has no facts about: add it by hand, with its sizes and its price, see docs/upstreams.md',
    )
  leaveParams(name, kind, placed, notes, enforcesRates)
  const upstreamModel = home.model ?? split.model
  return { place, name, kind, params, info, written, upstreamModel, home, identity }
}

/** `openai/` before an address of one's own names the language, not the provider. */
function likelyProvider(split: Split, params: Fields): string | undefined {
  const isElsewhere = split.family === 'openai' && apiBaseOf(params) != null
  return isElsewhere ? undefined : familyNamed(split.family)?.provider
}

function reasonFor(mode: string | undefined): string {
  if (mode !== undefined) return `mode ${mode}: Torana serves embeddings and images`
  return 'neither an embedding nor an image model as far as the file tells: if one is, say `mode: embedding` or `mode: image_generation` in its model_info and import again'
}
