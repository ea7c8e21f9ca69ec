import { Checkbox } from '@base-ui/react/checkbox'
import { Switch as BaseSwitch } from '@base-ui/react/switch'
import { Check, Minus } from 'lucide-react'
import type { ReactNode } from 'react'

interface SwitchProps {
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
  readonly disabled?: boolean
  /** Where it stands in a field with other controls, and its text alone says too little. */
  readonly label?: string
  readonly children: ReactNode
}

export function Switch({ checked, onChange, disabled = false, label, children }: SwitchProps) {
  return (
    <label className="inline-flex items-center gap-2 select-none">
      <BaseSwitch.Root
        checked={checked}
        disabled={disabled}
        // Otherwise the label of the field would name it.
        {...(label !== undefined && { 'aria-label': label, 'aria-labelledby': undefined })}
        onCheckedChange={(next) => onChange(next)}
        className="flex h-4 w-7 shrink-0 items-center rounded-full bg-line-strong p-0.5 transition-colors duration-120 data-checked:bg-ink data-disabled:opacity-50"
      >
        <BaseSwitch.Thumb className="size-3 rounded-full bg-surface transition-transform duration-120 data-checked:translate-x-3" />
      </BaseSwitch.Root>
      {children}
    </label>
  )
}

interface TickProps {
  readonly checked: boolean
  /** Some of those it stands for. */
  readonly some?: boolean
  readonly onChange: (checked: boolean) => void
  readonly disabled?: boolean
  /** Where no text stands beside it, or it stands in a field with others. */
  readonly label?: string
  readonly children?: ReactNode
}

export function Tick({ checked, some = false, onChange, disabled = false, label, children }: TickProps) {
  const box = (
    <Checkbox.Root
      checked={checked}
      indeterminate={some}
      disabled={disabled}
      // In a field with several, the label of the field would name them all alike.
      {...(label !== undefined && { 'aria-label': label, 'aria-labelledby': undefined })}
      onCheckedChange={(next) => onChange(next)}
      className="flex size-3.5 shrink-0 items-center justify-center rounded-[3px] border border-line-strong bg-surface text-surface data-checked:border-ink data-checked:bg-ink data-disabled:bg-sunken data-indeterminate:border-ink data-indeterminate:bg-ink"
    >
      <Checkbox.Indicator>
        {some ? (
          <Minus size={10} strokeWidth={3} aria-hidden />
        ) : (
          <Check size={10} strokeWidth={3} aria-hidden />
        )}
      </Checkbox.Indicator>
    </Checkbox.Root>
  )
  if (children === undefined) return box
  return (
    <label className="inline-flex items-center gap-2 select-none">
      {box}
      {children}
    </label>
  )
}
