/** Sizes, drawn in their ratio; where the model allows any, also two numbers with its rule. */
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { NumberInput } from '../../ui/number-field.tsx'
import { words } from '../../words/words.ts'
import { AUTO } from './settings.ts'
import {
  drawnSizes,
  faultOf,
  nearestSizes,
  sizeLabels,
  sizeOf,
  textOf,
  type Size,
  type SizeFault,
  type SizeRules,
} from './sizes.ts'

interface SizePickerProps {
  readonly rules: SizeRules
  readonly value: string
  readonly onChange: (value: string) => void
}

/** The longer edge of a drawing, in pixels of the screen. */
const DRAWN_EDGE = 34

export function SizePicker({ rules, value, onChange }: SizePickerProps) {
  const drawn = drawnSizes(rules)
  const labels = sizeLabels(drawn)
  const chosen = sizeOf(value)
  const isDrawn = value === AUTO || drawn.some((size) => textOf(size) === value)
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-12 font-strong">{words.images.size}</legend>
      <div className="flex flex-wrap items-end gap-x-1 gap-y-1.5">
        <Drawn
          size={undefined}
          label={words.images.auto}
          name={words.images.sizeAuto}
          isChosen={value === AUTO}
          onChoose={() => onChange(AUTO)}
        />
        {drawn.map((size, index) => (
          <Drawn
            key={textOf(size)}
            size={size}
            label={labels[index] ?? ''}
            name={`${size.width} × ${size.height}`}
            isChosen={textOf(size) === value}
            onChoose={() => onChange(textOf(size))}
          />
        ))}
        {rules.kind !== 'list' && (
          <Drawn
            size={undefined}
            label={words.images.free}
            name={words.images.free}
            isChosen={!isDrawn}
            onChoose={() => onChange(textOf(offGrid(drawn[0], rules)))}
          />
        )}
      </div>
      {chosen !== undefined && (
        <Edges size={chosen} rules={rules} isFixed={rules.kind === 'list'} onChange={onChange} />
      )}
    </fieldset>
  )
}

/** A size of one's own begins beside the usual one. */
function offGrid(usual: Size | undefined, rules: SizeRules): Size {
  const { width, height } = usual ?? { width: 1024, height: 1024 }
  const step = Math.max(rules.multiple_of ?? 1, 16)
  const larger = { width: width + step, height }
  return faultOf(larger, rules) === undefined ? larger : { width: width - step, height }
}

interface DrawnProps {
  readonly size: Size | undefined
  readonly label: string
  readonly name: string
  readonly isChosen: boolean
  readonly onChoose: () => void
}

function Drawn({ size, label, name, isChosen, onChoose }: DrawnProps) {
  const longer = size === undefined ? 1 : Math.max(size.width, size.height)
  const scale = (edge: number | undefined) =>
    edge === undefined ? 22 : Math.max(12, (edge / longer) * DRAWN_EDGE)
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      aria-label={name === label ? label : `${label}, ${name}`}
      title={name}
      className="group flex min-w-8 flex-col items-center gap-1 phone:min-w-11"
      onClick={onChoose}
    >
      <span
        className={classes(
          'block rounded-[3px] border group-hover:border-ink',
          isChosen ? 'border-ink bg-accent-tint' : 'border-line-strong',
          size === undefined && 'border-dashed',
        )}
        style={{ width: scale(size?.width), height: scale(size?.height) }}
      />
      <span className={classes('text-11 tabular-nums', isChosen ? 'font-semibold text-ink' : 'text-ink-3')}>
        {label}
      </span>
    </button>
  )
}

interface EdgesProps {
  readonly size: Size
  readonly rules: SizeRules
  readonly isFixed: boolean
  readonly onChange: (value: string) => void
}

function Edges({ size, rules, isFixed, onChange }: EdgesProps) {
  const [typed, setTyped] = useState(size)
  // What was chosen in the drawings wins over what was typed before.
  const [seen, setSeen] = useState(size)
  if (textOf(seen) !== textOf(size)) {
    setSeen(size)
    setTyped(size)
  }
  const fault = faultOf(typed, rules)
  const change = (next: Size): void => {
    setTyped(next)
    onChange(textOf(next))
  }
  const set = (edge: 'width' | 'height') => (value: number | null) => change({ ...typed, [edge]: value ?? 0 })
  return (
    <>
      <div className="flex items-center gap-2">
        <NumberInput
          label={words.images.width}
          value={typed.width}
          disabled={isFixed}
          onChange={set('width')}
          format={{ useGrouping: false }}
          className="w-25"
        />
        <span className="text-ink-3">×</span>
        <NumberInput
          label={words.images.height}
          value={typed.height}
          disabled={isFixed}
          onChange={set('height')}
          format={{ useGrouping: false }}
          className="w-25"
        />
        <span className="text-11 leading-[14px] text-ink-3">
          {rules.multiple_of !== null && rules.multiple_of > 1 && words.images.multiple(rules.multiple_of)}
          <br />
          {rules.max_ratio !== null && words.images.ratioTo(rules.max_ratio)}
        </span>
      </div>
      {fault !== undefined && (
        <p role="alert" className="text-12 text-bad">
          {faultText(fault, rules)} {words.images.instead}{' '}
          {nearestSizes(typed, rules).map((near) => (
            <Button key={textOf(near)} size="small" className="mr-1" onClick={() => change(near)}>
              {near.width} × {near.height}
            </Button>
          ))}
        </p>
      )}
    </>
  )
}

function faultText(fault: SizeFault, rules: SizeRules): string {
  const { sizeFaults } = words.images
  if (fault === 'multiple') return sizeFaults.multiple(rules.multiple_of ?? 1)
  if (fault === 'edge') return sizeFaults.edge(rules.max_edge ?? 0)
  if (fault === 'ratio') return sizeFaults.ratio(rules.max_ratio ?? 0)
  return sizeFaults[fault]
}
