/** The destination of an upstream's calls, to which its credential is bound. */
import type { Upstream } from './catalog.ts'

/** A setting that a provider package writes into the host name of its calls. */
export interface HostSetting {
  /** No matching value can leave the provider's own domain: it has neither a dot nor a slash. */
  readonly pattern: RegExp
  /** Ends the sentence "…: expected". */
  readonly expected: string
}

/** By provider, then by setting. A test calls every provider package and fails when a setting is missing here. */
export const HOST_SETTINGS = {
  'amazon-bedrock': {
    region: {
      pattern: /^[a-z]{2,8}(-[a-z]{2,12}){1,3}-\d{1,2}$/,
      expected: 'an AWS region such as eu-central-1',
    },
  },
  'google-vertex': {
    location: {
      pattern: /^(global|eu|us|[a-z]{2,16}-[a-z]{2,16}\d{1,2})$/,
      expected: 'a Google Cloud location such as europe-west4, or global, eu or us',
    },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, HostSetting>>>>

export function hostSettingsOf(provider: string | undefined): Readonly<Record<string, HostSetting>> {
  const all: Readonly<Record<string, Readonly<Record<string, HostSetting>>>> = HOST_SETTINGS
  return provider !== undefined && Object.hasOwn(all, provider) ? (all[provider] ?? {}) : {}
}

/**
 * What a credential is bound to: the destination of calls. Without a base URL, a package calls its provider's host, which
 * some settings are part of: `ai-sdk:amazon-bedrock/eu-central-1`.
 */
export function addressOf(upstream: Upstream): string {
  const parts = upstream.baseUrl === undefined ? Object.keys(hostSettingsOf(upstream.provider)) : []
  const values = parts.map((name) => {
    const value = upstream.settings[name]
    return typeof value === 'string' ? value : ''
  })
  return [endpointOf(upstream), ...values].join('/')
}

/** The address without settings. */
export function endpointOf({ baseUrl, dialect, provider }: Upstream): string {
  return baseUrl ?? `${dialect}:${provider ?? ''}`
}
