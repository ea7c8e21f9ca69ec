/** Dialogs in the middle, sheets from the right, and questions that can't be undone. */
import { AlertDialog as BaseAlert } from '@base-ui/react/alert-dialog'
import { Dialog as BaseDialog } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import type { ReactNode, RefObject } from 'react'
import { words } from '../words/words.ts'
import { IconButton } from './button.tsx'
import { classes } from './classes.ts'
import { InDialog, layer } from './layers.ts'

const VEIL = 'appearing fixed inset-0 bg-veil'
const BOX =
  'appearing fixed top-[150px] left-1/2 flex max-h-[calc(100dvh-180px)] w-140 max-w-[calc(100vw-24px)] -translate-x-1/2 flex-col rounded-dialog border border-line bg-raised text-ink shadow-dialog outline-none phone:top-3 phone:max-h-[calc(100dvh-24px)]'
const SHEET =
  'appearing fixed inset-y-0 right-0 flex w-140 max-w-full flex-col border-l border-line bg-surface text-ink shadow-dialog outline-none'

interface DialogProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: ReactNode
  readonly description?: ReactNode
  /** Left and right of the buttons. */
  readonly note?: ReactNode
  readonly actions?: ReactNode
  /** Neither a click outside nor `esc` closes it. */
  readonly stays?: boolean
  /** A click outside does not close it, since it would take what was typed with it. */
  readonly keepsTyped?: boolean
  readonly wide?: boolean
  readonly initialFocus?: RefObject<HTMLElement | null>
  readonly children?: ReactNode
}

function Footer({ note, actions }: Pick<DialogProps, 'note' | 'actions'>) {
  if (note === undefined && actions === undefined) return null
  return (
    <footer className="flex min-h-15 items-center gap-3 border-t border-line px-6 phone:flex-wrap phone:px-4 phone:py-3">
      <div className="min-w-0 flex-1 text-12 text-ink-3">{note}</div>
      <div className="flex items-center gap-2">{actions}</div>
    </footer>
  )
}

export function Dialog({ stays = false, keepsTyped = false, ...box }: DialogProps) {
  return (
    <BaseDialog.Root
      open={box.open}
      disablePointerDismissal={stays || keepsTyped}
      onOpenChange={(next, details) => {
        if (next) return
        if (stays && details.reason === 'escape-key') details.cancel()
        else box.onClose()
      }}
    >
      <Box {...box} />
    </BaseDialog.Root>
  )
}

/** For what can't be undone. It lists what will happen as facts; the default focus is the harmless button. */
export function AlertDialog(box: Omit<DialogProps, 'stays' | 'keepsTyped'>) {
  return (
    <BaseAlert.Root open={box.open} onOpenChange={(next) => !next && box.onClose()}>
      <Box {...box} />
    </BaseAlert.Root>
  )
}

type BoxProps = Omit<DialogProps, 'open' | 'onClose' | 'stays' | 'keepsTyped'>

function Box({ title, description, note, actions, wide = false, initialFocus, children }: BoxProps) {
  return (
    <BaseDialog.Portal container={layer('dialogs')}>
      <InDialog value={true}>
        <BaseDialog.Backdrop className={VEIL} />
        <BaseDialog.Popup className={classes(BOX, wide && 'w-150')} {...(initialFocus && { initialFocus })}>
          <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto px-6 pt-5 pb-5 phone:px-4">
            <header>
              <BaseDialog.Title className="text-15 font-semibold">{title}</BaseDialog.Title>
              {description !== undefined && (
                <BaseDialog.Description className="mt-1.5 text-ink-2">{description}</BaseDialog.Description>
              )}
            </header>
            {children}
          </div>
          <Footer note={note} actions={actions} />
        </BaseDialog.Popup>
      </InDialog>
    </BaseDialog.Portal>
  )
}

/** What one came to fill in, not the button that closes. */
function firstField(): HTMLElement | true {
  const fields = 'input:not([type=hidden]):not([aria-hidden=true]), textarea'
  return layer('dialogs')?.querySelector<HTMLElement>(`[data-sheet] :is(${fields})`) ?? true
}

/** From the right: making and changing. */
export function Sheet(props: DialogProps) {
  const {
    open,
    onClose,
    title,
    note,
    actions,
    stays = false,
    keepsTyped = false,
    initialFocus,
    children,
  } = props
  return (
    <BaseDialog.Root
      open={open}
      disablePointerDismissal={stays || keepsTyped}
      onOpenChange={(next) => !next && onClose()}
    >
      <BaseDialog.Portal container={layer('dialogs')}>
        <InDialog value={true}>
          <BaseDialog.Backdrop className={VEIL} />
          <BaseDialog.Popup className={SHEET} initialFocus={initialFocus ?? firstField}>
            <header className="flex h-12 shrink-0 items-center justify-between border-b border-line px-6 phone:px-4">
              <BaseDialog.Title className="text-15 font-semibold">{title}</BaseDialog.Title>
              <BaseDialog.Close
                render={
                  <IconButton label={words.ui.close}>
                    <X size={16} aria-hidden />
                  </IconButton>
                }
              />
            </header>
            <div data-sheet className="min-h-0 flex-1 overflow-y-auto px-6 py-[18px] phone:px-4">
              {children}
            </div>
            <Footer note={note} actions={actions} />
          </BaseDialog.Popup>
        </InDialog>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  )
}

/** Facts of a decision: what, and what becomes of it. */
export function FactList({
  facts,
}: {
  readonly facts: readonly (readonly [what: ReactNode, becomes: ReactNode])[]
}) {
  return (
    <dl className="divide-y divide-line rounded-control border border-line">
      {facts.map(([what, becomes], index) => (
        <div key={index} className="flex gap-4 px-3.5 py-2 phone:flex-col phone:gap-0.5">
          <dt className="w-32 shrink-0 text-ink-3">{what}</dt>
          <dd className="min-w-0 flex-1 break-words">{becomes}</dd>
        </div>
      ))}
    </dl>
  )
}
