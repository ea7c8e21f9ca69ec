/** Texts as points: colour and shape of their group, labels where there is room, the query as a star. */
import { useEffect, useEffectEvent, useMemo, useRef, useState, type PointerEvent } from 'react'
import { share } from '../../app/format.ts'
import { useTheme } from '../../app/theme.ts'
import { words } from '../../words/words.ts'
import { ChartFrame, type ChartTable } from '../frame.tsx'
import { useWidth } from '../size.ts'
import { useCanvas } from './canvas.ts'
import { drawImages, imageEdges, type MapImage } from './map-images.ts'
import { labelsFor, NO_ZOOM, spotAt, spotsOf, towards, zoomed, type Spot, type Zoom } from './map-layout.ts'
import {
  drawAxes,
  drawLabels,
  drawMarks,
  drawRays,
  drawRing,
  drawStar,
  labelMeasure,
  paletteOf,
  shortened,
} from './map-drawing.ts'

export interface VectorMapProps {
  readonly caption: string
  readonly texts: readonly string[]
  readonly groupOf: readonly number[]
  readonly points: Float64Array
  /** Of inputs with an image, in the order of the texts. */
  readonly images?: readonly (MapImage | undefined)[]
  /** Edge of an image with room around it. */
  readonly imageEdge?: number
  readonly shares: readonly [x: number, y: number]
  readonly query?: { readonly text: string; readonly point: readonly [x: number, y: number] } | undefined
  /** Lines lead from the query to these. */
  readonly nearest?: readonly number[]
  readonly hasLabels?: boolean
  readonly height: number
  readonly at: number | undefined
  readonly onAt: (at: number | undefined) => void
  readonly describe: (at: number) => string
  /** What stands beside the point under the pointer. */
  readonly tip?: React.ReactNode
  readonly table: () => ChartTable
  readonly isTable?: boolean
  readonly onTable?: (isTable: boolean) => void
}

const WHEEL_STEP = 1.0015
const NONE: readonly number[] = []
const NO_IMAGES: readonly undefined[] = []
/** How far from its middle a mark and an image are pointed at. */
const REACH = { mark: 12, image: 20 }

export function VectorMap(props: VectorMapProps) {
  const { texts, groupOf, points, shares, query, nearest = NONE, hasLabels = true, height, at, onAt } = props
  const { images = NO_IMAGES, imageEdge = 36 } = props
  const [box, width] = useWidth<HTMLDivElement>()
  const [zoom, setZoom] = useState<Zoom>(NO_ZOOM)
  const theme = useTheme()
  const size = { width, height }
  const spots = useMemo(
    () => spotsOf(points, query ? [query.point] : [], { width, height }, zoom),
    [points, query, width, height, zoom],
  )
  const edges = useMemo(
    () =>
      imageEdges(
        spots,
        images.map((image) => image !== undefined),
        { full: imageEdge, zoomTimes: zoom.times },
      ),
    [spots, images, imageEdge, zoom.times],
  )
  const picture = useMemo(() => {
    if (!hasLabels || width === 0) return []
    const measure = labelMeasure()
    const short = (index: number): string => shortened(texts[index] ?? query?.text ?? '')
    const order = query ? [texts.length, ...nearest, ...texts.keys()] : texts.keys()
    const halfOf = (index: number): number => Math.max(6, (edges[index] ?? 0) / 2 + 4)
    return labelsFor(spots, (index) => measure(short(index)), { width, height }, new Set(order), halfOf).map(
      (label) => ({
        ...label,
        text: short(label.index),
      }),
    )
  }, [spots, edges, hasLabels, texts, query, nearest, width, height])
  const draw = (context: CanvasRenderingContext2D): void => {
    const palette = paletteOf(theme)
    drawAxes(context, size, palette)
    if (query) drawRays(context, spots, texts.length, nearest, palette)
    drawImages(context, spots, { images, edges, groupOf, palette })
    drawMarks(context, spots, groupOf, palette, edges)
    if (query) drawStar(context, spots[texts.length], palette)
    drawLabels(context, picture, { palette, bold: query ? texts.length : undefined, at })
    drawRing(
      context,
      at === undefined ? undefined : spots[at],
      palette,
      Math.max(9, (edges[at ?? -1] ?? 0) * 0.75),
    )
  }
  const canvas = useCanvas(size, draw, [spots, picture, groupOf, nearest, at, theme, images, edges])
  const surface = useWheel(width > 0, (event, x, y) =>
    setZoom((before) =>
      zoomed(before, WHEEL_STEP ** -event.deltaY, { x, y }, { x: width / 2, y: height / 2 }),
    ),
  )
  const drag = useDrag(zoom, setZoom)
  const byKey = (by: number): void =>
    setZoom((before) =>
      zoomed(before, by, at === undefined ? middle(size) : (spots[at] ?? middle(size)), middle(size)),
    )
  return (
    <ChartFrame
      caption={props.caption}
      points={texts.length}
      describe={props.describe}
      at={at}
      onAt={onAt}
      walk={(arrow, from) => towards(spots.slice(0, texts.length), from, arrow)}
      keys={{ '+': () => byKey(1.5), '-': () => byKey(1 / 1.5), '0': () => setZoom(NO_ZOOM) }}
      table={props.table}
      {...(props.isTable !== undefined && { isTable: props.isTable })}
      {...(props.onTable && { onTable: props.onTable })}
    >
      <div ref={box} />
      <div
        ref={surface}
        className="relative touch-none overflow-hidden rounded-panel bg-sunken"
        style={{ height }}
        onPointerDown={drag.down}
        onPointerUp={drag.up}
        onPointerMove={(event) => {
          drag.move(event)
          const { left, top } = event.currentTarget.getBoundingClientRect()
          const reach = images.length > 0 ? REACH.image : REACH.mark
          onAt(spotAt(spots.slice(0, texts.length), event.clientX - left, event.clientY - top, reach))
        }}
        onPointerLeave={() => onAt(undefined)}
      >
        <canvas ref={canvas} className="block size-full" aria-hidden />
        <span className="absolute top-1.5 right-3 text-11 text-ink-3">
          {words.embeddings.map.axisY(share(shares[1]))}
        </span>
        <span className="absolute bottom-1.5 left-3 text-11 text-ink-3">
          {words.embeddings.map.axisX(share(shares[0]))}
        </span>
        {at !== undefined && props.tip && <MapTip spot={spots[at]} size={size} content={props.tip} />}
      </div>
    </ChartFrame>
  )
}

function middle({ width, height }: { readonly width: number; readonly height: number }): Spot {
  return { x: width / 2, y: height / 2 }
}

const TIP = { width: 256, gap: 12 }

interface MapTipProps {
  readonly spot: Spot | undefined
  readonly size: { readonly width: number; readonly height: number }
  readonly content: React.ReactNode
}

function MapTip({ spot, size, content }: MapTipProps) {
  if (spot === undefined) return null
  const [isRight, isLow] = [spot.x > size.width / 2, spot.y > size.height / 2]
  // On a phone it lies inside of the map, above or below its point.
  const left = Math.min(isRight ? spot.x - TIP.gap - TIP.width : spot.x + TIP.gap, size.width - TIP.width - 4)
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute rounded-control border border-line bg-raised px-2.5 py-2 text-12 text-ink shadow-menu"
      style={{
        left: Math.max(4, left),
        width: TIP.width,
        ...(isLow ? { bottom: size.height - spot.y + TIP.gap } : { top: spot.y + TIP.gap }),
      }}
    >
      {content}
    </div>
  )
}

/** React listens to wheels passively; a map must keep the page from scrolling. */
function useWheel(isShown: boolean, onWheel: (event: WheelEvent, x: number, y: number) => void) {
  const surface = useRef<HTMLDivElement>(null)
  const turn = useEffectEvent(onWheel)
  useEffect(() => {
    const element = surface.current
    if (!isShown) return
    const listener = (event: WheelEvent): void => {
      event.preventDefault()
      const { left, top } = (event.currentTarget as HTMLElement).getBoundingClientRect()
      turn(event, event.clientX - left, event.clientY - top)
    }
    element?.addEventListener('wheel', listener, { passive: false })
    return () => element?.removeEventListener('wheel', listener)
  }, [isShown])
  return surface
}

function useDrag(zoom: Zoom, setZoom: (zoom: Zoom) => void) {
  const start = useRef<{ readonly x: number; readonly y: number; readonly zoom: Zoom }>(undefined)
  return {
    down: (event: PointerEvent) => {
      if (zoom.times > 1) start.current = { x: event.clientX, y: event.clientY, zoom }
    },
    up: () => {
      start.current = undefined
    },
    move: (event: PointerEvent) => {
      const from = start.current
      if (from === undefined || event.buttons === 0) return
      setZoom({
        ...from.zoom,
        x: from.zoom.x + event.clientX - from.x,
        y: from.zoom.y + event.clientY - from.y,
      })
    },
  }
}
