/** A line of the log as a person reads it: time, level, event, and its facts. */

const COLOURS: Readonly<Record<string, number>> = {
  trace: 90,
  debug: 90,
  info: 32,
  warn: 33,
  error: 31,
  fatal: 31,
}
const DIM = 2
/** `23:59:59.999` in an ISO time. */
const CLOCK = { from: 11, to: 23 }

interface LogLine {
  readonly level: string
  readonly time: string
  readonly message?: string
  readonly err?: { readonly message?: string; readonly stack?: string }
  readonly [fact: string]: unknown
}

export function lineText(json: string, isColoured: boolean): string {
  const { level, time, message = '', err, ...facts } = JSON.parse(json) as LogLine
  const coloured = (text: string, code: number): string =>
    isColoured && text !== '' ? `\u001B[${code}m${text}\u001B[0m` : text
  const what = message === 'request' ? requestText(facts) : { text: message, rest: facts }
  const parts = [
    coloured(time.slice(CLOCK.from, CLOCK.to), DIM),
    coloured(level.toUpperCase().padEnd(5), COLOURS[level] ?? 0),
    what.text,
    coloured(factsText(what.rest), DIM),
  ].filter((part) => part !== '')
  const trouble =
    err === undefined ? '' : `\n      ${(err.stack ?? err.message ?? '').replaceAll('\n', '\n      ')}`
  return parts.join(' ') + trouble
}

/** Most lines are requests: `embeddings 200 in 12.3 ms`. */
function requestText({ route, status, durationMs, ...rest }: Readonly<Record<string, unknown>>) {
  return { text: `${String(route)} ${String(status)} in ${String(durationMs)} ms`, rest }
}

function factsText(facts: Readonly<Record<string, unknown>>): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name}=${valueText(value)}`)
    .join(' ')
}

/** Quoted where it would not be read as one word. Control characters of a caller stay escaped. */
function valueText(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=\p{Cc}]+$/u.test(value) ? value : JSON.stringify(value)
}
