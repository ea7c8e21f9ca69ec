/** One control for the range of time, and the switch between UTC and the browser's zone. */
import { Popover } from '@base-ui/react/popover'
import { Calendar, ChevronDown } from 'lucide-react'
import { useState } from 'react'
import { words } from '../words/words.ts'
import { Button } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { layer } from '../ui/layers.ts'
import { Menu, MenuChoice } from '../ui/menu.tsx'
import { usePhone } from '../ui/media.ts'
import { Segmented } from '../ui/segmented.tsx'
import { Tip } from '../ui/tooltip.tsx'
import { useChangeSearch } from './change-search.ts'
import { nowMs } from '../time/now.ts'
import { rangeOf, SPANS, type RangeSearch, type Span, rangeText, type TimeSpan } from '../time/range.ts'
import { switchZone, useZone, timeZone } from '../time/zone.ts'
import { DayInput } from '../ui/day-field.tsx'
import { dayOf, daysAfter, startOf } from '../time/day.ts'

interface RangeControlProps {
  readonly search: RangeSearch
  /** What the page looks at when its address says nothing. */
  readonly usual: Span
  /** Without the switch of the zone. */
  readonly bare?: boolean
}

export function RangeControl({ search, usual, bare = false }: RangeControlProps) {
  const change = useChangeSearch<RangeSearch>()
  const isPhone = usePhone()
  useZone()
  const range = rangeOf(search, usual, nowMs())
  const { span } = range
  const choose = (since: Span): void =>
    change({ since: since === usual ? undefined : since, from: undefined, to: undefined })
  const days = span === undefined ? rangeText(range) : undefined
  if (isPhone)
    return (
      <Menu
        align="end"
        trigger={
          <Button aria-label={words.shell.range}>
            {span ?? days}
            <ChevronDown size={14} aria-hidden />
          </Button>
        }
      >
        {SPANS.map((one) => (
          <MenuChoice key={one} chosen={one === span} onSelect={() => choose(one)}>
            {one}
          </MenuChoice>
        ))}
      </Menu>
    )
  return (
    <div className="flex items-center gap-3">
      <Segmented
        label={words.shell.range}
        segments={SPANS.map((one) => ({ value: one, label: one }))}
        value={span}
        onChange={choose}
        end={
          <DaysControl
            range={range}
            shown={days}
            onChange={(from, to) => change({ since: undefined, from, to })}
          />
        }
      />
      {!bare && <ZoneSwitch />}
    </div>
  )
}

interface DaysControlProps {
  readonly range: TimeSpan
  readonly shown: string | undefined
  readonly onChange: (from: string, to: string) => void
}

/** From a day to a day, both included, in the zone that is shown. */
function DaysControl({ range, shown, onChange }: DaysControlProps) {
  const [isOpen, setOpen] = useState(false)
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const open = (next: boolean): void => {
    setOpen(next)
    if (!next) return
    setFrom(dayOf(range.fromMs, timeZone()))
    setTo(dayOf(range.toMs - 1, timeZone()))
  }
  const use = (): void => {
    if (from === '' || to === '' || from > to) return
    const [fromMs, toMs] = [startOf(from, timeZone()), startOf(daysAfter(to, 1), timeZone())]
    onChange(timeText(fromMs), timeText(toMs))
    setOpen(false)
  }
  return (
    <Popover.Root open={isOpen} onOpenChange={open}>
      <Popover.Trigger
        aria-label={words.shell.calendar}
        className={classes(
          'inline-flex h-full items-center gap-1.5 rounded-[5px] border px-2 text-12 font-medium',
          shown === undefined
            ? 'border-transparent text-ink-2 hover:text-ink'
            : 'border-line bg-raised text-ink',
        )}
      >
        <Calendar size={13} aria-hidden />
        {shown}
      </Popover.Trigger>
      <Popover.Portal container={layer('menus')}>
        <Popover.Positioner align="end" sideOffset={4}>
          <Popover.Popup className="appearing rounded-panel border border-line bg-raised p-3 text-ink shadow-menu">
            <form
              className="flex items-end gap-2"
              onSubmit={(event) => {
                event.preventDefault()
                use()
              }}
            >
              <label className="flex flex-col gap-1 text-12 text-ink-2">
                {words.ui.from}
                <DayInput label={words.ui.from} value={from} onChange={setFrom} />
              </label>
              <label className="flex flex-col gap-1 text-12 text-ink-2">
                {words.ui.to}
                <DayInput label={words.ui.to} value={to} min={from} onChange={setTo} />
              </label>
              <Button type="submit" look="primary" size="large" writes={false}>
                {words.ui.use}
              </Button>
            </form>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}

function ZoneSwitch() {
  const zone = useZone()
  const name = zone === 'utc' ? words.shell.utc : words.shell.local
  return (
    <Tip text={words.shell.zoneHint(name)} side="bottom">
      <button
        type="button"
        className="h-7 rounded-control px-1.5 text-13 font-medium text-ink-2 hover:text-ink"
        onClick={switchZone}
      >
        {name}
      </button>
    </Tip>
  )
}
