/** Files from the browser: chosen with a button, or pasted. */
import { useEffect, useEffectEvent, useRef, type ReactNode } from 'react'

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

/** Anywhere on the page. Files of other types are left to the field with the focus. */
export function usePaste(onFiles: (files: readonly File[]) => void, types: RegExp): void {
  const take = useEffectEvent((event: ClipboardEvent): void => {
    const files = [...(event.clipboardData?.files ?? [])].filter(({ type }) => types.test(type))
    if (files.length === 0) return
    event.preventDefault()
    onFiles(files)
  })
  useEffect(() => {
    const onPaste = (event: ClipboardEvent): void => take(event)
    document.addEventListener('paste', onPaste)
    return () => document.removeEventListener('paste', onPaste)
  }, [])
}
