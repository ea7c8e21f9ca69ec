import { use, type ReactNode } from 'react'
import { FormSending } from './sending.ts'

/** What is wrong with a form as a whole. It stands above the buttons. By itself: what the server said. */
export function FormProblem({ children }: { readonly children?: ReactNode }) {
  const said = use(FormSending)?.problem
  const text = children ?? said
  if (text === undefined) return null
  return (
    <p role="alert" className="rounded-control bg-bad-tint px-3 py-2 text-12 text-bad">
      {text}
    </p>
  )
}
