/** What a failed call says to a person. */
import { words } from '../words/words.ts'

/** What faults of the API have beside their message. */
interface Failure {
  readonly name?: string
  readonly message?: string
  readonly status?: number
  readonly code?: string
  readonly param?: string
}

export function failureText(error: unknown): string {
  const { name, message, status, code, param } = partsOf(error)
  if (name === 'UnreachableError') return words.ui.unreachable
  if (name === 'WorkerError') return words.ui.workerFailed
  if (status === 401 && code !== 'sign_in_failed') return words.ui.signedOut
  if (message === undefined) return String(error)
  return param !== undefined && message.startsWith(`${param}: `) ? message.slice(param.length + 2) : message
}

/** A later try may succeed. */
export function mayPass(error: unknown): boolean {
  const { name, status = 0 } = partsOf(error)
  return name === 'UnreachableError' || status >= 500
}

/** The field that a failure is about: `rules.0.claim` is about `rules`. The longest name that fits wins. */
export function fieldOf(error: unknown, fields: Iterable<string>): string | undefined {
  const { param } = partsOf(error)
  return [...fields]
    .toSorted((a, b) => b.length - a.length)
    .find((field) => param === field || param?.startsWith(`${field}.`) === true)
}

function partsOf(error: unknown): Failure {
  return typeof error === 'object' && error !== null ? error : {}
}
