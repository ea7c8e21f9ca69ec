/** The second step: model, width, who pays, how soon, and the form of the result. */
import { ChartScatter, KeyRound } from 'lucide-react'
import type { ReactNode } from 'react'
import { bytes, moment, NONE, whole } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { Field } from '../../ui/field.tsx'
import { Section } from '../../ui/page.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Select } from '../../ui/select.tsx'
import { State } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { outputBytes, widthsOf, type Choices, type EmbeddingModel } from './choices.ts'
import type { Estimate } from './estimate.ts'
import { COLUMNS, FULL_WIDTH, Labelled } from './labelled.tsx'
import { priceText } from './price.ts'
import type { RunAs } from './run-as.ts'

const HOURS = ['1', '6', '24', '168'] as const
const OUTPUTS = ['jsonl', 'parquet', 'npy'] as const
const HOUR_MS = 3_600_000

export interface OptionsPartProps {
  readonly models: readonly EmbeddingModel[]
  readonly choices: Choices
  readonly estimate: Estimate | undefined
  readonly runAs: RunAs
  readonly project: string | undefined
  readonly onModel: (id: string) => void
  readonly onDimensions: (dimensions: number | undefined) => void
  readonly onRunAs: (value: string) => void
  readonly onHours: (hours: Choices['hours']) => void
  readonly onOutput: (output: Choices['output']) => void
}

export function OptionsPart(props: OptionsPartProps) {
  const { models, choices, project } = props
  const { model, dimensions, hours } = choices
  const nowMs = useNow()
  const say = words.newBatch.options
  const icon = (Icon: typeof KeyRound) => <Icon size={14} aria-hidden className="shrink-0 text-ink-3" />
  return (
    <Section title={say.title}>
      <div className={`${COLUMNS} pt-2`}>
        <Field name="model" label={say.model} hint={spaceOf(props)}>
          <Select
            value={model?.id ?? ''}
            placeholder={say.chooseModel}
            icon={icon(ChartScatter)}
            onChange={props.onModel}
            options={models.map(({ id }) => ({ value: id, label: id }))}
            {...(model && { className: 'font-semibold' })}
          />
        </Field>
        <Field name="dimensions" label={say.dimensions} hint={model && priceText(model.price)}>
          <Select
            value={String(dimensions ?? FULL)}
            disabled={model === undefined || widthsOf(model).length === 0}
            onChange={(next) => props.onDimensions(next === FULL ? undefined : Number(next))}
            options={[
              { value: FULL, label: model ? <Full width={model.embedding.width} /> : NONE },
              ...(model ? widthsOf(model) : []).map((width) => ({
                value: String(width),
                label: whole(width),
              })),
            ]}
          />
        </Field>
        <Field name="key" label={say.runAs} hint={project === undefined ? undefined : say.charged(project)}>
          <Select
            value={props.runAs.value}
            placeholder={words.newBatch.file.chooseProject}
            icon={icon(KeyRound)}
            onChange={props.onRunAs}
            options={props.runAs.options}
          />
        </Field>
        <Labelled
          label={say.within}
          hint={say.by(moment(Math.ceil(nowMs / 60_000) * 60_000 + Number(hours) * HOUR_MS, nowMs))}
        >
          <Segmented
            label={say.within}
            value={hours}
            onChange={props.onHours}
            segments={HOURS.map((value) => ({ value, label: say.hours[value] }))}
            className={FULL_WIDTH}
          />
        </Labelled>
        <Labelled label={say.output} hint={sizeOf(props)}>
          <Segmented
            label={say.output}
            value={choices.output}
            onChange={props.onOutput}
            segments={OUTPUTS.map((value) => ({ value, label: say.outputs[value] }))}
            className={FULL_WIDTH}
          />
        </Labelled>
      </div>
      <Duplicates estimate={props.estimate} />
    </Section>
  )
}

const FULL = 'full'

function Full({ width }: { readonly width: number }) {
  return (
    <>
      {whole(width)} <span className="text-ink-2">{words.newBatch.options.full}</span>
    </>
  )
}

/** `@3072:f2f9ccc7`: the name of the model is in the field. */
function spaceOf({ models, choices: { model, dimensions }, estimate }: OptionsPartProps): ReactNode {
  if (models.length === 0) return words.newBatch.options.noModels
  const space = estimate?.space ?? (dimensions === undefined ? model?.space : undefined)
  if (model === undefined || space === undefined || space === null) return undefined
  return <span className="mono-12 break-all">{space.slice(space.lastIndexOf('@'))}</span>
}

function sizeOf({ choices, estimate }: OptionsPartProps): string {
  const say = words.newBatch.options
  if (estimate === undefined) return say.outputAnytime
  return say.outputHint(bytes(outputBytes(choices.output, estimate.vectorBytes)))
}

function Duplicates({ estimate }: Pick<OptionsPartProps, 'estimate'>) {
  const say = words.newBatch.options
  const duplicates = estimate?.duplicates ?? 0
  if (duplicates === 0) return null
  return (
    <p className="pt-4 text-12">
      <State mark="warn">{say.duplicates(duplicates)}</State>
    </p>
  )
}
