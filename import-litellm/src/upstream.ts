/** `litellm_params` of one deployment → the upstream it runs on. */
import type { Facts } from 'torana/config'
import { addressOf, apiBaseOf, azureAddressOf, type Address, type Bad } from './address.ts'
import { bedrockHome, vertexHome } from './clouds.ts'
import { headersOf, keyOf, type Placed } from './credentials.ts'
import type { Context, Home } from './home.ts'
import { familyNamed, type Family, type Split } from './providers.ts'
import { textOf, variableOf } from './read.ts'
import type { Notes, Place } from './notes.ts'
import type { Variables } from './variables.ts'

export function homeOf(split: Split, placed: Placed, context: Context): Home | Bad {
  const family = familyNamed(split.family)
  if (!family) return { reason: `Torana has no provider like LiteLLM's ${split.family}` }
  const home = draftOf(family, split, placed, context)
  if ('reason' in home) return home
  if (family.remark !== undefined)
    context.notes.mention(placed.place, `${split.family}/${split.model}`, family.remark)
  const headers = headersOf(home.wish, placed, context)
  return { ...home, draft: { ...home.draft, headers } }
}

function draftOf(
  family: Family,
  { family: name, model }: Split,
  placed: Placed,
  context: Context,
): Home | Bad {
  switch (family.wire) {
    case 'openai':
      return openaiHome(family, name, placed, context)
    case 'azure':
      return azureHome(placed, context)
    case 'ai-sdk':
      return sdkHome(family, name, placed, context)
    case 'vertex':
      return vertexHome(placed, context)
    case 'bedrock':
      return bedrockHome(model, placed, context)
  }
}

function openaiHome(
  family: Family,
  name: string,
  placed: Placed,
  { facts, variables, notes }: Context,
): Home | Bad {
  const { params, place, at } = placed
  const given =
    addressOf(apiBaseOf(params), family.path ?? '', at('api_base'), variables) ??
    defaultAddress(family, variables)
  if (given !== undefined && 'reason' in given) return given
  const published = given && publisherOf(given.text, facts)
  // LiteLLM says `openai/` for every server that speaks OpenAI's language: elsewhere it says nothing of limits or prices.
  const provider = published ?? (given !== undefined && name === 'openai' ? undefined : family.provider)
  const hasAddress = provider !== undefined && facts.get(provider)?.baseUrl !== undefined
  if (given === undefined && !hasAddress)
    return { reason: 'it has no api_base, and its provider has no published address' }
  const wish = provider !== undefined && published === provider ? provider : nameFor(given, provider ?? name)
  const isOwn = provider === undefined && family.baseUrl === undefined
  const apiKey = keyOf(isOwn ? undefined : family.keyVariable, wish, placed, variables)
  if (apiKey === undefined && isOwn && family.keyVariable !== undefined)
    notes.mention(
      place,
      wish,
      `has no api_key: LiteLLM sent the value of ${family.keyVariable} to it, Torana sends none`,
    )
  return {
    wish,
    provider,
    draft: {
      provider,
      dialect: provider === undefined ? 'openai' : undefined,
      baseUrl: published === undefined ? given?.text : undefined,
      apiKey,
    },
  }
}

function defaultAddress(family: Family, variables: Variables): Address | undefined {
  if (family.baseUrl !== undefined) return { text: family.baseUrl, url: new URL(family.baseUrl) }
  if (family.addressVariable === undefined) return undefined
  return {
    text: variables.reference(family.addressVariable, undefined, 'https://upstream.example.invalid'),
    url: undefined,
  }
}

function azureHome(placed: Placed, { variables, notes }: Context): Home | Bad {
  const { params, place, at } = placed
  const given = apiBaseOf(params) ?? 'os.environ/AZURE_API_BASE'
  const address = azureAddressOf(given, at('api_base'), variables)
  if (address === undefined) return { reason: 'its api_base is no http address' }
  if ('reason' in address) return address
  const { resource, baseUrl, host } = address
  const wish = resource === undefined ? (host ?? 'azure') : `azure-${resource}`
  const unsupported = ['azure_ad_token', 'tenant_id', 'client_id', 'client_secret'].filter(
    (name) => params[name] != null,
  )
  if (unsupported.length > 0) {
    notes.leave(
      at(unsupported[0] ?? ''),
      unsupported.join(', '),
      'Torana signs in to Azure with a key only; the new file asks for one',
    )
  }
  const isElsewhere = host !== undefined && !host.endsWith('.azure.com')
  if (isElsewhere && params['api_version'] == null && address.apiVersion === undefined) {
    notes.mention(
      place,
      wish,
      "has no api_version: Torana uses Azure's v1 path. Set apiVersion if what stands there knows the older paths only",
    )
  }
  return {
    wish,
    provider: 'azure',
    draft: {
      dialect: 'azure',
      resource,
      baseUrl,
      apiKey: keyOf('AZURE_API_KEY', wish, placed, variables),
      apiVersion: versionOf(params['api_version'] ?? address.apiVersion, at('api_version'), variables, notes),
    },
  }
}

function versionOf(given: unknown, place: Place, variables: Variables, notes: Notes): string | undefined {
  const variable = variableOf(given)
  if (variable !== undefined) return variables.reference(variable, place, '2024-10-21')
  const text = textOf(given)
  if (text === undefined || text === 'latest') return undefined
  if (/^(v1|preview|\d{4}-\d{2}-\d{2}(-preview)?)$/.test(text)) return text
  notes.leave(place, `api_version: ${text}`, "no version of Azure's API: its v1 path is used")
  return undefined
}

function sdkHome(family: Family, name: string, placed: Placed, { variables, notes }: Context): Home | Bad {
  const { params, at } = placed
  const provider = family.provider ?? name
  const apiKey = keyOf(family.keyVariable, provider, placed, variables)
  const base = apiBaseOf(params)
  if (base == null) return { wish: provider, provider, draft: { provider, apiKey } }
  const address = addressOf(base, '', at('api_base'), variables)
  if (address === undefined || 'reason' in address) return address ?? { reason: 'its api_base is no text' }
  // Alibaba's address in LiteLLM is the one of its OpenAI-compatible API; Mistral's, Voyage's and Fireworks' end alike in both.
  if (name === 'dashscope') {
    return {
      wish: nameFor(address, name),
      provider: undefined,
      draft: { dialect: 'openai', baseUrl: address.text, apiKey },
    }
  }
  if (name === 'mistral' || name === 'voyage' || name === 'fireworks_ai')
    return { wish: nameFor(address, name), provider, draft: { provider, baseUrl: address.text, apiKey } }
  notes.leave(
    at('api_base'),
    `api_base of ${name}`,
    'LiteLLM and Torana build this address differently: set baseUrl yourself',
  )
  return { wish: provider, provider, draft: { provider, apiKey } }
}

/** The provider whose published https address this is. */
function publisherOf(address: string, facts: Facts): string | undefined {
  if (!address.startsWith('https://')) return undefined
  return [...facts.values()].find(({ baseUrl }) => baseUrl?.replace(/\/+$/, '') === address)?.provider
}

/** The host says more than the provider, unless it is just this machine or a number. */
function nameFor(address: Address | undefined, fallback: string): string {
  const host = address?.url?.hostname
  return host === undefined || /^(localhost|[\d.]+|\[.*\])$/.test(host) ? (address?.name ?? fallback) : host
}
