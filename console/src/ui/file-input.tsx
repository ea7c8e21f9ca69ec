/** Files from the browser: chosen with a button, pasted or dropped. */
import { useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react'

interface FileButtonProps {
  readonly label: string
  readonly accept: string
  readonly several?: boolean
  readonly onFiles: (files: readonly File[]) => void
  readonly className: string
  readonly children: ReactNode
}

/** A button that opens the browser's own choice of files. */
export function FileButton({
  label,
  accept,
  several = false,
  onFiles,
  className,
  children,
}: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <button
        type="button"
        aria-label={label}
        title={label}
        className={className}
        onClick={() => input.current?.click()}
      >
        {children}
      </button>
      <input
        ref={input}
        type="file"
        tabIndex={-1}
        aria-label={label}
        accept={accept}
        multiple={several}
        className="hidden"
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])])
          // The same file may be chosen again.
          event.target.value = ''
        }}
      />
    </>
  )
}

/** Anywhere on the page. Files of other types, and text, are left to the field with the focus. */
export function usePaste(
  onFiles: (files: readonly File[]) => void,
  types: RegExp,
  /** Of text that no field takes. */
  onText?: (text: string) => void,
): void {
  const take = useEffectEvent((event: ClipboardEvent): void => {
    const files = [...(event.clipboardData?.files ?? [])].filter(({ type }) => types.test(type))
    const text = event.clipboardData?.getData('text/plain') ?? ''
    const isInField = event.target instanceof HTMLElement && event.target.closest('input, textarea') !== null
    if (files.length > 0) onFiles(files)
    else if (onText !== undefined && text.trim() !== '' && !isInField) onText(text)
    else return
    event.preventDefault()
  })
  useEffect(() => {
    const onPaste = (event: ClipboardEvent): void => take(event)
    document.addEventListener('paste', onPaste)
    return () => document.removeEventListener('paste', onPaste)
  }, [])
}

/** Anywhere on the page. True while files are over it. */
export function useDrop(onFiles: (files: readonly File[]) => void): boolean {
  const [isOver, setOver] = useState(false)
  const take = useEffectEvent(onFiles)
  useEffect(() => {
    const listening = new AbortController()
    const on = (type: 'dragover' | 'dragleave' | 'drop', act: (event: DragEvent) => void): void =>
      document.addEventListener(
        type,
        (event) => {
          if (event.dataTransfer?.types.includes('Files') !== true) return
          // Otherwise the browser opens the file in place of the page.
          event.preventDefault()
          act(event)
        },
        { signal: listening.signal },
      )
    on('dragover', () => setOver(true))
    // Leaving an element for another one names the other; leaving the window names none.
    on('dragleave', ({ relatedTarget }) => relatedTarget === null && setOver(false))
    on('drop', ({ dataTransfer }) => {
      setOver(false)
      take([...(dataTransfer?.files ?? [])])
    })
    return () => listening.abort()
  }, [])
  return isOver
}
