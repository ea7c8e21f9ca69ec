/** What one types to connect an upstream, and what the API is asked with it. */
import type { Schema } from '../../api/client.ts'
import { words } from '../../words/words.ts'

type Provider = Schema<'Provider'>
/** A model that a check found. */
export type Found = Schema<'Checked'>['models'][number]

/** In the order of the tiles; the rest is behind the last one. */
export const TILES = [
  'openai',
  'azure',
  'google',
  'own',
  'cohere',
  'amazon-bedrock',
  'black-forest-labs',
] as const
export type Tile = (typeof TILES)[number] | 'more'

/** Servers that one runs oneself. */
export const SERVERS = ['tei', 'vllm', 'ollama', 'infinity', 'llama-cpp', 'lm-studio'] as const

export interface Fields {
  readonly tile: Tile
  /** Behind the tiles of servers and of others. Empty: any OpenAI-compatible server. */
  readonly provider: string
  readonly baseUrl: string
  readonly secret: string
  readonly region: string
  readonly project: string
  readonly location: string
  /** Empty: derived from the provider or the host. */
  readonly name: string
}

export const NO_FIELDS: Fields = {
  tile: 'openai',
  provider: '',
  baseUrl: '',
  secret: '',
  region: '',
  project: '',
  location: '',
  name: '',
}

export function providerOf({ tile, provider }: Fields): string | undefined {
  if (tile === 'own' || tile === 'more') return provider === '' ? undefined : provider
  return tile
}

/** Which fields this kind of upstream has beside its key. */
export function asksFor(fields: Fields): { address: boolean; region: boolean; place: boolean } {
  const provider = providerOf(fields)
  const isOwn = fields.tile === 'own' || provider === undefined
  return {
    address: isOwn || provider === 'azure',
    region: provider === 'amazon-bedrock',
    place: provider === 'google-vertex',
  }
}

export function isComplete(fields: Fields): boolean {
  const { address, region, place } = asksFor(fields)
  if (address && fields.baseUrl === '') return false
  if (region && fields.region === '') return false
  if (place && (fields.project === '' || fields.location === '')) return false
  return address || place || fields.secret !== ''
}

export function questionOf(fields: Fields): Schema<'UpstreamQuestionInput'> {
  const asked = asksFor(fields)
  const provider = providerOf(fields)
  return {
    ...(provider !== undefined && { provider }),
    ...(asked.address && { base_url: fields.baseUrl }),
    ...(asked.region && { region: fields.region }),
    ...(asked.place && { project: fields.project, location: fields.location }),
    ...(fields.secret !== '' && { secret: fields.secret }),
  }
}

export function newUpstreamOf(fields: Fields): Schema<'NewUpstreamInput'> {
  const name = fields.name.trim()
  return { ...questionOf(fields), ...(name !== '' && { name }) }
}

/** The host that the key is sent to, as far as one can know before. */
export function hostOf(fields: Fields, providers: readonly Provider[]): string {
  const known = providers.find(({ id }) => id === providerOf(fields))?.base_url
  const address = asksFor(fields).address ? fields.baseUrl : known
  return address && URL.canParse(address) ? new URL(address).host : words.upstreams.its
}

export function nameOf(fields: Fields, providers: readonly Provider[]): string {
  const provider = providerOf(fields)
  return providers.find(({ id }) => id === provider)?.name ?? words.upstreams.ownServer
}
