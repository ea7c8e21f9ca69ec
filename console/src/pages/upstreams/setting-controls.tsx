/** The control of each setting of a model. */
import { useState } from 'react'
import type { Routing } from '../../api/queries/routing.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { ChipsInput } from '../../ui/chips-input.tsx'
import { classes } from '../../ui/classes.ts'
import { CONTROL_FRAME } from '../../ui/field.tsx'
import { NumberInput } from '../../ui/number-field.tsx'
import { Select } from '../../ui/select.tsx'
import { Switch } from '../../ui/switch.tsx'
import { words } from '../../words/words.ts'
import { PriceField } from './fields.tsx'
import type { ModelEdit } from './model-edit.ts'
import {
  aliasesIn,
  batchText,
  DEFAULT_BATCH,
  effectiveEntry,
  isGuarded,
  microBatchIn,
  timeoutSeconds,
  ttlIn,
  type Setting,
} from './settings.ts'
import { spanText, USUAL_SPANS } from './time-span.ts'

const MicroBatchSheet = lazyPart(async () => (await import('./micro-batch-sheet.tsx')).MicroBatchSheet)

export interface SettingControlProps {
  readonly setting: Setting
  readonly routing: Routing
  readonly edit: ModelEdit
}

/** Longest that torana.yaml takes: an hour. */
const MAX_TIMEOUT_SECONDS = 3600
const SECOND_MS = 1000
/** Turned on, a cache begins with this. */
const FIRST_TTL = '30d'

export function SettingControl(props: SettingControlProps) {
  const { setting, routing, edit } = props
  const say = words.routing.settings
  const entry = effectiveEntry(routing, edit)
  const disabled = edit.locked !== undefined
  switch (setting.id) {
    case 'timeout':
      return (
        <NumberInput
          label={setting.title}
          value={timeoutSeconds(entry) ?? null}
          min={0.001}
          max={MAX_TIMEOUT_SECONDS}
          format={{ maximumFractionDigits: 3 }}
          placeholder={String(routing.default_attempt_timeout_ms / SECOND_MS)}
          after={say.seconds}
          disabled={disabled}
          onChange={(next) =>
            edit.set(['attemptTimeoutMs'], next === null ? undefined : Math.round(next * SECOND_MS))
          }
        />
      )
    case 'cache':
      return <CacheControl {...props} ttl={ttlIn(entry)} />
    case 'microBatch':
      return <BatchControl {...props} />
    case 'price':
      return (
        <PriceField
          label={setting.title}
          kind={routing.kind}
          price={entry?.['price']}
          byDefault={words.routing.price.perDeployment}
          was={undefined}
          disabled={disabled}
          onChange={(price) => edit.set(['price'], price)}
        />
      )
    case 'aliases':
      return (
        <ChipsInput
          label={setting.title}
          values={aliasesIn(entry)}
          placeholder={say.addAlias}
          disabled={disabled}
          onChange={(aliases) => edit.set(['aliases'], aliases.length === 0 ? undefined : aliases)}
        />
      )
    case 'spaceCheck':
      return (
        <span className={classes(CONTROL_FRAME, disabled && 'bg-sunken')}>
          <span className="min-w-0 flex-1 truncate">{setting.text}</span>
          <Switch
            label={say.on(setting.title)}
            checked={isGuarded(entry)}
            disabled={disabled}
            onChange={(on) => edit.set(['spaceGuard'], guardValue(on, edit))}
          >
            {null}
          </Switch>
        </span>
      )
  }
}

/** On is what an absent field means, so that turning it off and on again changes nothing. */
function guardValue(on: boolean, { before }: ModelEdit): boolean | undefined {
  if (!on) return false
  return before?.['spaceGuard'] === true ? true : undefined
}

function CacheControl({ setting, edit, ttl }: SettingControlProps & { readonly ttl: string | undefined }) {
  const say = words.routing.settings
  const disabled = edit.locked !== undefined
  const known: readonly string[] = USUAL_SPANS
  const spans = ttl === undefined || known.includes(ttl) ? known : [ttl, ...known]
  return (
    <span className={classes(CONTROL_FRAME, disabled && 'bg-sunken')}>
      {ttl === undefined ? (
        <span className="min-w-0 flex-1 text-ink-2">{say.cacheOff}</span>
      ) : (
        <Select
          label={setting.title}
          value={ttl}
          disabled={disabled}
          options={spans.map((span) => ({ value: span, label: spanText(span) }))}
          onChange={(next) => edit.set(['cache', 'ttl'], next)}
          className="h-6! border-0! bg-transparent! px-0! ring-0! phone:h-8!"
        />
      )}
      <Switch
        label={say.on(setting.title)}
        checked={ttl !== undefined}
        disabled={disabled}
        onChange={(on) =>
          edit.set(['cache'], on ? (edit.before?.['cache'] ?? { ttl: FIRST_TTL }) : undefined)
        }
      >
        {null}
      </Switch>
    </span>
  )
}

function BatchControl({ setting, routing, edit }: SettingControlProps) {
  const [isOpen, setOpen] = useState(false)
  const say = words.routing.settings
  const disabled = edit.locked !== undefined
  const batch = microBatchIn(effectiveEntry(routing, edit))
  return (
    <span className={classes(CONTROL_FRAME, disabled && 'bg-sunken')}>
      <button
        type="button"
        aria-label={`${setting.title}: ${batchText(batch)}`}
        disabled={disabled || batch === undefined}
        title={batchText(batch)}
        className={classes('min-w-0 flex-1 truncate text-left', batch === undefined && 'text-ink-2')}
        onClick={() => setOpen(true)}
      >
        {batchText(batch)}
      </button>
      <Switch
        label={say.on(setting.title)}
        checked={batch !== undefined}
        disabled={disabled}
        onChange={(on) =>
          edit.set(['microBatch'], on ? (edit.before?.['microBatch'] ?? { ...DEFAULT_BATCH }) : undefined)
        }
      >
        {null}
      </Switch>
      {isOpen && batch !== undefined && (
        <MicroBatchSheet batch={batch} edit={edit} onClose={() => setOpen(false)} />
      )}
    </span>
  )
}
