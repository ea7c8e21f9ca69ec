/** A labelled part of a form. The server's complaint about it stands below it. */
import { Field as BaseField } from '@base-ui/react/field'
import { Form as BaseForm } from '@base-ui/react/form'
import { use, type FormEvent, type InputHTMLAttributes, type ReactNode, type Ref } from 'react'
import { Button, type ButtonProps } from './button.tsx'
import { classes } from './classes.ts'
import { FormSending, useFieldError, useSending, type Sending } from './sending.ts'

/** Around a control: `data-changed` marks a value that is not saved yet, `data-compact` makes it as low as a row of a table. */
const STATES = 'in-data-changed:border-accent in-data-changed:ring-1 in-data-changed:ring-accent'

/** The look of everything one types into. */
export const CONTROL = `h-8 w-full min-w-0 rounded-control border border-line-strong bg-surface px-2.5 text-13 text-ink outline-none focus:border-accent focus:ring-3 focus:ring-accent/25 disabled:bg-sunken disabled:text-ink-3 data-invalid:border-bad-fill phone:h-10 phone:text-15 ${STATES} in-data-compact:h-7 in-data-compact:px-2`

/** A frame that holds a control without a frame of its own, and something beside it. */
export const CONTROL_FRAME = `flex min-h-8 w-full min-w-0 items-center gap-2 rounded-control border border-line-strong bg-surface px-2.5 focus-within:border-accent focus-within:ring-3 focus-within:ring-accent/25 phone:min-h-10 ${STATES} in-data-compact:min-h-7`

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
  useFieldError(name)
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
  /** A promise makes the form busy until it ends. What it throws is shown at the field it is about, or by `FormProblem`. */
  readonly onSubmit: () => unknown
  /** Of the sheet or dialog around it, whose buttons are outside. */
  readonly sending?: Sending
  readonly className?: string | undefined
  readonly children: ReactNode
}

/** Marks an input that holds text which was typed and not chosen. */
export const UNCHOSEN = 'data-unchosen'

/** `⌘↵` submits it from anywhere inside. Nothing is submitted while a part holds text that was not chosen. */
export function Form({ id, onSubmit, sending: outer, className, children }: FormProps) {
  const own = useSending()
  const sending = outer ?? own
  return (
    <FormSending value={sending}>
      <BaseForm
        {...(id !== undefined && { id })}
        errors={sending.errors}
        className={className}
        onSubmit={(event: FormEvent<HTMLFormElement>) => {
          event.preventDefault()
          // Not to a form around the dialog that this form is in.
          event.stopPropagation()
          const unchosen = event.currentTarget.querySelector<HTMLElement>(`[${UNCHOSEN}]`)
          if (unchosen === null) void sending.run(onSubmit)
          else unchosen.focus()
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
          event.preventDefault()
          event.stopPropagation()
          event.currentTarget.requestSubmit()
        }}
      >
        {children}
      </BaseForm>
    </FormSending>
  )
}

/** Of a form on a page. Sheets and dialogs bring their own. */
export function SubmitButton(props: Omit<ButtonProps, 'type' | 'busy'>) {
  return (
    <Button look="primary" size="large" {...props} type="submit" busy={use(FormSending)?.busy === true} />
  )
}
