/**
 * What an entry of an upstream in the store may hold. Any admin writes it, and every operator reads it, its history and its audit
 * entries: it holds no secret, and nothing that makes a library read a file or call another address.
 */
import { isRecord } from '../text/record.ts'

/**
 * The settings of the packages that take any, and where they may be written: in the store too, or in torana.yaml alone. The
 * others take a key, headers and a base URL. Google's auth library reads files and calls addresses that `googleAuthOptions` names.
 */
export const PROVIDER_SETTINGS = {
  'amazon-bedrock': {
    region: 'store',
    accessKeyId: 'file',
    secretAccessKey: 'file',
    sessionToken: 'file',
    modelFamily: 'store',
  },
  'google-vertex': { project: 'store', location: 'store', googleAuthOptions: 'file' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, 'store' | 'file'>>>>

/** Their values are no secrets at any provider. */
export const PLAIN_HEADERS = [
  'accept-language',
  'http-referer',
  'openai-beta',
  'openai-organization',
  'openai-project',
  'referer',
  'user-agent',
  'x-goog-user-project',
  'x-title',
] as const

/** Names of the settings of a provider, or of those that the store takes. */
export function settingsOf(provider: string | undefined, where?: 'store'): readonly string[] {
  const all: Readonly<Record<string, Readonly<Record<string, string>>>> = PROVIDER_SETTINGS
  const own = provider !== undefined && Object.hasOwn(all, provider) ? (all[provider] ?? {}) : {}
  return Object.keys(own).filter((name) => where === undefined || own[name] === where)
}

interface FieldProblem {
  readonly path: readonly string[]
  readonly text: string
}

const NO_SECRET =
  'the store keeps no secret in an entry. Store it as the key of the upstream, or declare the upstream in torana.yaml'

/** Without a key, Google's auth library gets tokens of the machine's own account. */
const TOKENS =
  'for google-vertex the store takes no address: tokens of the account of this machine would go there. Remove it, or declare the upstream in torana.yaml'

export function storedUpstreamProblems(entry: Readonly<Record<string, unknown>>): readonly FieldProblem[] {
  const { apiKey, baseUrl, headers, provider, settings, tls } = entry
  const plain: readonly string[] = PLAIN_HEADERS
  return [
    ...(apiKey === undefined ? [] : [{ path: ['apiKey'], text: NO_SECRET }]),
    ...(provider === 'google-vertex' && baseUrl !== undefined ? [{ path: ['baseUrl'], text: TOKENS }] : []),
    ...(isRecord(tls) && tls['key'] !== undefined ? [{ path: ['tls', 'key'], text: NO_SECRET }] : []),
    ...Object.keys(isRecord(headers) ? headers : {})
      .filter((name) => !plain.includes(name.toLowerCase()))
      .map((name) => ({
        path: ['headers', name],
        text: `${NO_SECRET}. Headers that the store takes: ${plain.join(', ')}`,
      })),
    ...Object.entries(isRecord(settings) ? settings : {}).flatMap(([name, value]) =>
      settingProblem(typeof provider === 'string' ? provider : undefined, name, value),
    ),
  ]
}

function settingProblem(provider: string | undefined, name: string, value: unknown): readonly FieldProblem[] {
  const path = ['settings', name]
  const taken = settingsOf(provider, 'store')
  if (!taken.includes(name)) {
    const list = taken.length === 0 ? 'no settings' : `of its settings only ${taken.join(' and ')}`
    const text = `for ${provider ?? 'an upstream without a provider'} the store takes ${list}. Remove it, or declare the upstream in torana.yaml`
    return [{ path, text }]
  }
  return typeof value === 'string' ? [] : [{ path, text: 'expected text' }]
}
