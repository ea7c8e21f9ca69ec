/** Where texts are typed, with their lines counted and the marks of groups beside their names. */
import { useRef } from 'react'
import { Mark } from '../../charts/vectors/mark.tsx'
import { words } from '../../words/words.ts'
import type { TypedTexts } from './texts.ts'

const LINE_HEIGHT = 20

export function TextArea({
  value,
  typed,
  onChange,
}: {
  readonly value: string
  readonly typed: TypedTexts
  readonly onChange: (value: string) => void
}) {
  const gutter = useRef<HTMLDivElement>(null)
  const lines = value.split(/\r\n|\r|\n/).length
  return (
    <div className="relative flex min-h-40 flex-1 overflow-hidden rounded-control border border-line-strong bg-surface focus-within:border-accent focus-within:ring-3 focus-within:ring-accent/25 phone:h-60 phone:flex-none">
      <div aria-hidden className="pointer-events-none w-12 shrink-0 overflow-hidden select-none">
        <div
          ref={gutter}
          className="relative pt-1.5 text-12 text-ink-3"
          style={{ height: lines * LINE_HEIGHT + 16 }}
        >
          <Numbers lines={lines} heads={typed.heads} />
        </div>
      </div>
      <textarea
        aria-label={words.embeddings.texts}
        value={value}
        wrap="off"
        spellCheck={false}
        className="scroll-quiet min-w-0 flex-1 resize-none overflow-auto bg-transparent py-1.5 pr-2 pl-1 text-[12.5px] leading-5 whitespace-pre outline-none phone:text-15 phone:leading-5"
        onChange={(event) => onChange(event.target.value)}
        onScroll={(event) => {
          if (gutter.current)
            gutter.current.style.transform = `translateY(${-event.currentTarget.scrollTop}px)`
        }}
      />
    </div>
  )
}

/** The numbers are one text: five hundred boxes would be slower than what they stand beside. */
function Numbers({ lines, heads }: { readonly lines: number; readonly heads: TypedTexts['heads'] }) {
  return (
    <>
      <pre className="w-6 text-right font-sans leading-5 tabular-nums">
        {Array.from({ length: lines }, (_, line) => line + 1).join('\n')}
      </pre>
      {Array.from(heads, ([line, group]) => (
        <span key={line} className="absolute left-8" style={{ top: 6 + line * LINE_HEIGHT + 4 }}>
          <Mark group={group} />
        </span>
      ))}
    </>
  )
}
