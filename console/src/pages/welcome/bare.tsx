/** A page before the sign-in: one column in the middle, without navigation. */
import { useEffect, type ReactNode } from 'react'
import { Brand } from '../../ui/brand.tsx'

interface BareProps {
  readonly title: string
  readonly note?: ReactNode
  readonly foot?: ReactNode
  readonly children: ReactNode
}

export function Bare({ title, note, foot, children }: BareProps) {
  useEffect(() => {
    document.title = `${title} · Torana`
  }, [title])
  return (
    <main className="flex h-full flex-col items-center overflow-y-auto bg-canvas px-4 pt-[16vh] pb-10 phone:pt-10">
      <div className="flex w-90 max-w-full flex-col gap-5">
        <p className="flex items-center gap-2 text-15 font-semibold">
          <Brand size={22} /> Torana
        </p>
        <div className="flex flex-col gap-4 rounded-panel border border-line bg-surface px-6 py-5 phone:px-4">
          <header>
            <h1 className="text-18 font-semibold">{title}</h1>
            {note !== undefined && <p className="mt-0.5 text-ink-2">{note}</p>}
          </header>
          {children}
        </div>
        {foot !== undefined && <div className="flex flex-col gap-2 text-12 text-ink-3">{foot}</div>}
      </div>
    </main>
  )
}
