/** A fault as the request log keeps it: what the caller read, without the caller's content and without secrets. */
import { scrubbed, UpstreamFailure } from './failure.ts'
import type { Fault } from './fault.ts'

/** Characters of a text in the log: longer than any that Torana writes, so that a quoted value can't fill the table. */
const MAX_CHARACTERS = 600

/** Stands for what may be the caller's content. */
const LEFT_OUT = '[…]'

/** One word of plain characters: the name of a model, a field or an option. Texts and prompts have spaces or other characters. */
const NAME = /^[\w.:/@+[\]-]{1,64}$/
/** A value as `shown` and `named` quote it. An apostrophe within a word is no quote. */
const QUOTED = /"((?:[^"\\]|\\.)*)"…?|(?<!\w)'(.*?)'(?!\w)/gs

export function loggedText(fault: Fault): string {
  const ours = withoutUpstreamsWords(fault)
  return cut(isAboutTheRequest(fault.entry.status) ? withoutContent(ours, fault.param) : ours)
}

/** An upstream may repeat what it was sent. The fault of an image job that ended earlier has no cause: its words are after the colon. */
function withoutUpstreamsWords({ message, cause, upstream }: Fault): string {
  if (cause instanceof UpstreamFailure)
    return cause.isInUpstreamsWords && cause.message !== ''
      ? message.replaceAll(cause.message, LEFT_OUT)
      : message
  const end = upstream?.status === undefined ? -1 : message.indexOf(': ')
  return end < 0 ? message : `${message.slice(0, end)}: ${LEFT_OUT}`
}

/** Refusals for a limit and failures are about Torana, its stores or an upstream: they quote names of the installation alone. */
function isAboutTheRequest(status: number): boolean {
  return status < 500 && status !== 429
}

function withoutContent(text: string, param: string | undefined): string {
  const unnamed = param === undefined || NAME.test(param) ? text : text.replaceAll(param, LEFT_OUT)
  return unnamed.replace(QUOTED, (quoted, double?: string, single?: string) =>
    NAME.test(double ?? single ?? '') ? quoted : LEFT_OUT,
  )
}

/** What made it happen, where that can't repeat what the caller sent: a call that failed, or a connection of the node. */
export function loggedCause(cause: unknown): string | undefined {
  if (cause instanceof UpstreamFailure) return cause.isInUpstreamsWords ? undefined : cut(cause.reason)
  for (let error = cause; error instanceof Error; error = error.cause)
    if ('syscall' in error) return cut(error.message)
  return cause instanceof Error ? cause.name : undefined
}

function cut(text: string): string {
  return scrubbed(text).slice(0, MAX_CHARACTERS)
}
