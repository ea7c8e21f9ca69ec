/** A form or a question on its way to the server: whether it is busy, and what the server said. */
import { createContext, use, useEffect, useRef, useState } from 'react'
import { failureText, fieldOf } from './failure.ts'
import { toast } from './toast.tsx'

export interface Sending {
  readonly busy: boolean
  /** By the names of fields. */
  readonly errors: Record<string, string>
  /** What is not about one of the fields. It stands above the buttons. */
  readonly problem: string | undefined
  /** False: it failed, and the form says why. While it is busy, nothing is sent a second time. */
  readonly run: (work: () => unknown) => Promise<boolean>
  /** Names of the fields, which each field adds itself. */
  readonly fields: Set<string>
}

/** A complaint of the page itself about one of its fields. */
export class FieldError extends Error {
  override readonly name = 'FieldError'
  readonly param: string

  constructor(param: string, message: string) {
    super(message)
    this.param = param
  }
}

/** The same object until it is sent again: a form takes another one for a new complaint, and would bring back what a change cleared. */
interface Said {
  readonly errors: Record<string, string>
  readonly problem: string | undefined
}

const NOTHING_SAID: Said = { errors: {}, problem: undefined }

export function useSending(): Sending {
  const [busy, setBusy] = useState(false)
  const [said, setSaid] = useState(NOTHING_SAID)
  const [fields] = useState(() => new Set<string>())
  const isBusy = useRef(false)
  const isOpen = useRef(true)
  useEffect(() => {
    isOpen.current = true
    return () => {
      isOpen.current = false
    }
  }, [])
  return {
    busy,
    ...said,
    fields,
    async run(work) {
      if (isBusy.current) return false
      isBusy.current = true
      setBusy(true)
      setSaid(NOTHING_SAID)
      try {
        await work()
        return true
      } catch (error) {
        const text = failureText(error)
        const field = fieldOf(error, fields)
        setSaid(
          field === undefined
            ? { errors: {}, problem: text }
            : { errors: { [field]: text }, problem: undefined },
        )
        // Closed in the meantime: the form can't show it.
        if (!isOpen.current) toast(text, { mark: 'bad' })
        return false
      } finally {
        isBusy.current = false
        setBusy(false)
      }
    },
  }
}

/** The form around a field or button. */
export const FormSending = createContext<Sending | undefined>(undefined)

/** What the server said about a part of the form that is no `Field`. */
export function useFieldError(name: string): string | undefined {
  const form = use(FormSending)
  useEffect(() => {
    form?.fields.add(name)
    return () => void form?.fields.delete(name)
  }, [form?.fields, name])
  return form?.errors[name]
}
