import type { ReactNode } from 'react'

/** What is wrong with a form as a whole. It stands above the buttons. */
export function FormProblem({ children }: { readonly children?: ReactNode }) {
  if (children === undefined) return null
  return (
    <p role="alert" className="rounded-control bg-bad-tint px-3 py-2 text-12 text-bad">
      {children}
    </p>
  )
}
