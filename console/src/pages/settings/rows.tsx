/** A named setting with its value, in the same two columns in every section. */
import type { ReactNode } from 'react'

export function SettingRows({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="flex max-w-220 flex-col">
      <h2 className="pb-2 text-13 font-semibold">{title}</h2>
      <div className="divide-y divide-line border-y border-line">{children}</div>
    </section>
  )
}

interface SettingRowProps {
  readonly label: ReactNode
  readonly hint?: ReactNode
  readonly children: ReactNode
}

export function SettingRow({ label, hint, children }: SettingRowProps) {
  return (
    <div className="flex min-h-11 items-center gap-4 py-2 phone:flex-col phone:items-stretch phone:gap-1">
      <div className="w-72 shrink-0 phone:w-auto">
        <p className="font-medium">{label}</p>
        {hint !== undefined && <p className="text-12 text-ink-3">{hint}</p>}
      </div>
      <div className="flex min-w-0 flex-1 items-center gap-2 break-words">{children}</div>
    </div>
  )
}
