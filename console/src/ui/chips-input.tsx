/** Several texts that no list knows before, as chips. `↵` or a comma ends one, and `⌫` in the empty field takes the last one out. */
import { X } from 'lucide-react'
import { useState } from 'react'
import { words } from '../words/words.ts'
import { classes } from './classes.ts'
import { CONTROL_FRAME } from './field.tsx'

interface ChipsInputProps {
  readonly label: string
  readonly values: readonly string[]
  readonly onChange: (values: readonly string[]) => void
  readonly placeholder: string
  readonly disabled?: boolean
}

export function ChipsInput({ label, values, onChange, placeholder, disabled = false }: ChipsInputProps) {
  const [typed, setTyped] = useState('')
  const add = (): void => {
    const text = typed.trim()
    setTyped('')
    if (text !== '' && !values.includes(text)) onChange([...values, text])
  }
  return (
    <span className={classes(CONTROL_FRAME, 'flex-wrap gap-1.5 py-0.5 pl-1.5', disabled && 'bg-sunken')}>
      {values.map((value) => (
        <span
          key={value}
          className="inline-flex h-5.5 max-w-full items-center gap-1 rounded-chip bg-tag pr-0.5 pl-1.5 text-12 font-medium"
        >
          <span className="truncate">{value}</span>
          {!disabled && (
            <button
              type="button"
              aria-label={words.ui.remove(value)}
              className="rounded-chip p-0.5 text-ink hover:text-bad"
              onClick={() => onChange(values.filter((one) => one !== value))}
            >
              <X size={11} strokeWidth={2.25} aria-hidden />
            </button>
          )}
        </span>
      ))}
      <input
        aria-label={label}
        placeholder={disabled ? '' : placeholder}
        disabled={disabled}
        value={typed}
        spellCheck={false}
        className="h-5.5 min-w-20 flex-1 bg-transparent px-1 text-13 outline-none phone:text-15"
        onChange={(event) => setTyped(event.target.value)}
        // What was typed counts, also without a key that ends it.
        onBlur={add}
        onKeyDown={(event) => {
          if (event.key === 'Enter' || event.key === ',') {
            event.preventDefault()
            add()
          }
          if (event.key === 'Backspace' && typed === '') onChange(values.slice(0, -1))
        }}
      />
    </span>
  )
}
