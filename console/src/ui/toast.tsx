/** Says how something ended that the person began and can no longer see. A form shows its own errors. */
import { Toast } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { words } from '../words/words.ts'
import { layer } from './layers.ts'
import { StateMark, type Mark } from './state-mark.tsx'

const SHOWN_MS = 6000

const manager = Toast.createToastManager<{ mark: Mark }>()

export function toast(
  title: string,
  { text, mark = 'good' }: { readonly text?: string; readonly mark?: Mark } = {},
): void {
  // A failure stays until it is closed.
  const timeout = mark === 'bad' ? 0 : SHOWN_MS
  manager.add({ title, ...(text !== undefined && { description: text }), timeout, data: { mark } })
}

export function Toasts({ children }: { readonly children: ReactNode }) {
  return (
    <Toast.Provider toastManager={manager} limit={4}>
      {children}
      <Toast.Portal container={layer('toasts')}>
        <Toast.Viewport
          aria-label={words.ui.notifications}
          className="fixed right-4 bottom-4 flex w-90 max-w-[calc(100vw-32px)] flex-col gap-2 phone:bottom-20"
        >
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function List() {
  const { toasts } = Toast.useToastManager<{ mark: Mark }>()
  return toasts.map((one) => (
    <Toast.Root
      key={one.id}
      toast={one}
      className="appearing flex items-start gap-2.5 rounded-panel border border-line bg-raised px-3 py-2.5 text-ink shadow-menu"
    >
      <StateMark mark={one.data?.mark ?? 'good'} className="mt-1" />
      <Toast.Content className="min-w-0 flex-1">
        <Toast.Title className="font-medium break-words" />
        <Toast.Description className="text-12 break-words text-ink-2" />
      </Toast.Content>
      <Toast.Close aria-label={words.ui.close} className="rounded-chip p-1 text-ink-3 hover:text-ink">
        <X size={13} aria-hidden />
      </Toast.Close>
    </Toast.Root>
  ))
}
