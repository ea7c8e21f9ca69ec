/** The one client of the control API, typed by its contract. */
import createClient from 'openapi-fetch'
import createQueries from 'openapi-react-query'
import { BASE } from '../app/base.ts'
import { words } from '../words/words.ts'
import type { components, paths } from './control.d.ts'
import { FaultError, UnreachableError } from './faults.ts'

/** A shape of the contract by its name: `Schema<'Key'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

const origin = globalThis.location?.origin ?? 'http://localhost'

export const client = createClient<paths>({
  baseUrl: new URL(BASE, origin).href.replace(/\/$/, ''),
  // A repeated parameter, never a list with commas.
  querySerializer: { array: { style: 'form', explode: true } },
  fetch: async (request) => {
    try {
      return await fetch(request)
    } catch (error) {
      if (request.signal.aborted) throw error
      throw new UnreachableError(words.ui.unreachable, { cause: error })
    }
  },
})

/** An answer that is no success throws a `FaultError`, also where its body is not JSON: that of a proxy in between. */
client.use({
  async onResponse({ response }) {
    if (!response.ok) throw new FaultError(response, await response.json().catch(() => undefined))
  },
})

/** Queries with keys by path: `['get', '/api/v1/keys', …]`. */
export const api = createQueries(client)

/** The address of something that the browser itself loads: a picture, a download. */
export function apiUrl(path: `/api/v1/${string}`): string {
  return `${BASE.replace(/\/$/, '')}${path}`
}
