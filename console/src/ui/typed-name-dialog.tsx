/** A question about what can't be taken back: it is answered by typing the name of what it is about. */
import { useId, useState, type ReactNode } from 'react'
import { words } from '../words/words.ts'
import { Button } from './button.tsx'
import { AlertDialog, FactList } from './dialog.tsx'
import { Field, Form, TextInput } from './field.tsx'
import { FormProblem } from './form-problem.tsx'

interface TypedNameDialogProps {
  readonly title: string
  readonly description: string
  /** What happens then, each as a fact. */
  readonly facts: readonly (readonly [name: string, text: ReactNode])[]
  readonly note?: string | undefined
  readonly name: string
  /** Above the field. */
  readonly ask: string
  readonly go: string
  readonly busy: boolean
  readonly problem: string | undefined
  readonly onGo: () => void
  readonly onClose: () => void
}

export function TypedNameDialog(props: TypedNameDialogProps) {
  const { name, ask, busy, note, onClose } = props
  const [typed, setTyped] = useState('')
  const form = useId()
  const isTyped = typed === name
  return (
    <AlertDialog
      open
      onClose={onClose}
      title={props.title}
      description={props.description}
      {...(note !== undefined && { note })}
      actions={
        <>
          <Button size="large" onClick={onClose}>
            {words.ui.cancel}
          </Button>
          <Button
            look="danger"
            size="large"
            type="submit"
            form={form}
            busy={busy}
            why={isTyped ? undefined : words.ui.typeFirst(name)}
          >
            {props.go}
          </Button>
        </>
      }
    >
      <FactList facts={props.facts} />
      <Form id={form} onSubmit={() => isTyped && props.onGo()}>
        <Field name="typed" label={ask}>
          <TextInput autoComplete="off" spellCheck={false} value={typed} onChange={setTyped} />
        </Field>
        <FormProblem>{props.problem}</FormProblem>
      </Form>
    </AlertDialog>
  )
}
