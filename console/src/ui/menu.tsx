/** A list of things to do, or to choose, behind a button. */
import { Menu as BaseMenu } from '@base-ui/react/menu'
import { useNavigate } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import { classes } from './classes.ts'
import { usePopupLayer } from './layers.ts'
import type { Address } from './link.tsx'
import { MENU, MENU_ITEM } from './menu-look.ts'

interface MenuProps {
  /** The button that opens it. */
  readonly trigger: ReactElement
  readonly align?: 'start' | 'center' | 'end'
  readonly side?: 'top' | 'bottom'
  readonly className?: string
  /** Where something beside its button opens it too. */
  readonly open?: boolean
  readonly onOpenChange?: (open: boolean) => void
  readonly children: ReactNode
}

export function Menu({
  trigger,
  align = 'start',
  side = 'bottom',
  className,
  open,
  onOpenChange,
  children,
}: MenuProps) {
  const container = usePopupLayer()
  return (
    <BaseMenu.Root
      {...(open !== undefined && { open })}
      {...(onOpenChange !== undefined && { onOpenChange })}
    >
      <BaseMenu.Trigger render={trigger} />
      <BaseMenu.Portal container={container}>
        <BaseMenu.Positioner side={side} align={align} sideOffset={4} className="outline-none">
          <BaseMenu.Popup className={classes(MENU, className)}>{children}</BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  )
}

interface MenuItemProps {
  readonly icon?: ReactNode
  readonly note?: ReactNode
  readonly danger?: boolean
  /** Why it can't be chosen. */
  readonly why?: string | undefined
  readonly onSelect?: () => void
  readonly to?: Address
  readonly children: ReactNode
}

export function MenuItem({ icon, note, danger = false, why, onSelect, to, children }: MenuItemProps) {
  const navigate = useNavigate()
  return (
    <BaseMenu.Item
      disabled={why !== undefined}
      className={classes(MENU_ITEM, danger && why === undefined && 'text-bad')}
      onClick={() => {
        if (to !== undefined) void navigate(to)
        onSelect?.()
      }}
    >
      {icon}
      <span className="min-w-0 flex-1">
        <span className="block truncate">{children}</span>
        {why !== undefined && <span className="block text-12 text-ink-3">{why}</span>}
      </span>
      {note !== undefined && <span className="text-12 tabular-nums text-ink-3">{note}</span>}
    </BaseMenu.Item>
  )
}

interface MenuChoiceProps {
  readonly chosen: boolean
  readonly icon?: ReactNode
  readonly note?: ReactNode
  readonly onSelect: () => void
  readonly children: ReactNode
}

/** A choice among others: the chosen one has a tick. */
export function MenuChoice({ chosen, icon, note, onSelect, children }: MenuChoiceProps) {
  return (
    <BaseMenu.CheckboxItem
      checked={chosen}
      closeOnClick
      className={MENU_ITEM}
      onCheckedChange={() => onSelect()}
    >
      {icon}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {note !== undefined && <span className="text-12 tabular-nums text-ink-3">{note}</span>}
      <Check size={14} aria-hidden className={chosen ? '' : 'invisible'} />
    </BaseMenu.CheckboxItem>
  )
}

export function MenuLine() {
  return <BaseMenu.Separator className="my-1 h-px bg-line" />
}

export function MenuHead({ children }: { readonly children: ReactNode }) {
  return <p className="px-2 pt-1.5 pb-1 text-11 text-ink-3">{children}</p>
}
