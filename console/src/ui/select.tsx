/** One of several, in a list that opens. */
import { Select as BaseSelect } from '@base-ui/react/select'
import { Check, ChevronDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import { CONTROL } from './field.tsx'
import { usePopupLayer } from './layers.ts'
import { MENU, MENU_ITEM } from './menu-look.ts'

interface Option<Value extends string> {
  /** `''`: none is chosen yet, and the placeholder is shown. */
  readonly value: Value | ''
  readonly label: ReactNode
}

interface SelectProps<Value extends string> {
  /** Of the control itself, where no `Field` names it. */
  readonly label?: string
  readonly options: readonly Option<Value>[]
  /** `''`: none is chosen yet, and the placeholder is shown. */
  readonly value: Value | ''
  readonly onChange: (value: Value) => void
  readonly placeholder?: string
  readonly icon?: ReactNode
  readonly disabled?: boolean
  readonly className?: string
}

export function Select<Value extends string>({
  label,
  options,
  value,
  onChange,
  placeholder,
  icon,
  disabled = false,
  className,
}: SelectProps<Value>) {
  const container = usePopupLayer()
  return (
    <BaseSelect.Root<Value>
      items={options as Option<Value>[]}
      value={value === '' && placeholder !== undefined ? null : (value as Value)}
      disabled={disabled}
      onValueChange={(next) => next !== null && onChange(next)}
    >
      <BaseSelect.Trigger
        aria-label={label}
        // Several controls stand in one field, whose own label would name them all alike.
        {...(label !== undefined && { 'aria-labelledby': undefined })}
        className={classes(CONTROL, 'flex items-center gap-2 text-left', className)}
      >
        {icon}
        <BaseSelect.Value placeholder={placeholder} className="min-w-0 flex-1 truncate" />
        <ChevronDown size={14} aria-hidden className="shrink-0 text-ink-3" />
      </BaseSelect.Trigger>
      <BaseSelect.Portal container={container}>
        <BaseSelect.Positioner sideOffset={4} alignItemWithTrigger={false} className="outline-none">
          <BaseSelect.Popup className={MENU}>
            {options.map((option) => (
              <BaseSelect.Item key={option.value} value={option.value} className={MENU_ITEM}>
                <BaseSelect.ItemText className="flex-1">{option.label}</BaseSelect.ItemText>
                <BaseSelect.ItemIndicator>
                  <Check size={14} aria-hidden />
                </BaseSelect.ItemIndicator>
              </BaseSelect.Item>
            ))}
          </BaseSelect.Popup>
        </BaseSelect.Positioner>
      </BaseSelect.Portal>
    </BaseSelect.Root>
  )
}
