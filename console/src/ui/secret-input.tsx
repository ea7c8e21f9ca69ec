/** A password or a key while it is typed: hidden unless somebody asks to see it, and never kept by the browser unless it should be. */
import { Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import { Field as BaseField } from '@base-ui/react/field'
import { words } from '../words/words.ts'
import { classes } from './classes.ts'
import { CONTROL } from './field.tsx'

interface SecretInputProps {
  readonly value: string
  readonly onChange: (value: string) => void
  /** `off` for keys of others; `current-password` and `new-password` for a person's own. */
  readonly autoComplete?: 'off' | 'current-password' | 'new-password'
  readonly placeholder?: string
  readonly required?: boolean
  readonly minLength?: number
  readonly className?: string
}

export function SecretInput({ value, onChange, autoComplete = 'off', className, ...rest }: SecretInputProps) {
  const [isShown, setShown] = useState(false)
  return (
    <span className="relative block">
      <BaseField.Control
        {...rest}
        type={isShown ? 'text' : 'password'}
        autoComplete={autoComplete}
        spellCheck={false}
        value={value}
        onValueChange={(next) => onChange(next)}
        className={classes(CONTROL, 'pr-9', className)}
      />
      <button
        type="button"
        aria-label={isShown ? words.ui.conceal : words.ui.reveal}
        aria-pressed={isShown}
        className="absolute inset-y-0 right-0 flex w-8 items-center justify-center text-ink-3 hover:text-ink phone:w-10"
        onClick={() => setShown(!isShown)}
      >
        {isShown ? <EyeOff size={15} aria-hidden /> : <Eye size={15} aria-hidden />}
      </button>
    </span>
  )
}

/** The least length that the control API takes. */
const MIN_PASSWORD_LENGTH = 12

/** A password that a person chooses. */
export function NewPasswordInput(props: Pick<SecretInputProps, 'value' | 'onChange'>) {
  return <SecretInput {...props} required minLength={MIN_PASSWORD_LENGTH} autoComplete="new-password" />
}
