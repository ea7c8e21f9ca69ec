/** Who gets a call of one model: its deployments in tiers, to edit and to move, and what applies to all of them. */
import { useQuery } from '@tanstack/react-query'
import { ScatterChart, Image, Plus } from 'lucide-react'
import { useRef, useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { routingQueries, type Routing } from '../../api/queries/routing.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { useMay } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { LoadingRows } from '../../ui/loading.tsx'
import { usePhone } from '../../ui/media.ts'
import { Problem } from '../../ui/problem.tsx'
import { Select } from '../../ui/select.tsx'
import { words } from '../../words/words.ts'
import { deploymentsIn, movedTo, newPriority, tiersOf, type DeploymentRow, type Tier } from './deployments.ts'
import { limitHead, LIMITS } from './deployment-fields.tsx'
import { DeploymentCard, DeploymentLine, GRID } from './deployment-row.tsx'
import { keyOf, type Draft } from './draft.ts'
import { identityOf } from './entry.ts'
import { useModelEdit, type ModelEdit } from './model-edit.ts'
import { ModelSettings } from './model-settings.tsx'
import { TIER, useMoving, type Moving } from './moving.ts'

const AddDeployment = lazyPart(async () => (await import('./add-deployment.tsx')).AddDeployment)
const DeploymentSheet = lazyPart(async () => (await import('./deployment-sheet.tsx')).DeploymentSheet)

interface RoutingEditorProps {
  readonly models: readonly Schema<'ModelRow'>[]
  readonly model: string
  readonly draft: Draft
  readonly onModel: (model: string) => void
}

export function RoutingEditor({ models, model, draft, onModel }: RoutingEditorProps) {
  const query = useQuery(routingQueries.routing(model))
  const [isAdding, setAdding] = useState(false)
  const say = words.routing.model
  const routing = query.data
  const forbidden = useForbidden()
  return (
    <section aria-label={say.for} className="flex flex-col gap-4 px-6 pt-5 pb-8 phone:px-4 phone:pt-2">
      <header className="flex items-center gap-2.5">
        <h2 className="shrink-0 text-13 font-semibold phone:sr-only">{say.for}</h2>
        <span className="w-60 shrink-0 phone:w-auto phone:flex-1">
          <Select
            label={say.choose}
            value={model}
            options={models.map((one) => ({ value: one.id, label: <ModelName one={one} draft={draft} /> }))}
            onChange={onModel}
            className="font-semibold"
          />
        </span>
        {routing?.space != null && (
          <span className="mono-12 truncate text-ink-3 phone:hidden">{spaceTail(routing.space)}</span>
        )}
        <span className="ml-auto shrink-0">
          <Button
            icon={<Plus size={15} aria-hidden />}
            why={forbidden}
            aria-label={say.addDeployment}
            onClick={() => setAdding(true)}
          >
            <span className="phone:hidden">{say.addDeployment}</span>
          </Button>
        </span>
      </header>
      {query.error !== null && routing === undefined ? (
        <Problem error={query.error} retry={() => void query.refetch()} className="px-0" />
      ) : routing === undefined ? (
        <LoadingRows className="-mx-6" />
      ) : (
        <Editor key={model} routing={routing} isAdding={isAdding} onAdded={() => setAdding(false)} />
      )}
    </section>
  )
}

function useForbidden(): string | undefined {
  return useMay()('upstreams.write') ? undefined : words.routing.onlyAdmins
}

function ModelName({ one, draft }: { readonly one: Schema<'ModelRow'>; readonly draft: Draft }) {
  const Icon = one.kind === 'image' ? Image : ScatterChart
  const isChanged = draft.has(keyOf({ object: 'model', name: one.id }))
  return (
    <span className="flex min-w-0 items-center gap-2">
      <Icon size={14} aria-hidden className="shrink-0 text-ink-3" />
      <span className="truncate">{one.id}</span>
      {isChanged && <span className="text-11 font-normal text-accent">{words.routing.model.changed}</span>}
    </span>
  )
}

/** `@1024:16ddc461` of `BAAI/bge-m3@1024:16ddc461`. */
function spaceTail(space: string): string {
  const at = space.lastIndexOf('@')
  return at < 0 ? space : space.slice(at)
}

interface EditorProps {
  readonly routing: Routing
  readonly isAdding: boolean
  readonly onAdded: () => void
}

function Editor({ routing, isAdding, onAdded }: EditorProps) {
  const edit = useModelEdit(routing)
  const [edited, setEdited] = useState<string>()
  const tiers = tiersOf(routing, edit.entry)
  const box = useRef<HTMLDivElement>(null)
  const moving = useMoving(tiers, box, (key, slot) =>
    edit.setDeployments(movedTo(deploymentsIn(edit.entry), key, slot)),
  )
  const priorities = tiersOf(routing, edit.before).map(({ priority }) => priority)
  const editedRow = tiers.flatMap(({ rows }) => rows).find(({ key }) => key === edited)
  const kind = routing.kind
  return (
    <>
      <div ref={box} className="flex flex-col gap-3">
        {tiers.map((tier, at) => (
          <TierView
            key={tier.priority}
            {...{ tier, at, kind, edit, moving, priorities }}
            isOnly={tiers.length === 1}
            onEdit={({ key }) => setEdited(key)}
          />
        ))}
        <NewTier tiers={tiers} edit={edit} moving={moving} />
        <Removed edit={edit} model={routing.model} />
      </div>
      <p aria-live="assertive" className="sr-only">
        {moving.announcement}
      </p>
      <ModelSettings routing={routing} edit={edit} />
      {isAdding && <AddDeployment routing={routing} tiers={tiers} edit={edit} onClose={onAdded} />}
      {editedRow !== undefined && (
        <DeploymentSheet row={editedRow} kind={kind} edit={edit} onClose={() => setEdited(undefined)} />
      )}
    </>
  )
}

interface TierViewProps {
  readonly tier: Tier
  readonly at: number
  readonly isOnly: boolean
  readonly kind: Routing['kind']
  readonly edit: ModelEdit
  readonly moving: Moving
  readonly priorities: readonly number[]
  readonly onEdit: (row: DeploymentRow) => void
}

function TierView({ tier, at, isOnly, ...shared }: TierViewProps) {
  const isPhone = usePhone()
  const { lifted } = shared.moving
  const say = words.routing.model
  const note =
    at > 0
      ? (isPhone ? say.fallbackShort : say.fallback)(at)
      : tier.rows.length > 1
        ? say.shared
        : isOnly
          ? say.only
          : undefined
  const isDropAtEnd = lifted?.slot.priority === tier.priority && lifted.slot.before === undefined
  const rows = tier.rows.map((row) =>
    isPhone ? (
      <DeploymentCard key={row.key} row={row} tier={tier} {...shared} />
    ) : (
      <DeploymentLine key={row.key} row={row} tier={tier} {...shared} />
    ),
  )
  return (
    <section aria-label={say.tier(at + 1)}>
      <h3 className="pb-1.5 text-12">
        <span className="font-semibold">{say.tier(at + 1)}</span>
        {note !== undefined && <span className="pl-2 text-ink-2">{note}</span>}
      </h3>
      {at === 0 && !isPhone && <Heads kind={shared.kind} />}
      <ul
        {...{ [TIER]: tier.priority }}
        className={classes(
          'relative',
          isPhone ? 'flex flex-col gap-2' : 'divide-y divide-line rounded-panel border border-line',
          isDropAtEnd && 'after:absolute after:inset-x-0 after:-bottom-px after:h-0.5 after:bg-accent',
        )}
      >
        {rows}
      </ul>
    </section>
  )
}

function Heads({ kind }: { readonly kind: Routing['kind'] }) {
  const { heads } = words.routing.model
  return (
    <div aria-hidden className={classes(GRID, 'pt-0.5 pr-2 pb-1.5 text-12 font-medium text-ink-2')}>
      <span className="col-start-2">{heads.deployment}</span>
      <span>{heads.weight}</span>
      {LIMITS[kind].map((limit) => (
        <span key={limit} className="truncate">
          {limitHead(limit)}
        </span>
      ))}
      <span>{heads.price}</span>
    </div>
  )
}

interface NewTierProps {
  readonly tiers: readonly Tier[]
  readonly edit: ModelEdit
  readonly moving: Moving
}

/** Where a deployment is dropped to make a tier behind all others. */
function NewTier({ tiers, edit, moving: { lifted } }: NewTierProps) {
  if (deploymentsIn(edit.entry).length === 0 || edit.forbidden !== undefined) return null
  const priority = newPriority(tiers)
  const isHere = lifted?.slot.priority === priority
  return (
    <div
      {...{ [TIER]: priority }}
      className={classes(
        'flex h-8 items-center justify-center gap-1.5 rounded-panel border border-dashed text-12',
        isHere ? 'border-accent bg-accent-tint text-accent' : 'border-line-strong text-ink-2',
        // A finger scrolls past it; it is there while something is moved.
        lifted === undefined && 'phone:hidden',
      )}
    >
      <Plus size={13} aria-hidden />
      {words.routing.model.newTier(tiers.length + 1)}
    </div>
  )
}

/** Deployments that are gone when the changes are saved. */
function Removed({ edit, model }: { readonly edit: ModelEdit; readonly model: string }) {
  const say = words.routing.model
  const kept = new Set(deploymentsIn(edit.entry).map(identityOf))
  const before = deploymentsIn(edit.before)
  const removed = before.filter((one) => !kept.has(identityOf(one)))
  if (removed.length === 0) return null
  const restore = (): void => {
    if (edit.entry === null) edit.undo()
    else
      edit.setDeployments(
        removed.reduce<ReturnType<typeof deploymentsIn>>(
          (list, one) => list.toSpliced(before.indexOf(one), 0, one),
          deploymentsIn(edit.entry),
        ),
      )
  }
  const isWhole = edit.entry === null && edit.locked === undefined
  return (
    <p className="flex items-center gap-2 text-12 text-accent">
      {isWhole ? say.deleted(model) : say.removed(removed.map((one) => String(one['upstream'])).join(', '))}
      <button type="button" className="link font-medium" onClick={restore}>
        {say.undo}
      </button>
    </p>
  )
}
