/** Images that are being made, each in a tile of the asked ratio from the start. */
import { Brush, CircleStop, Download, RotateCw } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { ImageJob } from '../../api/queries/image-jobs.ts'
import { duration, moneyInList } from '../../app/format.ts'
import { sumOf, usdOf } from '../../app/money.ts'
import { paths } from '../../app/paths.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { failureText } from '../../ui/failure.ts'
import { TextLink } from '../../ui/link.tsx'
import { saveBlob, useObjectUrl } from '../../ui/object-url.ts'
import { StateMark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { extensionOf } from './files.ts'
import { fittedWidth } from './fitted-width.ts'
import type { Run, Tile } from './runs.ts'
import type { Size } from './sizes.ts'

/** `unpriced` and `large` are no amounts. */
function isAmount(most: string | undefined): most is string {
  return most !== undefined && most !== 'unpriced' && most !== 'large'
}

interface TilesProps {
  readonly run: Run
  readonly isRunning: boolean
  /** What was asked for, or what the model makes by itself. */
  readonly size: Size
  readonly most: string | undefined
  /** By the id of its request: the cost of a stream is known once it has ended. */
  readonly jobs: ReadonlyMap<string, ImageJob>
  readonly onStopWaiting: () => void
  readonly onEdit: ((image: Blob) => void) | undefined
  readonly onAgain: () => void
  /** The buttons at the end of the bar. */
  readonly bar?: ReactNode
}

export function Tiles({ run, isRunning, size, most, jobs, onStopWaiting, onEdit, onAgain, bar }: TilesProps) {
  const text = words.images
  const done = run.tiles.filter(({ state }) => state === 'done').length
  const requestIds = new Set(run.tiles.flatMap(({ requestId }) => requestId ?? []))
  const costs = [...requestIds].flatMap((id) => costOf(id, run.tiles, jobs) ?? [])
  const max = isRunning && isAmount(most) ? moneyInList(most) : undefined
  const deployment = run.tiles.find((tile) => tile.deployment !== undefined)?.deployment
  return (
    <section aria-label={text.generate} className="flex min-h-0 flex-1 flex-col">
      <header
        role="status"
        className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-5 text-12 text-ink-2 phone:px-4"
      >
        <span className="flex items-center gap-2 text-13 font-semibold text-ink">
          {isRunning && <StateMark mark="wait" word="" />}
          {text.arrivedOf(done, run.tiles.length)}
        </span>
        {run.requests.length > 1 && <span>{text.sideBySide(run.requests.length)}</span>}
        {deployment !== undefined && <span>{deployment}</span>}
        <span className="ml-auto tabular-nums">
          {(costs.length > 0 || max !== undefined) && text.soFar(moneyInList(usdOf(sumOf(costs))), max)}
        </span>
        {isRunning && (
          <Button look="quiet" icon={<CircleStop size={14} aria-hidden />} onClick={onStopWaiting}>
            {text.stopWaiting}
          </Button>
        )}
        {bar}
      </header>
      <ul
        className={classes(
          '@container-[size] grid min-h-0 flex-1 content-start gap-4 overflow-y-auto px-5 py-4 phone:@container-normal phone:overflow-visible phone:px-4',
          run.tiles.length > 1 ? 'grid-cols-2 phone:grid-cols-1' : 'grid-cols-1',
        )}
      >
        {run.tiles.map((tile, index) => (
          <li key={tile.key} className={classes(run.tiles.length === 1 && 'max-w-160')}>
            <TileView
              tile={tile}
              number={index + 1}
              ratio={size.width / size.height}
              previewsAsked={run.requests[0]?.partial_images ?? 0}
              prompt={run.settings.prompt}
              cost={tile.requestId === undefined ? undefined : costOf(tile.requestId, [tile], jobs)}
              onEdit={onEdit}
              onAgain={onAgain}
              rerunDisabledReason={run.rerunDisabledReason}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}

function costOf(
  requestId: string,
  tiles: readonly Tile[],
  jobs: ReadonlyMap<string, ImageJob>,
): string | undefined {
  const own = tiles.find((tile) => tile.requestId === requestId)?.costUsd
  return own ?? jobs.get(requestId)?.cost_usd ?? undefined
}

/** The caption below an image, with the gap between them. */
const CAPTION_HEIGHT = '1.75rem'
interface TileViewProps {
  readonly tile: Tile
  readonly number: number
  readonly ratio: number
  readonly previewsAsked: number
  readonly prompt: string
  readonly cost: string | undefined
  readonly onEdit: ((image: Blob) => void) | undefined
  readonly onAgain: () => void
  readonly rerunDisabledReason: string | undefined
}

function TileView(props: TileViewProps) {
  const { tile, number, ratio, previewsAsked, prompt, cost, onEdit } = props
  const text = words.images
  const { state, image, previews } = tile
  const url = useObjectUrl(image ?? tile.preview)
  // The model may have made another size than the one asked for.
  const [ownRatio, setOwnRatio] = useState<number>()
  const shownRatio = state === 'done' ? (ownRatio ?? ratio) : ratio
  return (
    <figure className="flex flex-col gap-1.5" style={{ width: fittedWidth(shownRatio, CAPTION_HEIGHT) }}>
      <div
        className="group relative overflow-hidden rounded-control bg-sunken"
        style={{ aspectRatio: shownRatio }}
      >
        {url !== undefined && (
          <img
            key={url}
            src={url}
            alt={text.madeFrom(prompt)}
            className="appearing absolute inset-0 size-full object-cover"
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
              setOwnRatio(naturalWidth / naturalHeight)
            }
          />
        )}
        {state === 'waiting' && <Ring arrived={previews} asked={previewsAsked} />}
        {state === 'waiting' && previews > 0 && (
          <span className="absolute bottom-2 left-2 rounded-chip bg-[rgb(20_21_24/0.82)] px-1.5 text-11 leading-5 text-[#fff]">
            {text.preview(previews, previewsAsked)}
          </span>
        )}
        {state === 'failed' && <TileFault tile={tile} />}
        {state === 'stopped' && <p className="p-4 text-12 text-ink-2">{text.stopped}</p>}
        {image !== undefined && (
          <div className="absolute top-2 right-2 flex gap-1.5">
            <IconButton
              look="plain"
              label={text.download}
              onClick={() => saveBlob(image, `torana-${number}.${extensionOf(image.type)}`)}
            >
              <Download size={15} aria-hidden />
            </IconButton>
            {onEdit !== undefined && (
              <IconButton look="plain" label={text.editThis} onClick={() => onEdit(image)}>
                <Brush size={15} aria-hidden />
              </IconButton>
            )}
            <IconButton
              look="plain"
              label={text.runAgain}
              why={props.rerunDisabledReason}
              onClick={props.onAgain}
            >
              <RotateCw size={15} aria-hidden />
            </IconButton>
          </div>
        )}
      </div>
      <figcaption className="flex items-baseline gap-3 text-12 text-ink-2">
        <span className="font-semibold text-ink">{number}</span>
        {tile.requestId !== undefined && (
          <TextLink to={paths.request(tile.requestId)}>{text.itsRequest}</TextLink>
        )}
        <span className="ml-auto tabular-nums">
          {state === 'waiting'
            ? previews > 0
              ? text.arriving
              : text.waiting
            : state === 'failed'
              ? text.failed
              : [
                  ...(tile.tookMs === undefined ? [] : [duration(tile.tookMs)]),
                  ...(cost === undefined ? [] : [moneyInList(cost)]),
                ].join(', ')}
        </span>
      </figcaption>
    </figure>
  )
}

const RING = 2 * Math.PI * 11

/** Previews that arrived, of those that were asked for. */
function Ring({ arrived, asked }: { readonly arrived: number; readonly asked: number }) {
  const part = asked === 0 ? 0.25 : (arrived + 0.5) / (asked + 1)
  return (
    <svg
      aria-hidden
      viewBox="0 0 28 28"
      className={classes('absolute inset-0 m-auto size-7', asked === 0 && 'turning')}
    >
      <circle cx="14" cy="14" r="11" fill="none" stroke="rgb(128 128 128 / 0.45)" strokeWidth="3" />
      <circle
        cx="14"
        cy="14"
        r="11"
        fill="none"
        stroke="#fff"
        strokeWidth="3"
        strokeLinecap="round"
        strokeDasharray={`${RING * part} ${RING}`}
        transform="rotate(-90 14 14)"
      />
    </svg>
  )
}

function TileFault({ tile: { error } }: { readonly tile: Tile }) {
  const code = error !== null && typeof error === 'object' && 'code' in error ? String(error.code) : undefined
  return (
    <div role="alert" className="absolute inset-0 flex flex-col gap-1 overflow-auto p-4">
      <p className="flex items-center gap-2">
        <StateMark mark="bad" word="" />
        {code !== undefined && <span className="mono-12">{code}</span>}
      </p>
      <p className="text-12 break-words text-ink-2">
        {error instanceof Error ? failureText(error) : words.images.failed}
      </p>
    </div>
  )
}
