/** Lets web pages of other origins call the API and read images. Off unless an operator names the origins. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CorsSettings } from '#core/settings.ts'

export interface Cors {
  /** Adds the headers that a browser needs. True when the request was a browser's preflight and is answered. */
  answers(request: IncomingMessage, response: ServerResponse): boolean
}

const METHODS = 'GET, HEAD, POST'
/** The longest time that Chrome caches a preflight answer; Firefox accepts it too. */
const MAX_AGE_S = '7200'
/** The headers that a page can read, besides a few of HTTP's own. */
const EXPOSED = [
  'accept-ranges',
  'allow',
  'content-range',
  'etag',
  'location',
  'preference-applied',
  'retry-after',
  'retry-after-ms',
  'server-timing',
  'x-request-id',
  'x-should-retry',
  ...['limit', 'remaining', 'reset'].flatMap((what) =>
    ['requests', 'tokens', 'images'].map((unit) => `x-ratelimit-${what}-${unit}`),
  ),
  'x-torana-attempts',
  'x-torana-cache',
  'x-torana-cost',
  'x-torana-cost-by',
  'x-torana-deployment',
  'x-torana-differs',
  'x-torana-dropped',
  'x-torana-emulated',
  'x-torana-extra',
  'x-torana-incomplete',
  'x-torana-job',
  'x-torana-model-ends',
  'x-torana-provenance',
  'x-torana-space',
  'x-torana-usage',
].join(', ')

/** Names of headers. A preflight with anything else is not echoed. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, -]*$/

export function corsOf({ origins }: CorsSettings): Cors {
  const listed = origins === '*' ? undefined : new Set(origins)
  return {
    answers(request, response) {
      const { origin } = request.headers
      // A cache must not return the answer for one origin to another.
      if (listed !== undefined) response.setHeader('vary', 'origin')
      const allowed = listed === undefined ? '*' : listed.has(origin ?? '') ? origin : undefined
      if (allowed === undefined) return false
      response.setHeader('access-control-allow-origin', allowed)
      const isQuestion =
        request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined
      if (!isQuestion) {
        response.setHeader('access-control-expose-headers', EXPOSED)
        return false
      }
      answerQuestion(request, response)
      return true
    },
  }
}

/** Keys travel in a header that a page sets itself. So there are no cookies to allow, and no credentials. */
function answerQuestion({ headers }: IncomingMessage, response: ServerResponse): void {
  const asked = headers['access-control-request-headers'] ?? ''
  response.setHeader('access-control-allow-methods', METHODS)
  // The SDKs send a dozen headers of their own, which change with their versions; none of them opens anything without a key.
  if (asked !== '' && HEADER_NAMES.test(asked)) response.setHeader('access-control-allow-headers', asked)
  response.setHeader('access-control-max-age', MAX_AGE_S)
  response.writeHead(204).end()
}
