/** The left column: model, project that pays, texts, what it costs at most, and the button. */
import { ChartScatter, Check, Sparkles } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Schema } from '../../api/client.ts'
import type { InputType } from '../../api/queries/playground-embeddings.ts'
import { bytes, moneyExact } from '../../app/format.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Field } from '../../ui/field.tsx'
import { Kbd, withCommand } from '../../ui/kbd.tsx'
import { Select } from '../../ui/select.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import { costOf, maxTokensOf } from './cost.ts'
import { InputsField, type InputsFieldProps } from './inputs-field.tsx'
import { inputRefusal, MAX_CALL_BYTES, type PartKind } from './taken-media.ts'
import { MAX_TEXTS, type TypedTexts } from './texts.ts'

type ModelRow = Schema<'ModelRow'>

const INPUT_TYPES: readonly InputType[] = ['query', 'document', 'classification', 'clustering', 'similarity']

interface RunFormProps extends InputsFieldProps {
  readonly models: readonly ModelRow[]
  readonly model: ModelRow
  readonly onModel: (id: string) => void
  readonly projects: readonly string[]
  readonly project: string | undefined
  readonly onProject: (name: string) => void
  readonly inputType: InputType | undefined
  readonly onInputType: (type: InputType | undefined) => void
  /** In a sheet it has the width of the sheet. */
  readonly isInSheet?: boolean
  readonly isRunning: boolean
  readonly onRun: () => void
}

export function RunForm(props: RunFormProps) {
  const { models, model, project, inputType, typed, taken, isRunning, isInSheet = false } = props
  const say = words.embeddings
  const takesType = model.can['input_type'] !== undefined
  const tooMany = typed.texts.length - MAX_TEXTS
  return (
    <div
      className={classes(
        'flex min-h-0 flex-col gap-3',
        !isInSheet &&
          'w-90 shrink-0 border-r border-line px-5 py-4 max-[1200px]:w-72 phone:w-full phone:border-r-0 phone:border-b phone:px-4',
      )}
    >
      <Field name="model" label={say.model} hint={trouble(model, models)}>
        <Select
          label={say.model}
          value={model.id}
          onChange={props.onModel}
          icon={<ChartScatter size={14} aria-hidden className="shrink-0 text-ink-3" />}
          options={models.map((one) => ({
            value: one.id,
            label: (
              <span className="flex items-center gap-3">
                <span className="min-w-0 flex-1 truncate">{one.id}</span>
                <span className="shrink-0 text-12 text-ink-3">{say.wide(one.embedding?.width ?? 0)}</span>
              </span>
            ),
          }))}
        />
      </Field>
      {taken && <Takes inputs={taken.inputs} />}
      <div className="flex gap-2">
        <Field name="project" label={say.project} className="min-w-0 flex-[1.35]">
          <Select
            label={say.project}
            value={project ?? ''}
            placeholder={say.chooseProject}
            onChange={props.onProject}
            options={props.projects.map((name) => ({ value: name, label: name }))}
          />
        </Field>
        <Field name="input_type" label={say.inputType} className="min-w-0 flex-1">
          <Select
            label={say.inputType}
            value={inputType ?? 'none'}
            disabled={!takesType}
            onChange={(next) => props.onInputType(INPUT_TYPES.find((one) => one === next))}
            options={['none', ...INPUT_TYPES].map((one) => ({
              value: one,
              label: one === 'none' ? say.noInputType : one,
            }))}
          />
        </Field>
      </div>
      <InputsField {...props} />
      <div className="flex items-center gap-2.5">
        <Button
          look="primary"
          size="large"
          writes
          className="flex-1"
          busy={isRunning}
          why={
            project === undefined
              ? say.projectMissing
              : typed.texts.length === 0
                ? say.noTexts
                : tooMany > 0
                  ? say.tooMany(tooMany, MAX_TEXTS)
                  : refusedOf(props)
          }
          icon={<Sparkles size={15} aria-hidden />}
          onClick={props.onRun}
        >
          {say.embed} <Kbd onInk>{withCommand('↵')}</Kbd>
        </Button>
        <Cost
          typed={typed}
          model={model}
          hasPrefix={inputType !== undefined && model.can['input_type'] === 'emulated'}
        />
      </div>
    </div>
  )
}

function Takes({ inputs }: { readonly inputs: readonly PartKind[] }): ReactNode {
  const { kinds, takes } = words.embeddings.media
  return (
    <ul aria-label={takes} className="-mt-1 flex flex-wrap gap-1">
      {inputs.map((kind) => (
        <li key={kind}>
          <Tag tone="good" icon={<Check size={11} aria-hidden />}>
            {kinds[kind]}
          </Tag>
        </li>
      ))}
    </ul>
  )
}

/** Why the inputs can't be sent, before anything is. */
export function refusedOf({
  typed,
  files,
  taken,
}: Pick<InputsFieldProps, 'typed' | 'files' | 'taken'>): string | undefined {
  const say = words.embeddings.media
  const refused = typed.inputs.filter((input) => inputRefusal(input, files, taken) !== undefined).length
  if (refused > 0) return say.refused(refused)
  const ids = typed.inputs.flatMap(({ media }) => media.map(({ id }) => id))
  const size = ids.reduce((sum, id) => sum + (files.get(id)?.size ?? 0), 0)
  return size > MAX_CALL_BYTES ? say.callTooLarge(bytes(size), bytes(MAX_CALL_BYTES)) : undefined
}

interface CostProps {
  readonly typed: TypedTexts
  readonly model: ModelRow
  readonly hasPrefix: boolean
}

function Cost({ typed, model, hasPrefix }: CostProps) {
  const say = words.embeddings
  if (model.price[0]?.unit === 'free') return <p className="text-12 text-ink-2">{say.free}</p>
  const tokens = maxTokensOf(typed.inputs, model, hasPrefix)
  const cost = tokens === undefined ? null : costOf(tokens, model.price)
  return (
    <p className="shrink-0 text-12 leading-4 text-ink-2">
      {tokens === undefined ? say.media.costByImages : cost === null ? say.unpriced : say.atMost}
      {cost !== null && <span className="block font-strong text-ink tabular-nums">{moneyExact(cost)}</span>}
    </p>
  )
}

/** Says while you type that a model is retired or has no healthy deployment, and which others would do. */
function trouble(model: ModelRow, models: readonly ModelRow[]): string | undefined {
  const say = words.embeddings
  if (model.retired !== null) return say.retired
  if (model.deployments.some(({ state }) => state === 'healthy' || state === 'limited')) return undefined
  const would = models.filter(
    (one) => one !== model && one.deployments.some(({ state }) => state === 'healthy'),
  )
  return say.ill(
    would
      .slice(0, 3)
      .map(({ id }) => id)
      .join(', '),
  )
}
