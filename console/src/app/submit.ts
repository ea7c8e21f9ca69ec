/** A form on its way to the server: what is under way, and what the server said of its fields. */
import { useState } from 'react'
import { FaultError } from '../api/faults.ts'
import { words } from '../words/words.ts'

export interface Submission {
  readonly busy: boolean
  /** By the names of fields. */
  readonly errors: Record<string, string>
  /** What is not about one of the fields. It stands above the buttons. */
  readonly problem: string | undefined
  /** False: it failed, and the form says why. */
  readonly submit: (work: () => Promise<unknown>) => Promise<boolean>
  readonly clear: () => void
}

/** `fields`: those that the form has. Complaints about others stand above the buttons. */
export function useSubmission(fields: readonly string[]): Submission {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const param = error instanceof FaultError ? fieldOf(error.param, fields) : undefined
  const message = error === undefined ? undefined : messageOf(error)
  return {
    busy,
    errors: param === undefined || message === undefined ? {} : { [param]: message },
    problem: param === undefined ? message : undefined,
    clear: () => setError(undefined),
    async submit(work) {
      setBusy(true)
      setError(undefined)
      try {
        await work()
        return true
      } catch (failure) {
        setError(failure)
        return false
      } finally {
        setBusy(false)
      }
    },
  }
}

/** `rules.0.claim` is about `rules`. */
function fieldOf(param: string | undefined, fields: readonly string[]): string | undefined {
  return fields.find((field) => param === field || param?.startsWith(`${field}.`) === true)
}

function messageOf(error: unknown): string {
  if (error instanceof FaultError)
    return error.param !== undefined && error.message.startsWith(`${error.param}: `)
      ? error.message.slice(error.param.length + 2)
      : error.message
  return error instanceof Error && error.name !== 'UnreachableError' ? error.message : words.ui.unreachable
}
