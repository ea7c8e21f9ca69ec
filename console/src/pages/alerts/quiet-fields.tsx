/** The quiet hours of a rule: none, hours of every day, or whole days. */
import { useId } from 'react'
import { classes } from '../../ui/classes.ts'
import { Field, TextInput } from '../../ui/field.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { withQuiet, type FieldsProps } from './rule-form.ts'

/** Every zone that the browser knows. */
const ZONES: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')]

export function QuietFields({ form, set }: FieldsProps) {
  const say = words.alerts.rule
  const zones = useId()
  const toggle = (number: number): void =>
    set({
      days: form.days.includes(number) ? form.days.filter((one) => one !== number) : [...form.days, number],
    })
  return (
    <>
      <Field name="quiet" label={say.quiet} hint={say.quietHint}>
        <Segmented
          label={say.quiet}
          className="self-start"
          value={form.quiet}
          segments={[
            { value: 'none', label: say.quietOff },
            { value: 'daily', label: say.quietNight },
            { value: 'days', label: say.quietDays },
          ]}
          onChange={(quiet) => set(withQuiet(form, quiet))}
        />
      </Field>
      {form.quiet !== 'none' && (
        <div className="flex flex-col gap-3 rounded-control border border-line px-3.5 py-3">
          <div role="group" aria-label={say.quietDayNames} className="flex flex-wrap gap-1">
            {words.alerts.quiet.days.map((name, index) => {
              const isChosen = form.days.includes(index + 1)
              return (
                <button
                  key={name}
                  type="button"
                  aria-pressed={isChosen}
                  className={classes(
                    'h-7 min-w-11 rounded-control border px-2 text-12 font-medium phone:h-9',
                    isChosen ? 'border-ink bg-ink text-surface' : 'border-line text-ink-2 hover:bg-hover',
                  )}
                  onClick={() => toggle(index + 1)}
                >
                  {name}
                </button>
              )
            })}
          </div>
          <div className="grid grid-cols-[1fr_1fr_2fr] gap-3 phone:grid-cols-2">
            {form.quiet === 'daily' && (
              <>
                <Clock
                  name="quiet.from"
                  label={say.from}
                  value={form.from}
                  onChange={(from) => set({ from })}
                />
                <Clock name="quiet.to" label={say.to} value={form.to} onChange={(to) => set({ to })} />
              </>
            )}
            <Field
              name="quiet.zone"
              label={say.zone}
              className={form.quiet === 'days' ? 'col-span-full' : 'phone:col-span-full'}
            >
              <TextInput
                required
                list={zones}
                autoComplete="off"
                spellCheck={false}
                value={form.zone}
                onChange={(zone) => set({ zone })}
              />
              <datalist id={zones}>
                {ZONES.map((zone) => (
                  <option key={zone} value={zone} />
                ))}
              </datalist>
            </Field>
          </div>
        </div>
      )}
    </>
  )
}

interface ClockProps {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}

/** By 24 hours, as all times of the console: the browser's own field would follow its language. */
function Clock({ name, label, value, onChange }: ClockProps) {
  return (
    <Field name={name} label={label} rule={words.alerts.rule.clock}>
      <TextInput
        required
        inputMode="numeric"
        autoComplete="off"
        maxLength={5}
        pattern="([01]\d|2[0-3]):[0-5]\d|24:00"
        placeholder="22:00"
        value={value}
        onChange={onChange}
        className="tabular-nums"
      />
    </Field>
  )
}
