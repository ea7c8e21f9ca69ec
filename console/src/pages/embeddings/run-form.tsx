/** The left column: model, project that pays, texts, what it costs at most, and the button. */
import { ChartScatter, Sparkles } from 'lucide-react'
import { useState } from 'react'
import type { Schema } from '../../api/client.ts'
import type { InputType } from '../../api/queries/playground-embeddings.ts'
import { moneyExact } from '../../app/format.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Kbd, withCommand } from '../../ui/kbd.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Select } from '../../ui/select.tsx'
import { words } from '../../words/words.ts'
import { costOf, maxTokens } from './cost.ts'
import { CsvDialog } from './csv-dialog.tsx'
import { SAMPLES, SAMPLE_TEXTS } from './samples.ts'
import { TextArea } from './text-area.tsx'
import { MAX_TEXTS, type TypedTexts } from './texts.ts'

type ModelRow = Schema<'ModelRow'>

const INPUT_TYPES: readonly InputType[] = ['query', 'document', 'classification', 'clustering', 'similarity']

interface RunFormProps {
  readonly models: readonly ModelRow[]
  readonly model: ModelRow
  readonly onModel: (id: string) => void
  readonly projects: readonly string[]
  readonly project: string | undefined
  readonly onProject: (name: string) => void
  readonly inputType: InputType | undefined
  readonly onInputType: (type: InputType | undefined) => void
  readonly value: string
  readonly typed: TypedTexts
  readonly onChange: (value: string) => void
  readonly onForget: () => void
  readonly isRunning: boolean
  readonly onRun: () => void
}

export function RunForm(props: RunFormProps) {
  const { models, model, project, inputType, value, typed, isRunning } = props
  const [isPasting, setPasting] = useState(false)
  const say = words.embeddings
  const takesType = model.can['input_type'] !== undefined
  const tooMany = typed.texts.length - MAX_TEXTS
  return (
    <div className="flex min-h-0 w-90 max-[1200px]:w-72 shrink-0 flex-col gap-3 border-r border-line px-5 py-4 phone:w-full phone:border-r-0 phone:border-b phone:px-4">
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
      <div className="flex min-h-0 flex-1 flex-col gap-1">
        <div className="flex items-center gap-3 text-12">
          <span className="flex-1 font-strong">{say.texts}</span>
          <Menu
            align="end"
            trigger={
              <button type="button" className="link">
                {say.samples}
              </button>
            }
          >
            {SAMPLES.map((sample) => (
              <MenuItem key={sample} onSelect={() => props.onChange(SAMPLE_TEXTS[sample])}>
                {say.sampleNames[sample]}
              </MenuItem>
            ))}
          </Menu>
          <button type="button" className="link" onClick={() => setPasting(true)}>
            {say.pasteCsv}
          </button>
          <button type="button" className="link" onClick={props.onForget}>
            {say.forget}
          </button>
        </div>
        <TextArea value={value} typed={typed} onChange={props.onChange} />
        <p className="text-12 text-ink-3" role="status">
          {say.count(typed.texts.length, typed.groups.length)}
        </p>
        {tooMany > 0 && <p className="text-12 text-bad">{say.tooMany(tooMany, MAX_TEXTS)}</p>}
      </div>
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
                  : undefined
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
      {isPasting && (
        <CsvDialog
          onClose={() => setPasting(false)}
          onTake={(lines) => {
            props.onChange(lines)
            setPasting(false)
          }}
        />
      )}
    </div>
  )
}

interface CostProps {
  readonly typed: TypedTexts
  readonly model: ModelRow
  readonly hasPrefix: boolean
}

function Cost({ typed, model, hasPrefix }: CostProps) {
  const say = words.embeddings
  if (model.price[0]?.unit === 'free') return <p className="text-12 text-ink-2">{say.free}</p>
  const cost = costOf(maxTokens(typed.texts, hasPrefix), model.price)
  return (
    <p className="shrink-0 text-12 leading-4 text-ink-2">
      {cost === null ? say.unpriced : say.atMost}
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
