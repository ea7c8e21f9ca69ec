/** What is asked for: the model, the prompt, sizes and the rest, and what it costs at most. */
import { Brush, Check, Image, Sparkles } from 'lucide-react'
import type { ReactNode } from 'react'
import { moneyInList } from '../../app/format.ts'
import { Button } from '../../ui/button.tsx'
import { CONTROL, Field, Form } from '../../ui/field.tsx'
import { Kbd, withCommand } from '../../ui/kbd.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Select } from '../../ui/select.tsx'
import { Switch } from '../../ui/switch.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import type { CostBefore } from './cost-before.ts'
import { AUTO, type ImageModel, type Mode, type Settings } from './settings.ts'
import { SizePicker } from './size-picker.tsx'

interface RequestFormProps {
  readonly mode: Mode
  readonly onMode: (mode: Mode) => void
  readonly models: readonly ImageModel[]
  readonly model: ImageModel
  readonly onModel: (id: string) => void
  readonly projects: readonly string[]
  readonly project: string | undefined
  readonly onProject: (project: string) => void
  readonly settings: Settings
  readonly onSettings: (change: Partial<Settings>) => void
  /** The images of an edit. */
  readonly inputImages: ReactNode
  readonly cost: CostBefore
  /** Why it can't be run now. */
  readonly disabledReason: string | undefined
  readonly busy: boolean
  readonly onRun: () => void
}

export function RequestForm(props: RequestFormProps) {
  const { mode, model, models, settings, onSettings, inputImages, projects, project } = props
  const { image } = model
  const text = words.images
  return (
    <Form
      className="flex w-78 shrink-0 flex-col border-r border-line phone:order-2 phone:w-full phone:border-r-0"
      onSubmit={() => props.disabledReason === undefined && !props.busy && props.onRun()}
    >
      <div className="flex min-h-0 flex-1 flex-col gap-3.5 overflow-y-auto px-5 pt-3.5 pb-4 phone:overflow-visible phone:px-4">
        <Segmented
          label={text.mode}
          value={mode}
          onChange={props.onMode}
          segments={[
            { value: 'generate', label: text.generate },
            { value: 'edit', label: text.edit },
          ]}
          className="grid! h-8! grid-cols-2 *:justify-center *:text-13"
        />
        <div className="flex flex-col gap-1.5">
          <Field name="model" label={text.model}>
            <Select
              value={model.id}
              onChange={props.onModel}
              icon={<Image size={14} aria-hidden className="text-ink-3" />}
              options={models.map(({ id }) => ({ value: id, label: id }))}
            />
          </Field>
          <Abilities model={model} />
        </div>
        {projects.length > 1 && (
          <Field name="project" label={text.project}>
            <Select
              value={project ?? ''}
              placeholder={text.chooseProject}
              onChange={props.onProject}
              options={projects.map((name) => ({ value: name, label: name }))}
            />
          </Field>
        )}
        {inputImages}
        <Field name="prompt" label={text.prompt}>
          <textarea
            aria-label={text.prompt}
            value={settings.prompt}
            rows={mode === 'edit' ? 3 : 5}
            onChange={(event) => onSettings({ prompt: event.target.value })}
            className={`${CONTROL} h-auto! resize-y py-1.5 leading-[19px]`}
          />
        </Field>
        <SizePicker rules={image.sizes} value={settings.size} onChange={(size) => onSettings({ size })} />
        <Choices {...props} />
        {mode === 'edit' && model.can['mask'] !== undefined && (
          <div>
            <Switch checked={settings.keep} onChange={(keep) => onSettings({ keep })}>
              {text.keep}
            </Switch>
            <p className="pl-9 text-12 text-ink-3">{text.keepHint}</p>
          </div>
        )}
      </div>
      <Foot {...props} />
    </Form>
  )
}

function Abilities({ model: { image, can } }: { readonly model: ImageModel }) {
  const text = words.images
  return (
    <p className="flex flex-wrap gap-1.5">
      {can['mask'] !== undefined ? (
        <Tag tone="good" icon={<Check size={11} aria-hidden />}>
          {text.mask}
        </Tag>
      ) : (
        <Tag>{text.noMask}</Tag>
      )}
      <Tag>{image.max_given > 0 ? text.pictures(image.max_given) : text.textOnly}</Tag>
      {image.previews > 0 && <Tag>{text.previewsOf(image.previews)}</Tag>}
    </p>
  )
}

const HOW_MANY = ['1', '2', '4'] as const

function Choices({ model: { image, can }, settings, onSettings }: RequestFormProps) {
  const text = words.images
  const optionsOf = (values: readonly string[]) => [
    { value: AUTO, label: text.auto },
    ...values.map((value) => ({ value, label: value })),
  ]
  const { backgrounds } = text
  return (
    <div className="grid grid-cols-2 gap-x-2.5 gap-y-3.5">
      {image.qualities.length > 0 && (
        <Field name="quality" label={text.quality}>
          <Select
            value={image.qualities.includes(settings.quality) ? settings.quality : AUTO}
            onChange={(quality) => onSettings({ quality })}
            options={optionsOf(image.qualities)}
          />
        </Field>
      )}
      <Field name="output_format" label={text.format}>
        <Select
          value={image.formats.includes(settings.format) ? settings.format : AUTO}
          onChange={(format) => onSettings({ format })}
          options={optionsOf(image.formats)}
        />
      </Field>
      {can['transparent'] !== undefined && (
        <Field name="background" label={text.background}>
          <Select
            value={settings.background}
            onChange={(background) => onSettings({ background })}
            options={(['auto', 'transparent', 'opaque'] as const).map((value) => ({
              value,
              label: backgrounds[value],
            }))}
          />
        </Field>
      )}
      <Numbers label={text.howMany}>
        <Segmented
          label={text.howMany}
          value={String(settings.howMany)}
          onChange={(value) => onSettings({ howMany: Number(value) })}
          segments={HOW_MANY.map((value) => ({ value, label: value }))}
          className="w-full *:flex-1 *:justify-center"
        />
      </Numbers>
      {image.previews > 0 && (
        <Numbers label={text.previews}>
          <Segmented
            label={text.previews}
            value={String(Math.min(settings.previews, image.previews))}
            onChange={(value) => onSettings({ previews: Number(value) })}
            segments={Array.from({ length: image.previews + 1 }, (_, index) => ({
              value: String(index),
              label: index,
            }))}
            className="w-full *:flex-1 *:justify-center"
          />
        </Numbers>
      )}
    </div>
  )
}

function Numbers({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1">
      <span aria-hidden className="text-12 font-strong">
        {label}
      </span>
      {children}
    </div>
  )
}

/** What it costs at most, who pays, and the button. */
function Foot({ mode, project, cost, disabledReason, busy }: RequestFormProps) {
  const text = words.images
  const { refusal, most } = cost
  const amount =
    most === 'unpriced' ? text.unpriced : most === 'large' ? text.notKnown : moneyInList(most ?? null)
  return (
    <div className="flex flex-col gap-2 px-5 py-3.5 phone:px-4">
      {refusal !== undefined && (
        <p role="alert" className="text-12 break-words text-bad">
          {refusal.message}
        </p>
      )}
      <p className="flex items-baseline justify-between gap-3 text-12 text-ink-2">
        <span className="min-w-0 truncate">{project !== undefined && text.atMost(project)}</span>
        <span
          className="text-13 font-semibold whitespace-nowrap text-ink tabular-nums"
          title={most === 'large' ? text.largePictures : undefined}
        >
          {amount}
        </span>
      </p>
      <Button
        type="submit"
        look="primary"
        size="large"
        busy={busy}
        why={disabledReason}
        icon={mode === 'edit' ? <Brush size={15} aria-hidden /> : <Sparkles size={15} aria-hidden />}
      >
        {busy ? text.running : mode === 'edit' ? text.edit : text.generate}
        <span className="phone:hidden">
          <Kbd onInk={!busy && disabledReason === undefined}>{withCommand('↵')}</Kbd>
        </span>
      </Button>
    </div>
  )
}
