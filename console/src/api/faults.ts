/** What the control API reports when it can't do what it was asked. */
import { words } from '../words/words.ts'

interface FaultBody {
  readonly error?: {
    readonly message?: string
    readonly code?: string
    readonly param?: string | null
    readonly request_id?: string
  }
}

export class FaultError extends Error {
  override readonly name = 'FaultError'
  readonly code: string
  readonly status: number
  /** The field that is wrong. */
  readonly param: string | undefined
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(response: Pick<Response, 'status' | 'headers'>, body: unknown) {
    const { error } = (typeof body === 'object' && body !== null ? body : {}) as FaultBody
    super(error?.message ?? words.ui.badAnswer(response.status))
    this.code = error?.code ?? 'unknown'
    this.status = response.status
    this.param = error?.param ?? undefined
    this.requestId = response.headers.get('x-request-id') ?? error?.request_id
    const seconds = Number(response.headers.get('retry-after'))
    this.retryAfterMs = seconds > 0 ? seconds * 1000 : undefined
  }
}

/** The node could not be reached at all. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
}

/** A wrong password is also a 401, but ends no session. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof FaultError && error.status === 401 && error.code !== 'sign_in_failed'
}

export function isNotFound(error: unknown): boolean {
  return error instanceof FaultError && error.status === 404
}

/** The scope is a project that the caller is not a member of. */
export function isForeignProject(error: unknown): boolean {
  return error instanceof FaultError && error.status === 403 && error.param === 'project'
}

/** PostgreSQL is unreachable: traffic continues, and what is shown is older. */
export function isStoreUnreachable(error: unknown): boolean {
  return error instanceof FaultError && error.code === 'store_unreachable'
}
