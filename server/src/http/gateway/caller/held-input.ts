/** Holds what a caller sent until the request has ended, where its project captures inputs. */
import type { IncomingMessage } from 'node:http'
import { TAGS_HEADER } from '#core/request/labels.ts'
import { CAPTURED_TEXT } from '#ports/captures.ts'
import type { Key } from '#ports/keys.ts'
import { singleOf } from './caller.ts'
import type { Journey } from './journey.ts'

/** Headers that change what a request means. Never a credential, and nothing that would join an earlier job. */
const KEPT_HEADERS = ['cache-control', 'x-torana-space', TAGS_HEADER, 'x-torana-unsupported'] as const

/** Answers say that the input is kept. */
export function holdInput(journey: Journey, { project }: Key, body: Uint8Array): void {
  const { capture, request, response, route, path } = journey
  journey.held = capture?.hold(project, { route, path, headers: keptHeaders(request), body })
  if (journey.held !== undefined) response.setHeader('x-torana-captured', CAPTURED_TEXT)
}

function keptHeaders({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(
    KEPT_HEADERS.flatMap((name) => {
      const value = singleOf(headers[name])
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
}
