/** Code to read and to copy. Strings are green; nothing else is coloured, so nothing can be coloured wrongly. */
import { classes } from './classes.ts'
import { CopyIconButton } from './copy.tsx'

interface CodeBlockProps {
  readonly code: string
  /** What is copied, where it differs from what is shown: a secret in full. */
  readonly copied?: string
  readonly title?: string
  readonly className?: string
}

const STRING = /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)*')/

export function CodeBlock({ code, copied = code, title, className }: CodeBlockProps) {
  return (
    <div className={classes('relative rounded-control border border-line bg-sunken', className)}>
      {title !== undefined && <p className="px-3 pt-2 text-12 text-ink-3">{title}</p>}
      <pre tabIndex={0} className="mono-12 overflow-x-auto px-3 py-2.5 pr-10 whitespace-pre">
        {code.split(STRING).map((part, index) =>
          index % 2 === 1 ? (
            <span key={index} className="text-good">
              {part}
            </span>
          ) : (
            part
          ),
        )}
      </pre>
      <span className="absolute top-1.5 right-1.5">
        <CopyIconButton text={copied} />
      </span>
    </div>
  )
}
