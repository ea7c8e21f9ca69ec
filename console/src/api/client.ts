/** The one client of the control API, typed by its contract. */
import createClient from 'openapi-fetch'
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

interface Answer<Data> {
  readonly data?: Data
  readonly error?: unknown
  readonly response: Response
}

/** The body of an answer, or throws a `FaultError`. */
export async function answerOf<Data>(call: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await call
  if (!response.ok) throw new FaultError(response, error)
  return data as Data
}

/** The address of something that the browser itself loads: a picture, a download. */
export function apiUrl(path: `/api/v1/${string}`): string {
  return `${BASE.replace(/\/$/, '')}${path}`
}
