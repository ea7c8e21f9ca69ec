/**
 * Several of many, found by typing; the chosen ones are chips inside the field. `↵` chooses the highlighted option and never
 * submits the form. Text that was typed and not chosen stays in the field, and `Form` does not submit while it is there: an
 * empty field often means "all", so dropping the text would grant more than was typed.
 */
import { Combobox as BaseCombobox } from '@base-ui/react/combobox'
import { Check, X } from 'lucide-react'
import { useState } from 'react'
import { words } from '../words/words.ts'
import { classes } from './classes.ts'
import { UNCHOSEN } from './field.tsx'
import { usePopupLayer } from './layers.ts'
import { MENU, MENU_ITEM } from './menu-look.ts'

interface ComboboxProps {
  readonly label: string
  readonly options: readonly string[]
  readonly values: readonly string[]
  readonly onChange: (values: string[]) => void
  readonly placeholder?: string
  readonly disabled?: boolean
}

export function Combobox({
  label,
  options,
  values,
  onChange,
  placeholder = words.ui.add,
  disabled = false,
}: ComboboxProps) {
  const container = usePopupLayer()
  const [typed, setTyped] = useState('')
  const [isOpen, setOpen] = useState(false)
  const isUnchosen = typed.trim() !== ''
  const choose = (next: string[]): void => {
    setTyped('')
    // Typing the name of a chosen option and `↵` would take it out again.
    if (!isUnchosen || next.length > values.length) onChange(next)
  }
  return (
    <BaseCombobox.Root
      items={options}
      multiple
      autoHighlight
      value={[...values]}
      disabled={disabled}
      inputValue={typed}
      open={isOpen}
      onOpenChange={setOpen}
      onInputValueChange={(next, { reason }) => {
        // Base UI clears what was typed when the list closes.
        if (reason === 'input-change') setTyped(next)
      }}
      onValueChange={choose}
    >
      <BaseCombobox.Chips
        className={classes(
          'flex min-h-8 flex-wrap items-center gap-1.5 rounded-control border border-line-strong bg-surface px-1.5 py-1 focus-within:border-accent focus-within:ring-3 focus-within:ring-accent/25 phone:min-h-10',
          disabled && 'bg-sunken',
        )}
      >
        {values.map((value) => (
          <BaseCombobox.Chip
            key={value}
            className="inline-flex h-5.5 items-center gap-1 rounded-chip bg-tag pr-0.5 pl-1.5 text-12 font-medium"
            aria-label={value}
          >
            {value}
            <BaseCombobox.ChipRemove
              aria-label={words.ui.remove(value)}
              className="rounded-chip p-0.5 text-ink hover:text-bad"
            >
              <X size={11} strokeWidth={2.25} aria-hidden />
            </BaseCombobox.ChipRemove>
          </BaseCombobox.Chip>
        ))}
        <BaseCombobox.Input
          aria-label={label}
          placeholder={placeholder}
          aria-invalid={isUnchosen && !isOpen ? true : undefined}
          {...(isUnchosen && { [UNCHOSEN]: '' })}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.metaKey && !event.ctrlKey) event.preventDefault()
          }}
          className="h-6 min-w-16 flex-1 bg-transparent px-1 text-13 outline-none phone:text-15"
        />
      </BaseCombobox.Chips>
      {isUnchosen && !isOpen && (
        <p role="alert" className="mt-1 text-12 text-bad">
          {words.ui.unchosen(typed.trim())}
        </p>
      )}
      <BaseCombobox.Portal container={container}>
        <BaseCombobox.Positioner sideOffset={4} className="outline-none">
          <BaseCombobox.Popup className={MENU}>
            <BaseCombobox.Empty className="px-2 text-ink-3 not-empty:py-1">
              {words.ui.nothingFound}
            </BaseCombobox.Empty>
            <BaseCombobox.List>
              {(option: string) => (
                <BaseCombobox.Item key={option} value={option} className={MENU_ITEM}>
                  <span className="min-w-0 flex-1 truncate">{option}</span>
                  <BaseCombobox.ItemIndicator>
                    <Check size={14} aria-hidden />
                  </BaseCombobox.ItemIndicator>
                </BaseCombobox.Item>
              )}
            </BaseCombobox.List>
          </BaseCombobox.Popup>
        </BaseCombobox.Positioner>
      </BaseCombobox.Portal>
    </BaseCombobox.Root>
  )
}
