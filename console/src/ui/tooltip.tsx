/** A short text beside what the pointer or the keyboard is on. */
import { Tooltip } from '@base-ui/react/tooltip'
import type { ReactElement, ReactNode } from 'react'
import { usePopupLayer } from './layers.ts'

interface TipProps {
  readonly text: ReactNode
  readonly side?: 'top' | 'bottom' | 'left' | 'right'
  /** One element that takes focus and a ref. */
  readonly children: ReactElement
}

export function Tip({ text, side = 'top', children }: TipProps) {
  const container = usePopupLayer()
  return (
    <Tooltip.Root>
      <Tooltip.Trigger render={children} />
      <Tooltip.Portal container={container}>
        <Tooltip.Positioner side={side} sideOffset={6}>
          <Tooltip.Popup className="appearing max-w-80 rounded-control border border-line bg-raised px-2 py-1 text-12 text-ink shadow-menu">
            {text}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}
