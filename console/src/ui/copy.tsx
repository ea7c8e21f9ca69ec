/** Copies a text, and says that it did. */
import { Check, Copy as CopyIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { words } from '../words/words.ts'
import { Button, IconButton, type ButtonLook, type ButtonSize } from './button.tsx'

const SAID_MS = 1500

export function useCopy(): { readonly isCopied: boolean; readonly copy: (text: string) => Promise<boolean> } {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), SAID_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async (text: string): Promise<boolean> => {
    const done = await copyText(text)
    setCopied(done)
    return done
  }
  return { isCopied, copy }
}

/** The clipboard's own interface is closed on plain http; the old way is open everywhere. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    field.setAttribute('readonly', '')
    field.className = 'sr-only'
    document.body.append(field)
    field.select()
    const done = document.execCommand('copy')
    field.remove()
    return done
  }
}

/** An icon beside an id. */
export function CopyIconButton({
  text,
  label = words.ui.copy,
}: {
  readonly text: string
  readonly label?: string
}) {
  const { isCopied, copy } = useCopy()
  return (
    <IconButton
      label={isCopied ? words.ui.copied : label}
      size="small"
      onClick={(event) => {
        event.stopPropagation()
        void copy(text)
      }}
    >
      {isCopied ? <Check size={13} aria-hidden /> : <CopyIcon size={13} aria-hidden />}
    </IconButton>
  )
}

interface CopyButtonProps {
  /** A function: what it is when the button is pressed. */
  readonly text: string | (() => string)
  readonly label?: string
  readonly look?: ButtonLook
  readonly size?: ButtonSize
  readonly onCopied?: () => void
}

export function CopyButton({ text, label = words.ui.copy, look, size, onCopied }: CopyButtonProps) {
  const { isCopied, copy } = useCopy()
  return (
    <Button
      {...(look && { look })}
      {...(size && { size })}
      icon={isCopied ? <Check size={15} aria-hidden /> : <CopyIcon size={15} aria-hidden />}
      onClick={() => void copy(typeof text === 'string' ? text : text()).then((done) => done && onCopied?.())}
    >
      <span aria-live="polite">{isCopied ? words.ui.copied : label}</span>
    </Button>
  )
}
