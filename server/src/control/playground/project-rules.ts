/**
 * The project that pays for a request of the playground. It is the first field of the body, because its limits bound the
 * rest; the gateway's handler gets the body without it, as any caller would have sent it.
 */
import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { Fault } from '#core/fault/fault.ts'

/** Bytes in which the field must end: a name has 63 characters, and a form writes a few hundred around it. */
const MAX_BYTES = 8192
/** The time in which the first field arrives. A browser sends it with the headers. */
const MAX_WAIT_MS = 10_000

interface Named {
  readonly project: string
  /** Replaces the bytes that were read. */
  readonly rest: Buffer
}

export async function takeProject(request: IncomingMessage, waitMs = MAX_WAIT_MS): Promise<string> {
  const boundary = /^multipart\/form-data\b.*?\bboundary="?([^";]{1,70})/i.exec(
    request.headers['content-type'] ?? '',
  )?.[1]
  const find = boundary === undefined ? inJson : (seen: Buffer) => inForm(seen, boundary)
  const given = await firstBytes(request, waitMs, find)
  if (given === undefined)
    throw new Fault(
      'missing_parameter',
      'The project that pays is missing. Send `project` as the first field of the body.',
      { param: 'project' },
    )
  const { named, seenBytes } = given
  const { 'content-length': length } = request.headers
  if (length !== undefined)
    request.headers['content-length'] = String(Number(length) - seenBytes + named.rest.length)
  if (named.rest.length > 0) request.unshift(named.rest)
  // The next reader listens to events of its own: the stream forgets ours in the next turn.
  await setImmediate()
  return named.project
}

async function firstBytes(
  request: IncomingMessage,
  waitMs: number,
  find: (seen: Buffer) => Named | undefined,
): Promise<{ readonly named: Named; readonly seenBytes: number } | undefined> {
  const late = AbortSignal.timeout(waitMs)
  let seen = Buffer.alloc(0)
  while (seen.length < MAX_BYTES && !request.readableEnded && !request.destroyed) {
    const chunk = request.read() as Buffer | null
    if (chunk === null) {
      await moreOf(request, late)
      if (late.aborted)
        throw new Fault(
          'request_timeout',
          `The field \`project\` did not arrive within ${waitMs} ms. Send it as the first field of the body, at once.`,
        )
      continue
    }
    seen = Buffer.concat([seen, chunk])
    const named = find(seen)
    if (named !== undefined) return { named, seenBytes: seen.length }
  }
  return undefined
}

/** Resolves when there is more to read, at the end of the body, or when it is late. */
function moreOf(request: IncomingMessage, late: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = (): void => {
    for (const event of ENDS) request.off(event, done)
    late.removeEventListener('abort', done)
    resolve()
  }
  for (const event of ENDS) request.on(event, done)
  late.addEventListener('abort', done)
  return promise
}

const ENDS = ['readable', 'end', 'close'] as const

const JSON_HEAD = /^(\s*\{)(\s*"project"\s*:\s*"([^"\\]{1,100})"\s*)(,|(?=\}))/

function inJson(seen: Buffer): Named | undefined {
  const head = JSON_HEAD.exec(seen.subarray(0, MAX_BYTES).toString('latin1'))
  if (head === null) return undefined
  const [all, open = '', , project = ''] = head
  return {
    project,
    rest: Buffer.concat([Buffer.from(open, 'latin1'), seen.subarray(Buffer.byteLength(all, 'latin1'))]),
  }
}

function inForm(seen: Buffer, boundary: string): Named | undefined {
  const [border, end] = [`--${boundary}\r\n`, `\r\n--${boundary}`]
  const text = seen.subarray(0, MAX_BYTES).toString('latin1')
  if (!text.startsWith(border)) return undefined
  const headEnd = text.indexOf('\r\n\r\n')
  const partEnd = text.indexOf(end, headEnd)
  if (headEnd < 0 || partEnd < 0 || !/;\s*name="?project"?\s*(?:;|\r|$)/i.test(text.slice(0, headEnd)))
    return undefined
  return { project: text.slice(headEnd + 4, partEnd).trim(), rest: seen.subarray(partEnd + 2) }
}
