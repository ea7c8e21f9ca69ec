/** Where texts are typed: long lines wrap, and each line has its number and the mark of the group it names. */
import { useRef } from 'react'
import { Mark } from '../../charts/vectors/mark.tsx'
import { classes } from '../../ui/classes.ts'
import { words } from '../../words/words.ts'
import { MAX_TEXTS, type TypedTexts } from './texts.ts'

/** The lines with a number: twice the texts that one call takes, since each may have a group. The rest is one block. */
const MAX_NUMBERED_LINES = 2 * MAX_TEXTS

/** The same for the text and for its copy, so both wrap at the same letters. */
const TEXT =
  'py-1.5 pr-2 text-[12.5px] leading-5 whitespace-pre-wrap [overflow-wrap:anywhere] [scrollbar-gutter:stable] phone:text-15 phone:leading-5'

interface TextAreaProps {
  readonly value: string
  readonly typed: TypedTexts
  readonly onChange: (value: string) => void
}

export function TextArea({ value, typed, onChange }: TextAreaProps) {
  const copy = useRef<HTMLDivElement>(null)
  return (
    <div className="relative flex min-h-40 flex-1 overflow-hidden rounded-control border border-line-strong bg-surface focus-within:border-accent focus-within:ring-3 focus-within:ring-accent/25 phone:h-60 phone:flex-none">
      <div
        ref={copy}
        aria-hidden
        className={classes(
          TEXT,
          'pointer-events-none absolute inset-0 overflow-hidden text-transparent select-none',
        )}
      >
        <NumberedLines value={value} heads={typed.heads} />
      </div>
      <textarea
        aria-label={words.embeddings.texts}
        value={value}
        spellCheck={false}
        className={classes(
          TEXT,
          'relative min-w-0 flex-1 resize-none overflow-x-hidden overflow-y-auto bg-transparent pl-13 outline-none',
        )}
        onChange={(event) => onChange(event.target.value)}
        onScroll={({ currentTarget: { scrollTop } }) => {
          if (copy.current) copy.current.scrollTop = scrollTop
        }}
      />
    </div>
  )
}

/** An invisible copy of the text: each line is as high as the browser wraps it. */
function NumberedLines({ value, heads }: { readonly value: string; readonly heads: TypedTexts['heads'] }) {
  const lines = value.split(/\r\n|\r|\n/)
  return (
    <>
      {lines.slice(0, MAX_NUMBERED_LINES).map((line, index) => {
        const group = heads.get(index)
        return (
          <div key={index} className="relative min-h-5 pl-13">
            <span className="absolute left-0 w-6 text-right text-12 leading-5 text-ink-3 tabular-nums">
              {index + 1}
            </span>
            {group !== undefined && (
              <span className="absolute top-1 left-8">
                <Mark group={group} />
              </span>
            )}
            {line}
          </div>
        )
      })}
      <div className="pl-13">{lines.slice(MAX_NUMBERED_LINES).join('\n')}</div>
    </>
  )
}
