/** What is shown once and kept nowhere, such as a secret or a link. Until it is copied, it closes by its button alone. */
import { useState } from 'react'
import { Button } from './button.tsx'
import { CopyButton } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { CONTROL } from './field.tsx'

interface OnceDialogProps {
  readonly title: string
  readonly description: string
  readonly value: string
  readonly done: string
  readonly onClose: () => void
}

export function OnceDialog({ title, description, value, done, onClose }: OnceDialogProps) {
  const [isCopied, setCopied] = useState(false)
  return (
    <Dialog
      open
      stays={!isCopied}
      onClose={onClose}
      title={title}
      description={description}
      actions={
        <>
          <CopyButton text={value} look="primary" size="large" onCopied={() => setCopied(true)} />
          <Button size="large" onClick={onClose}>
            {done}
          </Button>
        </>
      }
    >
      <OnceInput label={title} value={value} />
    </Dialog>
  )
}

export function OnceInput({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <input
      readOnly
      aria-label={label}
      value={value}
      onFocus={(event) => event.currentTarget.select()}
      className={`${CONTROL} mono-12`}
    />
  )
}
