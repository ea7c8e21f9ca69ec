/**
 * A form in a sheet, or in a dialog in the middle: it owns the buttons, what is busy, what went wrong, and when it closes. It closes once it
 * is sent. `esc` and Cancel close it at any time; a click outside does not take with it what was typed.
 */
import { useId, useState, type ReactNode, type RefObject } from 'react'
import { words } from '../words/words.ts'
import { Button } from './button.tsx'
import { Dialog, Sheet } from './dialog.tsx'
import { Form } from './field.tsx'
import { FormProblem } from './form-problem.tsx'
import { useSending } from './sending.ts'

interface FormSheetProps {
  readonly title: ReactNode
  /** In a dialog only. */
  readonly description?: ReactNode
  readonly note?: ReactNode
  readonly shape?: 'sheet' | 'dialog'
  /** What the button says that sends it. */
  readonly go: ReactNode
  /** Why it can't be sent now. */
  readonly why?: string | undefined
  /** What it throws is shown at the field it is about, or above the buttons. */
  readonly onSubmit: () => unknown
  /** Another thing that can be done here instead, such as removing what the form changes. */
  readonly other?: { readonly go: ReactNode; readonly onGo: () => unknown } | undefined
  readonly onClose: () => void
  /** It stays open once it is sent: what follows is shown here, or in its place. */
  readonly keepsOpen?: boolean
  readonly cancel?: string
  readonly initialFocus?: RefObject<HTMLElement | null>
  readonly children?: ReactNode
}

export function FormSheet(props: FormSheetProps) {
  const {
    shape = 'sheet',
    why,
    other,
    onClose,
    keepsOpen = false,
    cancel = words.ui.cancel,
    children,
  } = props
  const form = useId()
  const sending = useSending()
  const [isTouched, setTouched] = useState(false)
  const [doing, setDoing] = useState<'form' | 'other'>('form')
  const act = async (what: 'form' | 'other', work: () => unknown): Promise<void> => {
    setDoing(what)
    await work()
    if (!keepsOpen) onClose()
  }
  const Around = shape === 'sheet' ? Sheet : Dialog
  return (
    <Around
      open
      onClose={onClose}
      keepsTyped={isTouched || sending.busy}
      title={props.title}
      {...(props.description !== undefined && { description: props.description })}
      {...(props.note !== undefined && { note: props.note })}
      {...(props.initialFocus && { initialFocus: props.initialFocus })}
      actions={
        <>
          <Button size="large" onClick={onClose}>
            {cancel}
          </Button>
          {other && (
            <Button
              look="danger"
              size="large"
              busy={sending.busy && doing === 'other'}
              onClick={() => void sending.run(() => act('other', other.onGo))}
            >
              {other.go}
            </Button>
          )}
          <Button
            look="primary"
            size="large"
            type="submit"
            form={form}
            busy={sending.busy && doing === 'form'}
            why={why}
          >
            {props.go}
          </Button>
        </>
      }
    >
      <div onInput={() => setTouched(true)}>
        <Form
          id={form}
          sending={sending}
          onSubmit={() => why === undefined && act('form', props.onSubmit)}
          className="flex flex-col gap-5"
        >
          {children}
          <FormProblem />
        </Form>
      </div>
    </Around>
  )
}
