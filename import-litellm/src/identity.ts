/** Which model it really is: names in a LiteLLM file are the operator's own, and one vector space must stay one. */
import { factsOf, type Facts } from 'torana/config'

export interface Names {
  /** Torana's provider of the deployment, if it has facts about it. */
  readonly provider: string | undefined
  /** What the upstream is asked for. */
  readonly model: string
  /** `model_info.base_model`: what the operator says it is. */
  readonly baseModel: string | undefined
  /** `model_name`: what callers ask for. */
  readonly publicName: string
}

/** Families of servers that anybody can run: what they know are weights, which may run anywhere. */
const SELF_HOSTED = ['tei', 'vllm', 'infinity', 'ollama', 'lm-studio', 'llama-cpp']

export interface Identity {
  /** Of the built-in facts that describe the model. */
  readonly id: string
  /** Only its public name says so. */
  readonly isAssumed: boolean
}

/** Undefined: Torana knows nothing about the model. */
export function identityOf(names: Names, facts: Facts): Identity | undefined {
  const { provider, model, baseModel, publicName } = names
  const stated = baseModel === undefined ? [] : [baseModel, baseModel.slice(baseModel.indexOf('/') + 1)]
  for (const word of [...stated, ...variantsOf(model)]) {
    const id = knownId(facts, provider, word)
    if (id !== undefined) return { id, isAssumed: false }
  }
  // A public name counts only where it can be true: ada-002 in front of one's own server is a disguise.
  const believable = provider === undefined ? SELF_HOSTED : [provider]
  for (const name of believable) {
    const found = factsOf(facts.get(name), publicName)
    if (found) return { id: found.id, isAssumed: true }
  }
  return undefined
}

/** Ollama's tag, Bedrock's regions and profiles, and the makers' names that resellers put before a model. */
function variantsOf(model: string): string[] {
  const plain = model
    .replace(/:latest$/, '')
    .replace(/^[a-z]{2}(-[a-z]+)+-\d\//, '')
    .replace(/^(us|eu|apac|global)\./, '')
    .replace(/^(openai|google|mistralai|cohere|voyage)\//, '')
  return [...new Set([model, plain])]
}

function knownId(facts: Facts, provider: string | undefined, word: string): string | undefined {
  const own = facts.get(provider ?? '')
  const named = Object.entries(own?.models ?? {}).find(([, { upstreamModel }]) => upstreamModel === word)
  const found = factsOf(own, word)?.id ?? named?.[0]
  if (found !== undefined) return found
  for (const other of facts.values()) {
    // Ollama's names are its own: the same word elsewhere means the full weights.
    const id = other.provider === 'ollama' ? undefined : factsOf(other, word)?.id
    if (id !== undefined) return id
  }
  return undefined
}

export type Kind = 'embedding' | 'image' | 'other'

const IMAGE = /dall-e|image|imagen|stable-diffusion|sdxl|flux|ideogram|recraft|nova-canvas/i

/** LiteLLM has a list of all models to tell. Without `mode` the built-in facts must tell, or the names. */
export function kindOf(
  mode: string | undefined,
  names: Names,
  known: 'embedding' | 'image' | undefined,
): Kind {
  if (mode === 'embedding') return 'embedding'
  if (mode === 'image_generation' || mode === 'image_edit') return 'image'
  if (mode !== undefined) return 'other'
  const words = [names.model, names.publicName, names.baseModel ?? ''].join(' ')
  if (known !== undefined) return known
  if (/embed/i.test(words)) return 'embedding'
  return IMAGE.test(words) ? 'image' : 'other'
}
