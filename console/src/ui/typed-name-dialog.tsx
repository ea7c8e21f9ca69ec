/** A question about what can't be taken back: it is answered by typing the name of what it is about. */
import { useState } from 'react'
import { words } from '../words/words.ts'
import { ConfirmDialog, type ConfirmDialogProps } from './confirm-dialog.tsx'
import { Field, TextInput } from './field.tsx'

interface TypedNameDialogProps extends Omit<ConfirmDialogProps, 'why' | 'children'> {
  readonly name: string
  /** Above the field. */
  readonly ask: string
}

export function TypedNameDialog({ name, ask, ...question }: TypedNameDialogProps) {
  const [typed, setTyped] = useState('')
  return (
    <ConfirmDialog {...question} why={typed === name ? undefined : words.ui.typeFirst(name)}>
      <Field name="typed" label={ask}>
        <TextInput autoComplete="off" spellCheck={false} value={typed} onChange={setTyped} />
      </Field>
    </ConfirmDialog>
  )
}
