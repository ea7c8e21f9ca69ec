/** A labelled part of a form. The server's complaint about it stands below it. */
import { Field as BaseField } from '@base-ui/react/field'
import { Form as BaseForm } from '@base-ui/react/form'
import type { FormEvent, InputHTMLAttributes, ReactNode, Ref } from 'react'
import { classes } from './classes.ts'

/** The look of everything one types into. */
export const CONTROL =
  'h-8 w-full min-w-0 rounded-control border border-line-strong bg-surface px-2.5 text-13 text-ink outline-none focus:border-accent focus:ring-3 focus:ring-accent/25 disabled:bg-sunken disabled:text-ink-3 data-invalid:border-bad-fill phone:h-10 phone:text-15'

interface FieldProps {
  /** As the API calls it: a fault's `param` is put at the field of that name. */
  readonly name: string
  readonly label: ReactNode
  readonly hint?: ReactNode
  /** What its `pattern` asks for, said instead of the browser's text. */
  readonly rule?: string
  readonly className?: string
  readonly children: ReactNode
}

export function Field({ name, label, hint, rule, className, children }: FieldProps) {
  return (
    <BaseField.Root name={name} className={classes('flex flex-col gap-1', className)}>
      <BaseField.Label className="text-12 font-strong text-ink">{label}</BaseField.Label>
      {children}
      {hint !== undefined && (
        <BaseField.Description className="text-12 text-ink-3">{hint}</BaseField.Description>
      )}
      <BaseField.Validity>
        {({ validity }) => (
          <BaseField.Error
            className="text-12 text-bad"
            {...(validity.patternMismatch && rule !== undefined && { children: rule })}
          />
        )}
      </BaseField.Validity>
    </BaseField.Root>
  )
}

interface TextFieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange'> {
  readonly value: string
  readonly onChange: (value: string) => void
  /** Stands inside, before and behind what is typed: `$`, `requests`. */
  readonly before?: ReactNode
  readonly after?: ReactNode
  readonly ref?: Ref<HTMLInputElement>
}

export function TextInput({ value, onChange, before, after, className, ...rest }: TextFieldProps) {
  const input = (
    <BaseField.Control
      {...rest}
      value={value}
      onValueChange={(next) => onChange(next)}
      className={classes(CONTROL, before !== undefined && 'pl-6', after !== undefined && 'pr-20', className)}
    />
  )
  if (before === undefined && after === undefined) return input
  return (
    <span className="relative block">
      {before !== undefined && (
        <span className="pointer-events-none absolute inset-y-0 left-2.5 flex items-center text-ink-3">
          {before}
        </span>
      )}
      {input}
      {after !== undefined && (
        <span className="pointer-events-none absolute inset-y-0 right-2.5 flex items-center text-12 text-ink-3">
          {after}
        </span>
      )}
    </span>
  )
}

interface FormProps {
  readonly id?: string
  /** What the server said about fields, by their names. */
  readonly errors?: Record<string, string>
  readonly onSubmit: () => void
  readonly className?: string
  readonly children: ReactNode
}

const NO_ERRORS = {}

/** Marks an input that holds text which was typed and not chosen. */
export const UNCHOSEN = 'data-unchosen'

/** `⌘↵` submits it from anywhere inside. Nothing is submitted while a part holds text that was not chosen. */
export function Form({ id, errors = NO_ERRORS, onSubmit, className, children }: FormProps) {
  return (
    <BaseForm
      {...(id !== undefined && { id })}
      errors={errors}
      className={className}
      onSubmit={(event: FormEvent<HTMLFormElement>) => {
        event.preventDefault()
        const unchosen = event.currentTarget.querySelector<HTMLElement>(`[${UNCHOSEN}]`)
        if (unchosen === null) onSubmit()
        else unchosen.focus()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
        event.preventDefault()
        event.currentTarget.requestSubmit()
      }}
    >
      {children}
    </BaseForm>
  )
}
