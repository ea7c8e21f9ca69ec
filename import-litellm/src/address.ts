/** `api_base` → the address that Torana puts `/embeddings` behind. */
import { literal, textOf, variableOf, type Fields } from './read.ts'
import type { Place } from './notes.ts'
import type { Variables } from './variables.ts'

export interface Address {
  /** As torana.yaml takes it; holds a reference when LiteLLM takes it from its environment. */
  readonly text: string
  /** Undefined for a reference. */
  readonly url: URL | undefined
  /** `house` for `HOUSE_API_BASE`. */
  readonly name?: string | undefined
}

export interface Bad {
  readonly reason: string
}

export function apiBaseOf(params: Fields): unknown {
  return params['api_base'] ?? params['base_url']
}

/** Undefined when none is given. `path` is added unless it is there already. */
export function addressOf(
  given: unknown,
  path: string,
  place: Place,
  variables: Variables,
): Address | Bad | undefined {
  const variable = variableOf(given)
  if (variable !== undefined) {
    const reference = variables.reference(variable, place, 'https://upstream.example.invalid')
    const name = /^(\w+?)_(?:API_BASE|BASE_URL|API_URL|URL)$/.exec(variable)?.[1]?.toLowerCase()
    return { text: `${reference}${path}`, url: undefined, name }
  }
  const text = textOf(given)
  if (text === undefined) return undefined
  const url = URL.parse(text)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    return { reason: 'its api_base is no http address' }
  if (url.username !== '' || url.password !== '')
    return { reason: 'its api_base holds credentials: Torana takes them in apiKey or headers only' }
  if (url.search !== '' || url.hash !== '')
    return { reason: 'its api_base has a ? or #: Torana puts paths behind a base URL' }
  const base = `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/embeddings$/, '')
  return { text: literal(base.endsWith(path) ? base : `${base}${path}`), url }
}

export interface AzureAddress {
  readonly resource: string | undefined
  readonly baseUrl: string | undefined
  /** Of the `api-version` that some addresses carry. */
  readonly apiVersion: string | undefined
  readonly host: string | undefined
}

/** Azure's addresses come as the resource's root or as the whole path of one deployment. */
export function azureAddressOf(
  given: unknown,
  place: Place,
  variables: Variables,
): AzureAddress | Bad | undefined {
  const text = textOf(given)
  const url = text === undefined || variableOf(text) !== undefined ? undefined : URL.parse(text)
  const apiVersion = url?.searchParams.get('api-version') ?? undefined
  if (url) {
    url.search = ''
    url.pathname = url.pathname.replace(/\/openai(\/.*)?$/, '')
  }
  const address = addressOf(url?.href ?? given, '', place, variables)
  if (address === undefined || 'reason' in address) return address
  const resource = /^https:\/\/([A-Za-z0-9][A-Za-z0-9-]*)\.openai\.azure\.com$/.exec(address.text)?.[1]
  return {
    resource,
    baseUrl: resource === undefined ? address.text : undefined,
    apiVersion,
    host: address.url?.hostname,
  }
}
