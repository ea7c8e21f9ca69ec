import type { Upstream } from './catalog.ts'

/** What a credential is bound to: where calls go. Without an address of its own, a package goes to its provider's. */
export function addressOf({ baseUrl, dialect, provider }: Upstream): string {
  return baseUrl ?? `${dialect}:${provider ?? ''}`
}
